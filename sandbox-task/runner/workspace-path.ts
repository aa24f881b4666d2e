/**
 * Workspace paths: a given name as the real path inside the workspace or the shared folder, or a refusal; partials, files
 * that are not whole yet; and the walk over every entry.
 *
 * Links are resolved here and the result is compared with the real paths of the folders, so `..`, an absolute path and
 * a link all meet the same check. A race with user code that swaps a folder for a link gains nothing: the runner holds no
 * right that user code lacks. A partial lies in the file system of its file, because a rename is atomic only within one;
 * listings and checkpoints skip such names, also when user code chooses one. Guarantee W8 of docs/spec/sandbox.md.
 */

import { isUtf8 } from 'node:buffer';
import { createHash, randomUUID } from 'node:crypto';
import { type BigIntStats, lstatSync, opendirSync } from 'node:fs';
import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { FileFailure } from '../wire/messages.ts';

/** The bound of the kernel (path_resolution(7)). */
const linksMax = 40;

/** The folders whose files may be named; a relative path starts at the workspace. */
export type Roots = { readonly workspace: string; readonly sharedPath?: string | undefined };

export const resolveInWorkspace = async (roots: Roots, path: string): Promise<string> => {
  if (path.includes('\0')) throw new FileRefusal('invalid_request', 'a path has no NUL character');
  const requested = resolve(roots.workspace, path);
  const named = rootFolders(roots);
  const allowed = await Promise.all(named.map((folder) => realpath(folder)));
  const isBelow = (folders: readonly string[], checked: string): boolean =>
    folders.some((folder) => isInside(folder, checked));
  // A path that leaves by its text is refused before the file system is read.
  if (!isBelow([...named, ...allowed], requested)) throw outside(path);
  const real = await realPathOf(requested, linksMax);
  if (!isBelow(allowed, real)) throw outside(path);
  return real;
};

/** The path of a name that is removed, and so not followed itself; never one of the roots. */
export const resolveName = async (roots: Roots, path: string): Promise<string> => {
  const requested = resolve(roots.workspace, path);
  if (rootFolders(roots).includes(requested)) {
    throw new FileRefusal('invalid_request', `${JSON.stringify(path)} is the workspace itself`);
  }
  return join(await resolveInWorkspace(roots, dirname(requested)), basename(requested));
};

/** The real root that a resolved path is below: the nearest, where one is inside of the other. */
export const rootOf = async (roots: Roots, real: string): Promise<string> => {
  const folders = await Promise.all(rootFolders(roots).map((folder) => realpath(folder)));
  const [nearest = roots.workspace] = folders
    .filter((folder) => isInside(folder, real))
    .toSorted((one, other) => other.length - one.length);
  return nearest;
};

const rootFolders = ({ workspace, sharedPath }: Roots): readonly string[] =>
  sharedPath === undefined ? [workspace] : [workspace, sharedPath];

export const isInside = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

/** `realpath` for a path whose end does not exist yet; a link that points to nothing is followed too. */
const realPathOf = async (path: string, linksLeft: number): Promise<string> => {
  if (linksLeft === 0) throw new FileRefusal('invalid_request', `too many symbolic links at ${path}`);
  try {
    return await realpath(path);
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
  }
  const parent = await realPathOf(dirname(path), linksLeft);
  const real = join(parent, basename(path));
  const target = await linkTarget(real);
  return target === undefined ? real : realPathOf(resolve(parent, target), linksLeft - 1);
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

export const partialPrefix = '.sallyport-partial-';

export const isPartial = (name: string): boolean => name.startsWith(partialPrefix);

/**
 * A hash of the name, because a name may already be as long as one can be, and of its use: two writers of one name, each with a
 * partial of its own, are never in each other's way.
 */
export const partialOf = (real: string, use = ''): string => {
  const hash = createHash('sha256')
    .update(`${basename(real)}/${use}`)
    .digest('hex');
  return join(dirname(real), `${partialPrefix}${hash.slice(0, 32)}`);
};

export const freshPartialOf = (real: string): string => partialOf(real, randomUUID());

export class FileRefusal extends Error {
  override readonly name = 'FileRefusal';
  readonly failure: FileFailure;

  constructor(failure: FileFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}

const notFound = new Set(['ENOENT', 'ENOTDIR']);

/** The message of the file system without its paths: `EACCES: permission denied`. */
export const toFileRefusal = (cause: unknown, path: string): FileRefusal => {
  if (cause instanceof FileRefusal) return cause;
  const { code = 'EIO', message } = cause as NodeJS.ErrnoException;
  if (notFound.has(code)) return new FileRefusal('file_not_found', `no such file: ${path}`, { cause });
  if (code === 'EISDIR') return new FileRefusal('invalid_request', `${path} is a folder`, { cause });
  return new FileRefusal('invalid_request', `${path}: ${message.split(',')[0]}`, { cause });
};

export type Walked =
  | { readonly path: string; readonly stat: BigIntStats }
  | { readonly path: string; readonly reason: string };

/** Folders precede their content. */
export function* walkWorkspace(root: string): Generator<Walked> {
  const pending = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of walkFolder(root, folder)) {
      yield entry;
      if ('stat' in entry && entry.stat.isDirectory()) pending.push(entry.path);
    }
  }
}

function* walkFolder(root: string, folder: string): Generator<Walked> {
  try {
    using names = opendirSync(join(root, folder), { encoding: 'latin1', bufferSize: 256 });
    for (let name = names.readSync(); name !== null; name = names.readSync()) {
      const walked = isPartial(name.name)
        ? undefined
        : describe(root, folder, Buffer.from(name.name, 'latin1'));
      if (walked !== undefined) yield walked;
    }
  } catch (cause) {
    if (isEnded(cause)) return;
    yield { path: folder, reason: `its content cannot be read: ${codeOf(cause)}` };
  }
}

const describe = (root: string, folder: string, name: Buffer): Walked | undefined => {
  const path = folder === '' ? name.toString() : `${folder}/${name.toString()}`;
  if (!isUtf8(name)) return { path, reason: 'its name is not valid UTF-8' };
  if (Buffer.byteLength(path) > pathBytesMax) return { path, reason: 'its path is too long' };
  try {
    return { path, stat: lstatSync(join(root, path), { bigint: true }) };
  } catch (cause) {
    return isEnded(cause) ? undefined : { path, reason: codeOf(cause) };
  }
};

/** Less than the kernel's PATH_MAX with the root in front; what is deeper cannot be opened by its path anyway. */
const pathBytesMax = 4000;

const isEnded = (cause: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(cause));
export const codeOf = (cause: unknown): string => (cause as NodeJS.ErrnoException).code ?? 'EIO';
