/**
 * Reading, writing and listing files, with the rights of user code.
 *
 * Only regular files are read: opening a FIFO would wait for a writer and a device has no end. A read is
 * one bounded piece; the server asks for the next one when the last has been sent on.
 */
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileEntry, FileKind } from '../wire/messages.ts';
import { FileRefusal } from './file-refusal.ts';
import { isPartial } from './partial-name.ts';
import { type Roots, resolveInWorkspace } from './workspace-path.ts';

export const listedEntriesMax = 10_000;

export type ReadRange = { readonly offset: number; readonly bytesMax: number };
export type FileChunk = { readonly bytes: Buffer; readonly size: number; readonly modifiedAt: string };

export const readChunk = async (roots: Roots, path: string, range: ReadRange): Promise<FileChunk> => {
  const place = await resolveInWorkspace(roots, path);
  await using file = await open(place, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  const stat = await file.stat();
  if (!stat.isFile()) throw new FileRefusal('invalid_request', `${path} is not a file`);
  const left = Math.max(0, Math.min(range.bytesMax, stat.size - range.offset));
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(left), 0, left, range.offset);
  return { bytes: buffer.subarray(0, bytesRead), size: stat.size, modifiedAt: stat.mtime.toISOString() };
};

export type Written = { readonly isNew: boolean; readonly size: number };

/** A file that is there keeps its mode and its other names. */
export const writeWhole = async (roots: Roots, path: string, content: Buffer): Promise<Written> => {
  const place = await resolveInWorkspace(roots, path);
  await mkdir(dirname(place), { recursive: true });
  const isNew = (await lstat(place).catch(() => undefined)) === undefined;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
  await using file = await open(place, flags | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  await file.writeFile(content);
  return { isNew, size: content.length };
};

export const listFolder = async (roots: Roots, path: string): Promise<readonly FileEntry[]> => {
  const place = await resolveInWorkspace(roots, path);
  const names = (await readdir(place))
    .filter((name) => !isPartial(name))
    .sort()
    .slice(0, listedEntriesMax);
  const entries = await Promise.all(names.map((name) => describe(place, name)));
  return entries.filter((entry) => entry !== undefined);
};

/** An entry that vanished since it was read is left out; sockets, FIFOs and devices are listed as files. */
const describe = async (folder: string, name: string): Promise<FileEntry | undefined> => {
  const stat = await lstat(join(folder, name)).catch(() => undefined);
  if (stat === undefined) return undefined;
  const type: FileKind = stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'symlink' : 'file';
  return { name, type, size: stat.size, modifiedAt: stat.mtime.toISOString() };
};
