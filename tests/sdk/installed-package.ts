/**
 * The client library as a user installs it: packed by `npm pack` and installed from the tarball into a folder of its own,
 * without a registry.
 */
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { buildWebWhenStale, webFolder } from '../../local/web-build.ts';

const run = promisify(execFile);
const repository = join(import.meta.dirname, '..', '..');

export type InstalledPackage = {
  readonly folder: string;
  /** Of the package itself. */
  readonly path: (...names: readonly string[]) => string;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

// biome-ignore lint/style/noProcessEnv: the programs that a test starts are found as the shell finds them
const searchPath = process.env['PATH'] ?? '';

/** The project's own programs come first, as npm arranges it for a script. */
export const ownPath = [join(repository, 'node_modules', '.bin'), searchPath].join(delimiter);

/** The folder of the archives that a deployment serves: built with the web app, once for all files. */
export const servedClients = async (): Promise<string> => {
  await buildWebWhenStale({ repository, progress: () => undefined });
  return join(webFolder(repository), 'clients');
};

/** From the archive that a deployment serves. Where files run in parallel, only one of them can pack. */
export const unpackPackage = async (): Promise<InstalledPackage> => {
  const installed = await makeFolder();
  await mkdir(installed.path(), { recursive: true });
  const archive = join(await servedClients(), 'sallyport-sdk-0.1.0.tgz');
  await run('tar', ['xzf', archive, '--strip-components=1', '-C', installed.path()]);
  return installed;
};

export const installPackage = async (): Promise<InstalledPackage> => {
  const installed = await makeFolder();
  const { folder } = installed;
  const env = { PATH: ownPath, HOME: folder };
  const pack = ['pack', '--json', '--loglevel', 'error', '--pack-destination', folder];
  await run('npm', pack, { cwd: join(repository, 'sdk'), env });
  const tarball = join(folder, 'sallyport-sdk-0.1.0.tgz');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: folder, env });
  return installed;
};

const makeFolder = async (): Promise<InstalledPackage> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-sdk-'));
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
  return {
    folder,
    path: (...names) => join(folder, 'node_modules', '@sallyport', 'sdk', ...names),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
};

/** The project's Node, and those of the machine that the package supports. */
export const findNodes = async (): Promise<readonly string[]> => {
  const found = [process.execPath];
  for (const folder of searchPath.split(delimiter)) {
    const path = join(folder, 'node');
    if (folder.includes('node_modules') || found.includes(path)) continue;
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (!isThere) continue;
    const { stdout } = await run(path, ['--version']);
    if (Number.parseInt(stdout.slice(1), 10) >= nodeVersionMin) found.push(path);
  }
  return found;
};

const nodeVersionMin = 20;
