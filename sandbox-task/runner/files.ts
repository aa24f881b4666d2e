/**
 * File operations with the rights of user code: reading, writing whole, listing. Writing in parts is in upload-parts.ts.
 *
 * Only regular files are read: opening a FIFO would wait for a writer, and a device has no end. A read is one bounded piece.
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { lstat, mkdir, open, opendir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FileEntry, FileKind, FileState } from '../wire/messages.ts';
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

export type Written = { readonly isNew: boolean; readonly size: number };

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

export const writeAt = (descriptor: number, content: Buffer, start: number): void => {
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
