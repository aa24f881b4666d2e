/**
 * Receives a checkpoint of a shared volume: what changed is stored as it comes, each file as an object of its own.
 *
 * The sandbox is not trusted: an archive out of order is refused, the bounds hold here too, and hashes and lengths are
 * computed here. A small file is held and written at its end, a large one is uploaded as it comes. A sandbox that
 * does not know the stored state sends everything: an entry is then written only if it is not there, or is newer.
 */
import { createHash, type Hash } from 'node:crypto';
import type { SharedBucket } from '#shared/adapters/aws/shared-bucket.ts';
import type { Upload } from '#shared/adapters/aws/workspace-upload.ts';
import type { ArchiveFrame, ArchiveHeader } from '#shared/contracts/archive.ts';
import {
  isPlainPath,
  type LeftOut,
  sharedEntriesMax,
  wholeFileBytesMax,
  workspaceBytesMax,
} from '#shared/domain/checkpoint.ts';
import { AppError } from '#shared/errors.ts';
import { type BoundedWork, openBoundedWork } from './bounded-work.ts';
import { entryOf, keyOf, type SharedEntry, wordsOf } from './shared-object.ts';

export type ReceivedShared = {
  readonly files: number;
  readonly bytes: number;
  /** Keys of removed entries. */
  readonly removed: readonly string[];
  readonly leftOut: readonly LeftOut[];
  /** False when the archive named nothing. */
  readonly hasChanges: boolean;
};

type FileHeader = Extract<ArchiveHeader, { type: 'file' }>;
type FileEnd = Extract<ArchiveHeader, { type: 'file-end' }>;
type OpenFile = {
  readonly header: FileHeader;
  readonly hash: Hash;
  size: number;
  /** All of a small file. */
  readonly chunks: Uint8Array[];
  /** Of a large file; absent when it is not to be written. */
  readonly upload?: Upload;
};
type Receipt = {
  readonly bucket: SharedBucket;
  readonly prefix: string;
  readonly writes: BoundedWork;
  readonly paths: Set<string>;
  readonly removed: string[];
  readonly leftOut: LeftOut[];
  phase: 'before' | 'within' | 'after';
  isFull: boolean;
  file: OpenFile | undefined;
  files: number;
  bytes: number;
  writtenBytes: number;
};

/** Objects that are written concurrently; each holds at most `wholeFileBytesMax` in memory. */
const concurrentWritesMax = 8;
/** Changed entries, and as many removed ones. */
const namedMax = 2 * sharedEntriesMax;
const changedWhileRead = 'it changed while it was read';

/** Throws an `AppError` when the archive is refused, any other error when it broke off; written objects stay. */
export const receiveShared = async (
  frames: AsyncIterable<ArchiveFrame>,
  { bucket, prefix }: { readonly bucket: SharedBucket; readonly prefix: string },
): Promise<ReceivedShared> => {
  const receipt: Receipt = {
    ...{ bucket, prefix, writes: openBoundedWork(concurrentWritesMax) },
    ...{ paths: new Set<string>(), removed: [], leftOut: [], phase: 'before', isFull: true },
    ...{ file: undefined, files: 0, bytes: 0, writtenBytes: 0 },
  };
  try {
    for await (const frame of frames) await receiveFrame(receipt, frame);
    if (receipt.phase !== 'after') throw new Error('the archive ends without its end');
    await receipt.writes.end();
  } catch (cause) {
    await receipt.file?.upload?.abort().catch(() => undefined);
    await receipt.writes.abandon();
    throw cause;
  }
  const { files, writtenBytes, removed, leftOut, paths } = receipt;
  return { files, bytes: writtenBytes, removed, leftOut, hasChanges: paths.size > 0 };
};

const receiveFrame = async (receipt: Receipt, { header, payload }: ArchiveFrame): Promise<void> => {
  refuseDisorder(receipt, header.type);
  switch (header.type) {
    case 'begin':
      receipt.phase = 'within';
      receipt.isFull = header.isFull;
      return;
    case 'directory':
      addPath(receipt, header.path);
      return putEmpty(receipt, header.path, { type: 'directory', mode: header.mode });
    case 'symlink':
      addPath(receipt, header.path);
      return putEmpty(receipt, header.path, { type: 'symlink', target: header.target });
    case 'file':
      return openFile(receipt, header);
    case 'data':
      return addData(receipt, payload);
    case 'file-end':
      return closeFile(receipt, header);
    case 'removed':
      addPath(receipt, header.path);
      return addRemoved(receipt, header.path);
    case 'left-out':
      return leaveOut(receipt, header.path, header.reason);
    case 'end':
      receipt.phase = 'after';
      return;
  }
};

const refuseDisorder = ({ phase, file }: Receipt, type: ArchiveHeader['type']): void => {
  const expected = type === 'begin' ? 'before' : 'within';
  const isOfFile = type === 'data' || type === 'file-end';
  if (phase !== expected || isOfFile !== (file !== undefined))
    throw malformed(`a frame ${type} is out of place`);
};

const malformed = (problem: string): AppError =>
  new AppError('invalid_request', `the sandbox sent an invalid archive of the shared volume: ${problem}`);

const tooLarge = (excess: string): AppError =>
  new AppError('resource_limit_exceeded', `the shared volume is too large to be saved: ${excess}`);

const addPath = ({ paths }: Receipt, path: string): void => {
  if (!isPlainPath(path)) throw malformed('a path leads out of the volume');
  if (paths.has(path)) throw malformed('a path comes twice');
  paths.add(path);
  if (paths.size > namedMax) throw tooLarge(`more than ${sharedEntriesMax} files and folders`);
};

