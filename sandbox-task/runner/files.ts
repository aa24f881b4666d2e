/**
 * File operations with the rights of user code: reading, writing whole or in parts, listing.
 *
 * Only regular files are read: opening a FIFO would wait for a writer, and a device has no end. A read is one bounded piece.
 * Parts of an upload are appended to a hidden partial (upload-partials.ts), and the last one gives it its name; until then the old file
 * stays.
 * The length of the partial says how much has arrived; a part that does not start there is refused with the expected byte,
 * unless it is the last one that arrived: its sender does not know that. The server remembers the part that ended an upload.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { lstat, mkdir, open, opendir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { UploadPart } from '../wire/file-messages.ts';
import type { FileEntry, FileKind, FileState } from '../wire/messages.ts';
import { filePartialOf, makeRoomForUpload } from './upload-partials.ts';
import { codeOf, FileRefusal, isPartial, type Roots, resolveInWorkspace } from './workspace-path.ts';

const listedEntriesMax = 10_000;

type ReadRange = { readonly offset: number; readonly bytesMax: number };
type FileChunk = FileState & { readonly bytes: Buffer; readonly modifiedAt: string };

export const readChunk = async (roots: Roots, path: string, range: ReadRange): Promise<FileChunk> => {
  const target = await resolveInWorkspace(roots, path);
  await using file = await open(target, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  const stat = await file.stat({ bigint: true });
  if (!stat.isFile()) throw new FileRefusal('invalid_request', `${path} is not a file`);
  const left = Math.max(0, Math.min(range.bytesMax, Number(stat.size) - range.offset));
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(left), 0, left, range.offset);
  // A write during this read shows: in the first piece by the time of the next one, in any other by its own.
  const state = range.offset === 0 ? stat : await file.stat({ bigint: true });
  return {
    bytes: buffer.subarray(0, bytesRead),
    modifiedAt: state.mtime.toISOString(),
    file: `${state.dev}:${state.ino}`,
    size: Number(state.size),
    writtenAt: String(state.mtimeNs),
  };
};

type Written = { readonly isNew: boolean; readonly size: number };

/**
 * A file that is there keeps its mode and its other names. From its opening nothing is awaited: two writers come one after
 * another.
 */
export const writeWhole = async (roots: Roots, path: string, content: Buffer): Promise<Written> => {
  const target = await resolveInWorkspace(roots, path);
  await mkdir(dirname(target), { recursive: true });
  const isNew = lstatSync(target, { throwIfNoEntry: false }) === undefined;
  const descriptor = openSync(
    target,
    constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK | constants.O_NOFOLLOW,
  );
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw new FileRefusal('invalid_request', `${path} is not a file`);
    replaceContent(descriptor, content, stat.size);
  } catch (cause) {
    if (isNew) unlinkSync(target);
    throw cause;
  } finally {
    closeSync(descriptor);
  }
  return { isNew, size: content.length };
};

/** Bytes that need room on the disk come first: without it the old content stays. */
const replaceContent = (descriptor: number, content: Buffer, oldBytes: number): void => {
  try {
    writeAt(descriptor, content.subarray(oldBytes), oldBytes);
  } catch (cause) {
    ftruncateSync(descriptor, oldBytes);
    throw cause;
  }
  writeAt(descriptor, content.subarray(0, oldBytes), 0);
  ftruncateSync(descriptor, content.length);
};

const writeAt = (descriptor: number, content: Buffer, start: number): void => {
  for (let done = 0; done < content.length; ) {
    done += writeSync(descriptor, content, done, content.length - done, start + done);
  }
};

/** The first names of a folder, and whether it has more. */
export type FolderList = { readonly entries: readonly FileEntry[]; readonly isCut: boolean };

export const listFolder = async (roots: Roots, path: string): Promise<FolderList> => {
  const target = await resolveInWorkspace(roots, path);
  const { names, isCut } = await firstNames(target, path, listedEntriesMax);
  const entries = await Promise.all(names.map((name) => describeEntry(target, name)));
  return { entries: entries.filter((entry) => entry !== undefined), isCut };
};

type FirstNames = { readonly names: readonly string[]; readonly isCut: boolean };

