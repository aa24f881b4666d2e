/**
 * Builds the web app, and the archives of the clients beside it, when they were never built or their sources are newer, so
 * that one command is enough after a clone.
 *
 * The build is written beside the old one and moved over it file by file, the page last: a browser that loads it during
 * the move gets the old or the new one complete, even when two programs build at once. A failed build stops the start.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

type WebBuildOptions = {
  readonly repository: string;
  readonly progress: (line: string) => void;
};

const packClients = 'operations/package-clients';
/** Of `shared`, what clients may import. */
const sourcesOutside = [
  ...['sdk', 'cli', packClients],
  ...['shared/contracts', 'shared/domain', 'shared/errors.ts'],
  ...['package.json', 'package-lock.json', 'LICENSE'],
];
const ignoredFolders = new Set(['dist', 'node_modules']);
const page = 'index.html';

export const webFolder = (repository: string): string => join(repository, 'web', 'dist');

export const buildWebWhenStale = async ({ repository, progress }: WebBuildOptions): Promise<void> => {
  if (!(await isStale(repository))) return;
  progress('Building the web app');
  await buildWeb(repository);
};

const isStale = async (repository: string): Promise<boolean> => {
  const built = await stat(join(webFolder(repository), page)).catch(() => undefined);
  if (built === undefined) return true;
  const sources = ['web', ...sourcesOutside].map((path) => newestMs(join(repository, path)));
  return Math.max(...(await Promise.all(sources))) > built.mtimeMs;
};

const newestMs = async (path: string): Promise<number> => {
  const { mtimeMs, isFolder } = await stat(path).then(
    (entry) => ({ mtimeMs: entry.mtimeMs, isFolder: entry.isDirectory() }),
    () => ({ mtimeMs: 0, isFolder: false }),
  );
  if (!isFolder) return mtimeMs;
  const names = (await readdir(path)).filter(
    (name) => !ignoredFolders.has(name) && !name.endsWith('.test.ts'),
  );
  return Math.max(0, ...(await Promise.all(names.map((name) => newestMs(join(path, name))))));
};

const buildWeb = async (repository: string): Promise<void> => {
  const target = webFolder(repository);
  await mkdir(target, { recursive: true });
  const fresh = await mkdtemp(join(repository, 'node_modules', '.web-build-'));
  try {
    const [app, clients] = [join(fresh, 'app'), join(fresh, 'clients')];
    await Promise.all([
      runVite(repository, app),
      runNode(repository, [join(repository, packClients, 'main.ts'), clients]),
    ]);
    await rename(clients, join(app, 'clients'));
    await replaceFolder(app, target);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
};

const runVite = (repository: string, outDir: string): Promise<void> => {
  const vite = join(repository, 'node_modules', 'vite', 'bin', 'vite.js');
  const config = join(repository, 'web', 'vite.config.ts');
  return runNode(repository, [vite, 'build', '--config', config, '--outDir', outDir, '--logLevel', 'warn']);
};

const runNode = (repository: string, parameters: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, parameters, {
      cwd: repository,
      // With another value the view library would include its development checks.
      env: { NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const printed: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => printed.push(text));
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`Building the web app failed: ${printed.join('').trim()}`)),
    );
  });

const replaceFolder = async (from: string, to: string): Promise<void> => {
  const fresh = await filesBelow(from);
  const pageLast = fresh.toSorted((a, b) => Number(a === page) - Number(b === page));
  for (const path of pageLast) {
    await mkdir(dirname(join(to, path)), { recursive: true });
    await rename(join(from, path), join(to, path));
  }
  const old = (await filesBelow(to)).filter((path) => !fresh.includes(path));
  await Promise.all(old.map((path) => rm(join(to, path), { force: true })));
};

/** Relative to the folder. */
export const filesBelow = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
};
