/**
 * How far an intake of a shared volume has come, and what holds for every path in it: it is named once, leads
 * nowhere else, fits into an object, and is written only when it is news.
 */
import type { Hash } from 'node:crypto';
import type { SharedBucket } from '#shared/adapters/aws/shared-bucket.ts';
import type { Upload } from '#shared/adapters/aws/workspace-upload.ts';
import type { ArchiveHeader } from '#shared/contracts/archive.ts';
import { type LeftOut, sharedEntriesMax } from '#shared/domain/checkpoint.ts';
import { AppError } from '#shared/errors.ts';
import type { BoundedWork } from './bounded-work.ts';
import { entryOf, keyOf, type SharedEntry, wordsOf } from './shared-object.ts';

export type FileHeader = Extract<ArchiveHeader, { type: 'file' }>;
export type OpenFile = {
  readonly header: FileHeader;
  readonly hash: Hash;
  size: number;
  /** Of a small file: all of it. */
  readonly chunks: Uint8Array[];
  /** Of a large one; absent when it is not to be written. */
  readonly upload?: Upload;
};
export type Intake = {
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

/** What changed, and as much that is gone. */
const namedMax = 2 * sharedEntriesMax;

export const refuse = (what: string): AppError =>
  new AppError('invalid_request', `the sandbox sent no proper archive of the shared volume: ${what}`);

export const tooLarge = (what: string): AppError =>
  new AppError('resource_limit_exceeded', `the shared volume is too large to be saved: ${what}`);

export const claimPath = ({ paths }: Intake, path: string): void => {
  if (path.includes('\0') || path.split('/').some((step) => ['', '.', '..'].includes(step)))
    throw refuse('a path leads out of the volume');
  if (paths.has(path)) throw refuse('a path comes twice');
  paths.add(path);
  if (paths.size > namedMax) throw tooLarge(`more than ${sharedEntriesMax} files and folders`);
};

export const leaveOut = ({ leftOut }: Intake, path: string, reason: string): void => {
  if (leftOut.length >= namedMax) throw tooLarge(`more than ${sharedEntriesMax} files and folders`);
  leftOut.push({ path, reason });
};

/** Nothing, and that is said, when it does not fit into an object. */
export const placeOf = (intake: Intake, path: string, entry: SharedEntry) => {
  const key = keyOf(intake.prefix, path);
  const words = wordsOf(entry);
  if (key !== undefined && words !== undefined) return { key, words };
  leaveOut(intake, path, `its ${key === undefined ? 'path' : 'target'} is too long for a shared volume`);
  return undefined;
};

/** Asked only when the sandbox did not know: what somebody stored meanwhile is not undone by what is older. */
export const isNews = async (
  { bucket, isFull }: Intake,
  key: string,
  entry: SharedEntry,
): Promise<boolean> => {
  const there = isFull ? await bucket.look(key) : undefined;
  const known = there && entryOf(there.words);
  if (known === undefined) return true;
  if (entry.type !== 'file' || known.type !== 'file') return false;
  return known.sha256 !== entry.sha256 && known.mtimeMs < entry.mtimeMs;
};
