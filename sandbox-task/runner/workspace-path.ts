/**
 * The workspace path: a name somebody gave, as the real place inside the workspace, or a refusal.
 *
 * Links are followed here and the result is compared with the workspace's own real path, so `..`, an
 * absolute path and a link all meet the same check. A race with user code that swaps a folder for a link
 * gains nothing: the runner holds no right that user code lacks.
 * Guarantee W8 of docs/spec/sandbox.md.
 */
import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { FileRefusal } from './file-refusal.ts';

/** The bound of the kernel (path_resolution(7)). */
const linksMax = 40;

export const resolveInWorkspace = async (workspace: string, path: string): Promise<string> => {
  if (path.includes('\0')) throw new FileRefusal('invalid_request', 'a path has no NUL character');
  const wanted = resolve(workspace, path);
  const root = await realpath(workspace);
  // A path that already leaves by its letters is refused without a look at the disk.
  if (!isInside(workspace, wanted) && !isInside(root, wanted)) throw outside(path);
  const real = await realPlace(wanted, linksMax);
  if (!isInside(root, real)) throw outside(path);
  return real;
};

export const isInside = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

/** `realpath` for a path whose end does not exist yet; a link that points to nothing is followed too. */
const realPlace = async (path: string, linksLeft: number): Promise<string> => {
  if (linksLeft === 0) throw new FileRefusal('invalid_request', `too many symbolic links at ${path}`);
  try {
    return await realpath(path);
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
  }
  const parent = await realPlace(dirname(path), linksLeft);
  const place = join(parent, basename(path));
  const target = await linkTarget(place);
  return target === undefined ? place : realPlace(resolve(parent, target), linksLeft - 1);
};

const linkTarget = async (path: string): Promise<string | undefined> => {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw cause;
  }
};

const isMissing = (cause: unknown): boolean => (cause as NodeJS.ErrnoException).code === 'ENOENT';

const outside = (path: string): FileRefusal =>
  new FileRefusal('path_outside_workspace', `${JSON.stringify(path)} is outside the workspace`);
