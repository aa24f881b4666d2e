/**
 * The workspace path: a name somebody gave, as the real place inside the workspace or the shared folder,
 * or a refusal.
 *
 * Links are followed here and the result is compared with the folders' own real paths, so `..`, an
 * absolute path and a link all meet the same check. A race with user code that swaps a folder for a link
 * gains nothing: the runner holds no right that user code lacks.
 * Guarantee W8 of docs/spec/sandbox.md.
 */
import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { FileRefusal } from './file-refusal.ts';

/** The bound of the kernel (path_resolution(7)). */
const linksMax = 40;

/** Where files may be named; a relative path starts at the workspace. */
export type Roots = { readonly workspace: string; readonly sharedPath?: string | undefined };

export const resolveInWorkspace = async (roots: Roots, path: string): Promise<string> => {
  if (path.includes('\0')) throw new FileRefusal('invalid_request', 'a path has no NUL character');
  const wanted = resolve(roots.workspace, path);
  const named = rootFolders(roots);
  const real = await Promise.all(named.map((folder) => realpath(folder)));
  const isAllowed = (folders: readonly string[], place: string): boolean =>
    folders.some((folder) => isInside(folder, place));
  // A path that already leaves by its letters is refused without a look at the disk.
  if (!isAllowed([...named, ...real], wanted)) throw outside(path);
  const place = await realPlace(wanted, linksMax);
  if (!isAllowed(real, place)) throw outside(path);
  return place;
};

/** The place of a name that is not itself followed, because it is to be removed; never one of the roots. */
export const resolveName = async (roots: Roots, path: string): Promise<string> => {
  const wanted = resolve(roots.workspace, path);
  if (rootFolders(roots).includes(wanted)) {
    throw new FileRefusal('invalid_request', `${JSON.stringify(path)} is the workspace itself`);
  }
  return join(await resolveInWorkspace(roots, dirname(wanted)), basename(wanted));
};

const rootFolders = ({ workspace, sharedPath }: Roots): readonly string[] =>
  sharedPath === undefined ? [workspace] : [workspace, sharedPath];

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
