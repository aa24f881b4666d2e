/**
 * Reads what changed in a shared volume and stores it, each file as an object of its own, as it comes.
 *
 * The sandbox is not believed: hashes are computed here, the bounds hold here too, and no path leads out of
 * the owner's folder. A file that changed while it was read is left out. A sandbox that does not know what
 * was stored sends everything: then only what is not there, or is newer than what is there, is written.
 */
import { createHash, type Hash } from 'node:crypto';
import type { SharedBucket } from '#shared/adapters/aws/shared-bucket.ts';
import type { Upload } from '#shared/adapters/aws/workspace-upload.ts';
import { type ArchiveFrame, type ArchiveHeader, wholeFileBytesMax } from '#shared/contracts/archive.ts';
import { type LeftOut, sharedEntriesMax, workspaceBytesMax } from '#shared/domain/checkpoint.ts';
import { AppError } from '#shared/errors.ts';
import { type BoundedWork, openBoundedWork } from './bounded-work.ts';
import { entryOf, keyOf, type SharedEntry, wordsOf } from './shared-object.ts';

export type SharedTaken = {
  readonly files: number;
  readonly bytes: number;
  /** Keys of what is gone. */
  readonly removed: readonly string[];
  readonly leftOut: readonly LeftOut[];
  /** False: the archive named nothing. */
  readonly hasNews: boolean;
};

