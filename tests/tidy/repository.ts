/**
 * The repository as its checks read it: the path and text of every file that git tracks or would.
 *
 * Ignored files are no part of it, nor are fixtures, which are wrong on purpose. A binary file has a name and no text.
 * Any folder can be read as if it were the repository: the checks are tried on fixtures that way.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type RepositoryFile = { readonly path: string; readonly text: string };

export const repositoryFolder = fileURLToPath(new URL('../..', import.meta.url));
export const brokenRepositoryFolder = fileURLToPath(new URL('./fixtures/broken-repository', import.meta.url));

/** A clone may belong to another user than the one who runs the tests; listing its files is harmless. */
const listFiles = ['-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];

export const readRepository = (folder: string): readonly RepositoryFile[] =>
  execFileSync('git', listFiles, { cwd: folder, encoding: 'utf8' })
    .split('\0')
    .filter((path) => path !== '' && !path.split('/').includes('fixtures'))
    .filter((path) => statSync(join(folder, path), { throwIfNoEntry: false })?.isFile())
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }))
    .map(({ path, text }) => ({ path, text: text.includes('\0') ? '' : text }));

const programFolders = /^(?:cli|functions|infra|local|operations|sandbox-task|sdk|shared|tests|web)\//;

/** Our programs and their tests; the settings of tools at the root are not among them. */
export const isSource = ({ path }: RepositoryFile): boolean =>
  programFolders.test(path) && /\.(?:ts|js)$/.test(path);

export const isTest = ({ path }: RepositoryFile): boolean =>
  path.startsWith('tests/') || /\.test\.[jt]s$/.test(path);

export const textOf = (files: readonly RepositoryFile[], path: string): string =>
  files.find((file) => file.path === path)?.text ?? '';