/**
 * The first names, in order, in a folder that was resolved, which may have more than the runner has memory for: what is there and
 * has no names is another kind of entry.
 */
export const firstNames = async (folder: string, path: string, namesMax: number): Promise<FirstNames> => {
  let names: string[] = [];
  let isCut = false;
  const keepFirst = (): void => {
    isCut ||= names.length > namesMax;
    names = names.sort().slice(0, namesMax);
  };
  try {
    for await (const { name } of await opendir(folder, { bufferSize: 256 })) {
      if (isPartial(name)) continue;
      names.push(name);
      if (names.length >= 2 * namesMax) keepFirst();
    }
  } catch (cause) {
    if (codeOf(cause) !== 'ENOTDIR') throw cause;
    throw new FileRefusal('invalid_request', `${path} is not a folder`, { cause });
  }
  keepFirst();
  return { names, isCut };
};

/** One entry; a link is followed, as by reading. */
export const statEntry = async (roots: Roots, path: string): Promise<FileEntry> => {
  const target = await resolveInWorkspace(roots, path);
  await lstat(target);
  const entry = await describeEntry(dirname(target), basename(target));
  if (entry === undefined) throw new FileRefusal('file_not_found', `no such file: ${path}`);
  return entry;
};

/** An entry that vanished since it was read is left out; sockets, FIFOs and devices are listed as files. */
export const describeEntry = async (folder: string, name: string): Promise<FileEntry | undefined> => {
  // As a `bigint` a time is cut to whole milliseconds, as by reading; otherwise Node rounds it.
  const stat = await lstat(join(folder, name), { bigint: true }).catch(() => undefined);
  if (stat === undefined) return undefined;
  const type: FileKind = stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'symlink' : 'file';
  return { name, type, size: Number(stat.size), modifiedAt: stat.mtime.toISOString() };
};

type PartOutcome = { readonly received: number } | Written;

/** From the check of the length to the rename nothing is awaited: two parts at once come one after another. */
export const writePart = async (roots: Roots, part: UploadPart, content: Buffer): Promise<PartOutcome> => {
  const target = await resolveInWorkspace(roots, part.path);
  const partial = await filePartialOf(roots, target, part);
  await mkdir(dirname(target), { recursive: true });
  const old = lstatSync(target, { throwIfNoEntry: false });
  if (old !== undefined && !old.isFile()) {
    throw new FileRefusal('invalid_request', `${part.path} is not a file`);
  }
  const received = appendPart(partial, part, content);
  if (received < part.total) return { received };
  if (old !== undefined) chmodFile(partial, old.mode & 0o777);
  renameSync(partial, target);
  return { isNew: old === undefined, size: received };
};

/** The bytes that have arrived. */
export const appendPart = (
  partial: string,
  { start, total, upload }: UploadPart,
  content: Buffer,
): number => {
  if (start === 0 && upload !== undefined) makeRoomForUpload(partial, total);
  const descriptor = openPartial(partial, start === 0);
  try {
    const { size } = fstatSync(descriptor);
    if (endsWith(descriptor, size, { start, content })) return size;
    if (size !== start) throw expected(size);
    writeAt(descriptor, content, start);
    return start + content.length;
  } finally {
    closeSync(descriptor);
  }
};

type Placed = { readonly start: number; readonly content: Buffer };

/** True when a file of this size has the content there, at its end. */
const endsWith = (descriptor: number, size: number, { start, content }: Placed): boolean => {
  if (start === 0 || size !== start + content.length) return false;
  const there = Buffer.allocUnsafe(content.length);
  const read = readSync(descriptor, there, 0, there.length, start);
  return read === content.length && there.equals(content);
};

/** The partial, to read and to write; refused when an upload that has begun is not here. */
export const openPartial = (partial: string, isFirst: boolean): number => {
  const fresh = isFirst ? constants.O_CREAT | constants.O_TRUNC : 0;
  try {
    return openSync(partial, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK | fresh);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') throw expected(0);
    throw cause;
  }
};

const chmodFile = (target: string, mode: number): void => {
  const descriptor = openSync(target, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    fchmodSync(descriptor, mode);
  } finally {
    closeSync(descriptor);
  }
};

const expected = (offset: number): FileRefusal =>
  new FileRefusal('conflict', `the next part must start at byte ${offset}`);