const addRemoved = (receipt: Receipt, path: string): void => {
  if (receipt.isFull) throw malformed('an entry is removed from an unknown state');
  const key = keyOf(receipt.prefix, path);
  if (key !== undefined) receipt.removed.push(key);
};

const leaveOut = ({ leftOut }: Receipt, path: string, reason: string): void => {
  if (leftOut.length >= namedMax) throw tooLarge(`more than ${sharedEntriesMax} files and folders`);
  leftOut.push({ path, reason });
};

const putEmpty = (receipt: Receipt, path: string, entry: SharedEntry): Promise<void> | undefined => {
  const object = objectOf(receipt, path, entry);
  if (object === undefined) return undefined;
  return receipt.writes.begin(async () => {
    if (await isNewer(receipt, object.key, entry))
      await receipt.bucket.put(object.key, { words: object.words, bytes: new Uint8Array(0) });
  });
};

/** An entry that does not fit into an object is left out. */
const objectOf = (receipt: Receipt, path: string, entry: SharedEntry) => {
  const key = keyOf(receipt.prefix, path);
  const words = wordsOf(entry);
  if (key !== undefined && words !== undefined) return { key, words };
  leaveOut(receipt, path, `its ${key === undefined ? 'path' : 'target'} is too long for a shared volume`);
  return undefined;
};

/** Reads the object only when the sandbox did not know the stored state: another sandbox may have stored a newer one. */
const isNewer = async ({ bucket, isFull }: Receipt, key: string, entry: SharedEntry): Promise<boolean> => {
  const found = isFull ? await bucket.look(key) : undefined;
  const known = found && entryOf(found.words);
  if (known === undefined) return true;
  if (entry.type !== 'file' || known.type !== 'file') return false;
  return known.sha256 !== entry.sha256 && known.mtimeMs < entry.mtimeMs;
};

const openFile = async (receipt: Receipt, header: FileHeader): Promise<void> => {
  addPath(receipt, header.path);
  if (header.same) throw malformed('a file is called unchanged');
  const upload = header.size > wholeFileBytesMax ? await openUpload(receipt, header) : undefined;
  const file = { header, hash: createHash('sha256'), size: 0, chunks: [] };
  receipt.file = upload === undefined ? file : { ...file, upload };
};

/** A large file without a hash will be left out: the sandbox could not read it to its end. */
const openUpload = async (receipt: Receipt, { path, mode, mtimeMs, sha256 }: FileHeader) => {
  if (sha256 === undefined) return undefined;
  const entry = { type: 'file', mode, mtimeMs, sha256 } as const;
  const key = keyOf(receipt.prefix, path);
  const words = wordsOf(entry);
  if (key === undefined || words === undefined || !(await isNewer(receipt, key, entry))) return undefined;
  return receipt.bucket.upload(key, words);
};

const addData = async (receipt: Receipt, payload: Uint8Array): Promise<void> => {
  const { file } = receipt;
  if (file === undefined) return;
  receipt.bytes += payload.length;
  if (receipt.bytes > workspaceBytesMax) throw tooLarge(`more than ${workspaceBytesMax} bytes`);
  file.size += payload.length;
  if (file.size > file.header.size) throw malformed('a file is longer than its header says');
  file.hash.update(payload);
  if (file.upload !== undefined) await file.upload.append(payload);
  else if (file.header.size <= wholeFileBytesMax) file.chunks.push(Uint8Array.from(payload));
};

const closeFile = async (receipt: Receipt, { size, isWhole }: FileEnd): Promise<void> => {
  const { file } = receipt;
  if (file === undefined) return;
  if (size !== file.size) throw malformed('a file has another length than its end frame');
  const sha256 = file.hash.digest('hex');
  await (file.header.size > wholeFileBytesMax
    ? closeLarge(receipt, { file, sha256, isWhole })
    : closeSmall(receipt, { file, sha256, isWhole }));
  receipt.file = undefined;
};

type Closing = { readonly file: OpenFile; readonly sha256: string; readonly isWhole: boolean };

const closeLarge = async (receipt: Receipt, { file, sha256, isWhole }: Closing): Promise<void> => {
  const { header, upload } = file;
  if (!isWhole || header.sha256 !== sha256) {
    await upload?.abort();
    leaveOut(receipt, header.path, changedWhileRead);
  } else if (keyOf(receipt.prefix, header.path) === undefined) {
    leaveOut(receipt, header.path, 'its path is too long for a shared volume');
  } else if (upload !== undefined) {
    await upload.finish();
    addWritten(receipt, file.size);
  }
};

const closeSmall = async (receipt: Receipt, { file, sha256, isWhole }: Closing): Promise<void> => {
  const { path, mode, mtimeMs } = file.header;
  if (!isWhole) return leaveOut(receipt, path, changedWhileRead);
  const entry = { type: 'file', mode, mtimeMs, sha256 } as const;
  const object = objectOf(receipt, path, entry);
  if (object === undefined) return;
  const bytes = Buffer.concat(file.chunks);
  await receipt.writes.begin(async () => {
    if (!(await isNewer(receipt, object.key, entry))) return;
    await receipt.bucket.put(object.key, { words: object.words, bytes });
    addWritten(receipt, bytes.length);
  });
};

const addWritten = (receipt: Receipt, bytes: number): void => {
  receipt.files += 1;
  receipt.writtenBytes += bytes;
};
