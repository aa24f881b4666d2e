/**
 * Checkpoints: the workspace, or what changed in the shared volume, as a stream of archive frames made on request.
 *
 * The walk comes first, so that a volume over its bounds is refused before any content, and so that the index holds
 * stats from before the contents were read: a file that changes during the read is sent again next time. An entry of
 * the shared volume counts as removed only if its folder could be read: below an unreadable folder everything stays,
 * and a missing volume is refused instead of being called empty. Without a base everything is sent and nothing is
 * removed. Guarantee W10 of docs/spec/sandbox.md.
 */
import { type BigIntStats, lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ArchiveHeader } from '#shared/contracts/archive.ts';
import {
  sharedEntriesMax,
  wholeFileBytesMax,
  workspaceBytesMax,
  workspaceEntriesMax,
} from '#shared/domain/checkpoint.ts';
import { type Frame, fileFrames, fileTraitsOf, inPieces, type Pieces, pause } from './archive-frames.ts';
import {
  createFileIndex,
  type FileIndex,
  isSettled,
  settleMs,
  type Traits,
  traitsOf,
  unknownTraits,
} from './file-index.ts';
import { codeOf, FileRefusal, type Walked, walkWorkspace } from './workspace-path.ts';

export type RunningCheckpoint = Pieces & {
  /** The sent state; it is stored once the last piece is sent. */
  readonly index: FileIndex;
};

/** Paths are in memory four times: three indices and the walk. */
const pathBytesMax = 8 * 1_048_576;
/** Beyond the limit entries are only counted, and no further than this. */
const countedEntriesMax = 200_000;
const entriesPerPiece = 512;

type Entry = Extract<ArchiveHeader, { type: 'directory' | 'symlink' | 'file' | 'left-out' }>;

export const openCheckpoint = (folder: string, base: FileIndex | undefined): RunningCheckpoint => {
  const index = createFileIndex();
  const frames = function* (): Frames {
    const entries = yield* collect(folder, base, index);
    yield* framesOf({ folder, index, isFull: base === undefined, removed: [] }, entries);
  };
  return { index, ...inPieces(frames()) };
};

type Frames = Generator<Frame | typeof pause>;
/** The walk over a large volume takes many pieces, which are empty. */
type Walk<T> = Generator<typeof pause, T>;

function* collect(workspace: string, base: FileIndex | undefined, index: FileIndex): Walk<readonly Entry[]> {
  const entries: Entry[] = [];
  let count = 0;
  let bytes = 0;
  let pathBytes = 0;
  for (const walked of walkWorkspace(workspace)) {
    count += 1;
    if (count % entriesPerPiece === 0) yield pause;
    if (count > countedEntriesMax) break;
    if (count > workspaceEntriesMax || pathBytes > pathBytesMax) continue;
    const entry = toEntry(walked, base, index);
    entries.push(entry);
    pathBytes += Buffer.byteLength(entry.path);
    if (entry.type === 'file') bytes += entry.size;
  }
  const refuseOver = (what: string, measured: number, max: number): void => {
    if (measured > max) throw tooLarge(`the workspace has ${measured} ${what}; at most ${max} can be saved`);
  };
  refuseOver('entries', count, workspaceEntriesMax);
  refuseOver('bytes of names', pathBytes, pathBytesMax);
  refuseOver('bytes', bytes, workspaceBytesMax);
  return entries.sort(byPath);
}

const tooLarge = (message: string): FileRefusal => new FileRefusal('resource_limit_exceeded', message);

/** A folder's path is a prefix of its content's and so comes first. */
const byPath = (one: Entry, other: Entry): number => (one.path < other.path ? -1 : 1);

const toEntry = (walked: Walked, base: FileIndex | undefined, index: FileIndex): Entry => {
  const { path } = walked;
  if ('reason' in walked) {
    index.add(path, unknownTraits);
    return { type: 'left-out', path, reason: walked.reason };
  }
  const { stat } = walked;
  const entry = describe(path, stat);
  index.add(path, entry.type === 'left-out' ? unknownTraits : settledTraits(stat));
  return entry.type === 'file' && base?.isSame(path, stat) ? { ...entry, same: true } : entry;
};

const settledTraits = (stat: BigIntStats): Traits =>
  stat.isDirectory() || isSettled(stat, Date.now()) ? traitsOf(stat) : unknownTraits;

const describe = (path: string, stat: BigIntStats): Entry => {
  const mode = Number(stat.mode & 0o777n);
  if (stat.isDirectory()) return { type: 'directory', path, mode };
  // The target is read when its frame is made.
  if (stat.isSymbolicLink()) return { type: 'symlink', path, target: '' };
  if (!stat.isFile()) return { type: 'left-out', path, reason: 'neither file, folder nor link' };
  return { type: 'file', path, ...fileTraitsOf(stat) };
};