type FileHeader = Extract<ArchiveHeader, { type: 'file' }>;
type FileEnd = Extract<ArchiveHeader, { type: 'file-end' }>;
type OpenFile = {
  readonly header: FileHeader;
  readonly hash: Hash;
  size: number;
  /** Of a small file: all of it. */
  readonly chunks: Uint8Array[];
  /** Of a large one; absent when it is not to be written. */
  readonly upload?: Upload;
};
type Intake = {
  readonly bucket: SharedBucket;
  readonly prefix: string;
  readonly work: BoundedWork;
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

/** Objects that are written at once; each holds at most `wholeFileBytesMax` in memory. */
const putsAtOnceMax = 8;
/** What changed, and as much that is gone. */
const namedMax = 2 * sharedEntriesMax;
const changed = 'it changed while it was read';

/** Throws an `AppError` when the archive is to be refused, any other error when it broke off; what was written stays. */
export const takeShared = async (
  frames: AsyncIterable<ArchiveFrame>,
  { bucket, prefix }: { readonly bucket: SharedBucket; readonly prefix: string },
): Promise<SharedTaken> => {
  const intake: Intake = {
    ...{ bucket, prefix, work: openBoundedWork(putsAtOnceMax) },
    ...{ paths: new Set<string>(), removed: [], leftOut: [], phase: 'before', isFull: true },
    ...{ file: undefined, files: 0, bytes: 0, writtenBytes: 0 },
  };
  try {
    for await (const frame of frames) await takeFrame(intake, frame);
    if (intake.phase !== 'after') throw new Error('the archive ends without its end');
    await intake.work.end();
  } catch (cause) {
    await intake.file?.upload?.abort().catch(() => undefined);
    await intake.work.abandon();
    throw cause;
  }
  const { files, writtenBytes, removed, leftOut, paths } = intake;
  return { files, bytes: writtenBytes, removed, leftOut, hasNews: paths.size > 0 };
};

const takeFrame = async (intake: Intake, { header, payload }: ArchiveFrame): Promise<void> => {
  refuseDisorder(intake, header.type);
  switch (header.type) {
    case 'begin':
      intake.phase = 'within';
      intake.isFull = header.isFull;
      return;
    case 'directory':
      claimPath(intake, header.path);
      return putEmpty(intake, header.path, { type: 'directory', mode: header.mode });
    case 'symlink':
      claimPath(intake, header.path);
      return putEmpty(intake, header.path, { type: 'symlink', target: header.target });
    case 'file':
      return openFile(intake, header);
    case 'data':
      return addData(intake, payload);
    case 'file-end':
      return closeFile(intake, header);
    case 'removed':
      claimPath(intake, header.path);
      return addRemoved(intake, header.path);
    case 'left-out':
      return leaveOut(intake, header.path, header.reason);
    case 'end':
      intake.phase = 'after';
      return;
  }
};

const refuse = (what: string): AppError =>
  new AppError('invalid_request', `the sandbox sent no proper archive of the shared volume: ${what}`);

const refuseDisorder = ({ phase, file }: Intake, type: ArchiveHeader['type']): void => {
  const wanted = type === 'begin' ? 'before' : 'within';
  const isOfFile = type === 'data' || type === 'file-end';
  if (phase !== wanted || isOfFile !== (file !== undefined)) throw refuse(`a frame ${type} is out of place`);
};

const claimPath = ({ paths }: Intake, path: string): void => {
  if (path.includes('\0') || path.split('/').some((step) => ['', '.', '..'].includes(step)))
    throw refuse('a path leads out of the volume');
  if (paths.has(path)) throw refuse('a path comes twice');
  paths.add(path);
  if (paths.size > namedMax) throw tooLarge(`more than ${sharedEntriesMax} files and folders`);
};

const tooLarge = (what: string): AppError =>
  new AppError('resource_limit_exceeded', `the shared volume is too large to be saved: ${what}`);

const leaveOut = ({ leftOut }: Intake, path: string, reason: string): void => {
  if (leftOut.length >= namedMax) throw tooLarge(`more than ${sharedEntriesMax} files and folders`);
  leftOut.push({ path, reason });
};

const addRemoved = (intake: Intake, path: string): void => {
  if (intake.isFull) throw refuse('something is gone from what is not known');
  const key = keyOf(intake.prefix, path);
  if (key !== undefined) intake.removed.push(key);
};

const putEmpty = (intake: Intake, path: string, entry: SharedEntry): Promise<void> | undefined => {
  const place = placeOf(intake, path, entry);
  if (place === undefined) return undefined;
  return intake.work.begin(async () => {
    if (await isNews(intake, place.key, entry))
      await intake.bucket.put(place.key, { words: place.words, bytes: new Uint8Array(0) });
  });
};

/** Nothing, and that is said, when it does not fit into an object. */
const placeOf = (intake: Intake, path: string, entry: SharedEntry) => {
  const key = keyOf(intake.prefix, path);
  const words = wordsOf(entry);
  if (key !== undefined && words !== undefined) return { key, words };
  leaveOut(intake, path, `its ${key === undefined ? 'path' : 'target'} is too long for a shared volume`);
  return undefined;
};

/** Asked only when the sandbox did not know: what somebody stored meanwhile is not undone by what is older. */
const isNews = async ({ bucket, isFull }: Intake, key: string, entry: SharedEntry): Promise<boolean> => {
  const there = isFull ? await bucket.look(key) : undefined;
  const known = there && entryOf(there.words);
  if (known === undefined) return true;
  if (entry.type !== 'file' || known.type !== 'file') return false;
  return known.sha256 !== entry.sha256 && known.mtimeMs < entry.mtimeMs;
};

const openFile = async (intake: Intake, header: FileHeader): Promise<void> => {
  claimPath(intake, header.path);
  if (header.same) throw refuse('a file is said to be as it was');
  const upload = header.size > wholeFileBytesMax ? await openLarge(intake, header) : undefined;
  const file = { header, hash: createHash('sha256'), size: 0, chunks: [] };
  intake.file = upload === undefined ? file : { ...file, upload };
};

/** Without a hash it will be left out: the sandbox could not read it to its end. */
const openLarge = async (intake: Intake, { path, mode, mtimeMs, sha256 }: FileHeader) => {
  if (sha256 === undefined) return undefined;
  const entry = { type: 'file', mode, mtimeMs, sha256 } as const;
  const key = keyOf(intake.prefix, path);
  const words = wordsOf(entry);
  if (key === undefined || words === undefined || !(await isNews(intake, key, entry))) return undefined;
  return intake.bucket.upload(key, words);
};

const addData = async (intake: Intake, payload: Uint8Array): Promise<void> => {
  const { file } = intake;
  if (file === undefined) return;
  intake.bytes += payload.length;
  if (intake.bytes > workspaceBytesMax) throw tooLarge(`more than ${workspaceBytesMax} bytes`);
  file.size += payload.length;
  if (file.size > file.header.size) throw refuse('a file is longer than was said');
  file.hash.update(payload);
  if (file.upload !== undefined) await file.upload.append(payload);
  else if (file.header.size <= wholeFileBytesMax) file.chunks.push(Uint8Array.from(payload));
};

const closeFile = async (intake: Intake, { size, isWhole }: FileEnd): Promise<void> => {
  const { file } = intake;
  if (file === undefined) return;
  if (size !== file.size) throw refuse('a file has another length than was said');
  const sha256 = file.hash.digest('hex');
  await (file.header.size > wholeFileBytesMax
    ? closeLarge(intake, { file, sha256, isWhole })
    : closeSmall(intake, { file, sha256, isWhole }));
  intake.file = undefined;
};

type Closing = { readonly file: OpenFile; readonly sha256: string; readonly isWhole: boolean };

const closeLarge = async (intake: Intake, { file, sha256, isWhole }: Closing): Promise<void> => {
  const { header, upload } = file;
  if (!isWhole || header.sha256 !== sha256) {
    await upload?.abort();
    leaveOut(intake, header.path, changed);
  } else if (keyOf(intake.prefix, header.path) === undefined) {
    leaveOut(intake, header.path, 'its path is too long for a shared volume');
  } else if (upload !== undefined) {
    await upload.finish();
    countWritten(intake, file.size);
  }
};

const closeSmall = async (intake: Intake, { file, sha256, isWhole }: Closing): Promise<void> => {
  const { path, mode, mtimeMs } = file.header;
  if (!isWhole) return leaveOut(intake, path, changed);
  const entry = { type: 'file', mode, mtimeMs, sha256 } as const;
  const place = placeOf(intake, path, entry);
  if (place === undefined) return;
  const bytes = Buffer.concat(file.chunks);
  await intake.work.begin(async () => {
    if (!(await isNews(intake, place.key, entry))) return;
    await intake.bucket.put(place.key, { words: place.words, bytes });
    countWritten(intake, bytes.length);
  });
};

const countWritten = (intake: Intake, bytes: number): void => {
  intake.files += 1;
  intake.writtenBytes += bytes;
};
