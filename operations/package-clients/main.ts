/**
 * The client libraries and the command line client as archives, for `npm install` and `pip install` from the address of a
 * deployment.
 *
 * The argument is the folder that gets them; the web app's files hold it as `clients`.
 */
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRepository } from '../../infra/constructs/repository-path.ts';
import { archiveOf } from './archive.ts';
import { buildCommandLine } from './command-line.ts';
import { buildLibrary } from './library.ts';

const target = process.argv[2];
if (target === undefined) throw new Error('name the folder that gets the archives');

const { version } = JSON.parse(await readFile(inRepository('sdk/package.json'), 'utf8'));

/** In the folder `package`, as npm makes it. */
const packLibrary = async (folder: string): Promise<void> => {
  await buildLibrary(join(folder, 'dist'));
  await copyFile(inRepository('sdk/package.json'), join(folder, 'package.json'));
  await put(`sallyport-sdk-${version}.tgz`, await archiveOf(folder, 'package'));
};

const packCommandLine = async (folder: string): Promise<void> => {
  await buildCommandLine(folder);
  await put(`sallyport-cli-${version}.tgz`, await archiveOf(folder, 'package'));
};

/** Its sources: pip makes the package of them. */
const packPython = async (folder: string): Promise<void> => {
  const from = inRepository('sdk/python');
  const isSource = (path: string): boolean => !/__pycache__|\.egg-info/.test(path);
  await cp(join(from, 'src'), join(folder, 'src'), { recursive: true, filter: isSource });
  await copyFile(join(from, 'pyproject.toml'), join(folder, 'pyproject.toml'));
  await copyFile(inRepository('LICENSE'), join(folder, 'LICENSE'));
  await put(`sallyport-${version}.tar.gz`, await archiveOf(folder, `sallyport-${version}`));
};

const put = (name: string, bytes: Buffer): Promise<void> => writeFile(join(target, name), bytes);

await mkdir(target, { recursive: true });
const work = await mkdtemp(join(tmpdir(), 'sallyport-clients-'));
try {
  for (const [name, pack] of Object.entries({ packLibrary, packCommandLine, packPython })) {
    const folder = join(work, name);
    await mkdir(folder);
    await pack(folder);
  }
} finally {
  await rm(work, { recursive: true, force: true });
}