type Volume = {
  readonly folder: string;
  readonly index: FileIndex;
  readonly isFull: boolean;
  readonly removed: readonly string[];
  /** A larger file has its hash before its content. */
  readonly hashedOver?: number;
};

function* framesOf(
  { folder, index, isFull, removed, hashedOver }: Volume,
  entries: readonly Entry[],
): Frames {
  yield { header: { type: 'begin', isFull } };
  for (const path of removed) yield { header: { type: 'removed', path } };
  for (const entry of entries) {
    if (entry.type === 'symlink')
      yield* recordUnsent(index, entry.path, [{ header: withTarget(folder, entry) }]);
    else if (entry.type !== 'file' || entry.same) yield { header: entry };
    else yield* recordUnsent(index, entry.path, fileFrames(folder, entry, hashedOver));
  }
  yield { header: { type: 'end' } };
}

/** An entry that was not sent whole must not count as unchanged in the next checkpoint. */
function* recordUnsent(index: FileIndex, path: string, frames: Iterable<Frame | typeof pause>): Frames {
  for (const frame of frames) {
    if (frame !== pause && isUnsent(frame.header)) index.add(path, unknownTraits);
    yield frame;
  }
}

const isUnsent = (header: ArchiveHeader): boolean =>
  header.type === 'left-out' || (header.type === 'file-end' && !header.isWhole);

const withTarget = (folder: string, entry: Extract<Entry, { type: 'symlink' }>): Entry => {
  const { path } = entry;
  try {
    const target = readlinkSync(join(folder, path), { encoding: 'buffer' });
    const text = target.toString();
    if (!Buffer.from(text).equals(target)) {
      return { type: 'left-out', path, reason: 'its target is not valid UTF-8' };
    }
    return { ...entry, target: text };
  } catch (cause) {
    return { type: 'left-out', path, reason: `the link cannot be read: ${codeOf(cause)}` };
  }
};

export const openSharedCheckpoint = async (
  folder: string,
  base: FileIndex | undefined,
): Promise<RunningCheckpoint> => {
  // The last writes of a call must be settled before the walk, or they would be sent twice.
  await delay(settleMs);
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new FileRefusal('conflict', 'the shared volume is not there');
  const index = createFileIndex();
  const frames = function* (): Frames {
    const found = yield* collectChanges(folder, base, index);
    const removed = [...removedFrom(base, found)];
    const volume = { folder, index, isFull: base === undefined, removed, hashedOver: wholeFileBytesMax };
    yield* framesOf(volume, found.changed);
  };
  return { index, ...inPieces(frames()) };
};

type Changes = {
  readonly index: FileIndex;
  readonly changed: Entry[];
  /** Unreadable folders, with everything below; `''` is the volume itself. */
  readonly unseen: Set<string>;
};

function* collectChanges(folder: string, base: FileIndex | undefined, index: FileIndex): Walk<Changes> {
  const found: Changes = { index, changed: [], unseen: new Set() };
  const refuseOver = (what: string, measured: number, max: number): void => {
    if (measured > max)
      throw tooLarge(`the shared volume has more than ${max} ${what}: no more can be saved`);
  };
  let count = 0;
  let bytes = 0;
  for (const walked of walkWorkspace(folder)) {
    count += 1;
    if (count % entriesPerPiece === 0) yield pause;
    refuseOver('entries', count, sharedEntriesMax);
    const { path } = walked;
    if ('reason' in walked) {
      found.unseen.add(path);
      found.changed.push({ type: 'left-out', path, reason: walked.reason });
      continue;
    }
    const { stat } = walked;
    bytes += stat.isFile() ? Number(stat.size) : 0;
    refuseOver('bytes', bytes, workspaceBytesMax);
    found.index.add(path, settledTraits(stat));
    if (!base?.isSame(path, traitsOf(stat))) found.changed.push(describe(path, stat));
  }
  found.changed.sort(byPath);
  return found;
}

function* removedFrom(base: FileIndex | undefined, { index, unseen }: Changes): Generator<string> {
  if (base === undefined) return;
  const present = new Set(index.paths());
  for (const path of base.paths()) {
    if (present.has(path)) continue;
    if (isBelow(path, unseen)) index.add(path, unknownTraits);
    else yield path;
  }
}

const isBelow = (path: string, folders: ReadonlySet<string>): boolean => {
  if (folders.size === 0) return false;
  const steps = path.split('/');
  return steps.some((_, at) => folders.has(steps.slice(0, at).join('/'))) || folders.has(path);
};
