/**
 * Changes of folders and names: making a folder, moving, and copying with everything below.
 *
 * An entry is replaced only on demand, and only a file by a file: a folder is never merged into another. A copy gets
 * its name when it is whole; until then it is a partial, which listings and checkpoints skip. A link below a folder is
 * copied as a link; the copied name itself is followed, as by reading.
 */
import { constants, type Stats } from 'node:fs';
import { chmod, type FileHandle, lstat, mkdir, open, readlink, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { workspaceBytesMax, workspaceEntriesMax } from '#shared/domain/checkpoint.ts';
import type { WrittenTree } from '../wire/file-messages.ts';
import {
  FileRefusal,
  freshPartialOf,
  isInside,
  type Roots,
  resolveInWorkspace,
  resolveName,
  walkWorkspace,
} from './workspace-path.ts';

/** True when it was not there. */
export const makeFolder = async (roots: Roots, path: string): Promise<boolean> => {
  const target = await resolveInWorkspace(roots, path);
  const old = await statOf(target);
  if (old === undefined) await mkdir(target, { recursive: true });
  else if (!old.isDirectory()) throw new FileRefusal('conflict', `${path} is there, and is not a folder`);
  return old === undefined;
};

export type Relocation = { readonly path: string; readonly to: string; readonly overwrites: boolean };

/** Answers whether the new name was free. A link is moved, never its target. */
export const movePath = async (roots: Roots, relocation: Relocation): Promise<boolean> => {
  const source = await resolveName(roots, relocation.path);
  const target = await resolveName(roots, relocation.to);
  const stat = await lstat(source);
  refuseInside(source, target, `${relocation.path} cannot be moved into itself`);
  const isFree = await requireFree(relocation, target, stat);
  await mkdir(dirname(target), { recursive: true });
  await renameFree(source, target, relocation);
  return isFree;
};

export async function* copySteps(roots: Roots, relocation: Relocation): AsyncGenerator<Buffer, Buffer> {
  const source = await resolveInWorkspace(roots, relocation.path);
  const target = await resolveName(roots, relocation.to);
  const stat = await lstat(source);
  refuseInside(source, target, `${relocation.path} cannot be copied into itself`);
  if (!stat.isDirectory() && !stat.isFile())
    throw new FileRefusal('invalid_request', `${relocation.path} is neither a file nor a folder`);
  const isNew = await requireFree(relocation, target, stat);
  await mkdir(dirname(target), { recursive: true });
  const partial = freshPartialOf(target);
  const written = { files: 0, bytes: 0 };
  try {
    if (stat.isDirectory()) yield* copyFolder(source, partial, written);
    else yield* copyFile(source, partial, written);
    // It may have been taken since.
    await requireFree(relocation, target, stat);
    await renameFree(partial, target, relocation);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return Buffer.from(JSON.stringify({ isNew, ...written } satisfies WrittenTree));
}

const renameFree = (source: string, target: string, relocation: Relocation): Promise<void> =>
  rename(source, target).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOTEMPTY' || cause.code === 'EEXIST') throw isTaken(relocation);
    if (cause.code !== 'EXDEV') throw cause;
    throw new FileRefusal('invalid_request', 'nothing is moved between two volumes: copy it, then remove it');
  });

const statOf = (path: string): Promise<Stats | undefined> =>
  lstat(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw cause;
  });

const refuseInside = (source: string, target: string, message: string): void => {
  if (isInside(source, target)) throw new FileRefusal('invalid_request', message);
};

const requireFree = async (
  { to, overwrites }: Relocation,
  target: string,
  source: Stats,
): Promise<boolean> => {
  const old = await statOf(target);
  if (old === undefined) return true;
  if (old.isDirectory() || source.isDirectory()) throw isTaken({ to });
  if (!overwrites) throw new FileRefusal('conflict', `${to} is there already: overwrite=1 replaces it`);
  return false;
};

const isTaken = ({ to }: Pick<Relocation, 'to'>): FileRefusal =>
  new FileRefusal('conflict', `${to} is there already: remove it first`);

type Counted = { files: number; bytes: number };
const nothing = Buffer.alloc(0);

async function* copyFolder(source: string, target: string, written: Counted): AsyncGenerator<Buffer> {
  const modes: [string, number][] = [];
  await mkdir(target, { mode: 0o700 });
  let entries = 0;
  for (const entry of walkWorkspace(source)) {
    if (!('stat' in entry)) throw new FileRefusal('invalid_request', `${entry.path}: ${entry.reason}`);
    entries += 1;
    if (entries > workspaceEntriesMax) throw tooMuch(`more than ${workspaceEntriesMax} entries`);
    if (entries % entriesPerStep === 0) yield nothing;
    const [from, into] = [join(source, entry.path), join(target, entry.path)];
    if (entry.stat.isDirectory()) {
      await mkdir(into, { mode: 0o700 });
      modes.push([into, Number(entry.stat.mode) & 0o777]);
      yield nothing;
    } else if (entry.stat.isSymbolicLink()) await symlink(await readlink(from), into);
    // Sockets, FIFOs and devices have no content to copy.
    else if (entry.stat.isFile()) yield* copyFile(from, into, written);
  }
  for (const [folder, mode] of modes.reverse()) await chmod(folder, mode);
  await chmod(target, (await lstat(source)).mode & 0o777);
}

const chunkBytes = 1_048_576;
/** So that a piece of work stays short on a slow disk, also for many small files and for large ones. */
const entriesPerStep = 256;
const bytesPerStep = 64 * chunkBytes;

async function* copyFile(source: string, target: string, written: Counted): AsyncGenerator<Buffer> {
  await using from = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stat = await from.stat();
  if (!stat.isFile()) throw new FileRefusal('conflict', 'a file changed while it was copied');
  const fresh = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  await using into = await open(target, fresh, 0o600);
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let stepBytes = 0;
  for (;;) {
    const { bytesRead } = await from.read(chunk, 0, chunkBytes);
    if (bytesRead === 0) break;
    written.bytes += bytesRead;
    if (written.bytes > workspaceBytesMax) throw tooMuch(`more than ${workspaceBytesMax} bytes`);
    await writeAll(into, chunk.subarray(0, bytesRead));
    stepBytes += bytesRead;
    if (stepBytes < bytesPerStep) continue;
    stepBytes = 0;
    yield nothing;
  }
  await into.chmod(stat.mode & 0o777);
  written.files += 1;
}

const writeAll = async (file: FileHandle, bytes: Buffer): Promise<void> => {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done)).bytesWritten;
  }
};

const tooMuch = (what: string): FileRefusal =>
  new FileRefusal('resource_limit_exceeded', `a workspace has room for no copy of ${what}`);
