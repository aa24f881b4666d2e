/**
 * The checkpoint: the workspace as a stream of archive frames, made piece by piece on request.
 *
 * The walk comes first, so that a workspace over its bounds is refused before any content, and so that the
 * index holds stats from before the contents were read: a file that changes during the read is sent again next time.
 * Guarantee W10 of docs/spec/sandbox.md.
 */
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import type { ArchiveHeader } from '#shared/contracts/archive.ts';
import { workspaceBytesMax, workspaceEntriesMax } from '#shared/domain/checkpoint.ts';
import { type Frame, fileFrames, inPieces, type Pieces, pause } from './archive-frames.ts';
import { createFileIndex, type FileIndex, isSettled, type Traits, unknownTraits } from './file-index.ts';
import { FileRefusal } from './workspace-path.ts';
import { codeOf, type Walked, walkWorkspace } from './workspace-walk.ts';

export type RunningCheckpoint = Pieces & {
  /** The sent state; it is stored once the last piece is sent. */
  readonly index: FileIndex;
};

/** Paths are in memory four times: three indices and the walk. */
const pathBytesMax = 8 * 1_048_576;
/** Beyond the limit entries are only counted, and no further than this. */
const countedEntriesMax = 1_000_000;
const entriesPerYield = 512;

type Entry = Extract<ArchiveHeader, { path: string }>;

export const openCheckpoint = async (
  workspace: string,
  base: FileIndex | undefined,
): Promise<RunningCheckpoint> => {
  const index = createFileIndex();
  const entries = await collect(workspace, { base, index });
  return { index, ...inPieces(framesOf(workspace, entries, { index, isFull: base === undefined })) };
};

type Indices = { readonly base: FileIndex | undefined; readonly index: FileIndex };

const collect = async (workspace: string, indices: Indices): Promise<readonly Entry[]> => {
  const entries: Entry[] = [];
  let count = 0;
  let bytes = 0;
  let pathBytes = 0;
  for (const walked of walkWorkspace(workspace)) {
    count += 1;
    if (count % entriesPerYield === 0) await breathe();
    if (count > countedEntriesMax) break;
    if (count > workspaceEntriesMax || pathBytes > pathBytesMax) continue;
    const entry = describe(walked, indices);
    entries.push(entry);
    pathBytes += Buffer.byteLength(entry.path);
    if (entry.type === 'file') bytes += entry.size;
  }
  refuseOver('entries', count, workspaceEntriesMax);
  refuseOver('bytes of names', pathBytes, pathBytesMax);
  refuseOver('bytes', bytes, workspaceBytesMax);
  // A folder's path is a prefix of its content's and so comes first.
  return entries.sort((one, other) => (one.path < other.path ? -1 : 1));
};

const refuseOver = (what: string, measured: number, max: number): void => {
  if (measured <= max) return;
  const message = `the workspace has ${measured} ${what}; at most ${max} can be saved`;
  throw new FileRefusal('resource_limit_exceeded', message);
};

const describe = (walked: Walked, { base, index }: Indices): Entry => {
  const { path } = walked;
  if ('reason' in walked) return { type: 'left-out', path, reason: walked.reason };
  const { stat } = walked;
  const mode = Number(stat.mode & 0o777n);
  if (stat.isDirectory()) return { type: 'directory', path, mode };
  // The target is read when its frame is made.
  if (stat.isSymbolicLink()) return { type: 'symlink', path, target: '' };
  if (!stat.isFile()) return { type: 'left-out', path, reason: 'neither file, folder nor link' };
  if (isSettled(stat, Date.now())) index.add(path, stat);
  return {
    type: 'file',
    path,
    mode,
    mtimeMs: mtimeMsOf(stat),
    size: Number(stat.size),
    ...(base?.isSame(path, stat) ? { same: true as const } : {}),
  };
};

/** Whole microseconds: what a JSON number keeps of the nanoseconds, and never negative. */
export const mtimeMsOf = ({ mtimeNs }: Traits): number => Math.max(0, Number(mtimeNs / 1000n) / 1000);

type Start = { readonly index: FileIndex; readonly isFull: boolean };

function* framesOf(
  workspace: string,
  entries: readonly Entry[],
  { index, isFull }: Start,
): Generator<Frame | typeof pause> {
  yield { header: { type: 'begin', isFull } };
  for (const entry of entries) {
    if (entry.type === 'symlink') yield { header: withTarget(workspace, entry) };
    else if (entry.type !== 'file' || entry.same) yield { header: entry };
    else yield* recordUnsent(index, entry.path, fileFrames(workspace, entry));
  }
  yield { header: { type: 'end' } };
}

/** A file whose content was not sent must not count as unchanged in the next checkpoint. */
export function* recordUnsent(
  index: FileIndex,
  path: string,
  frames: Iterable<Frame | typeof pause>,
): Generator<Frame | typeof pause> {
  for (const frame of frames) {
    if (frame !== pause && isUnsent(frame.header)) index.add(path, unknownTraits);
    yield frame;
  }
}

const isUnsent = (header: ArchiveHeader): boolean =>
  header.type === 'left-out' || (header.type === 'file-end' && !header.isWhole);

export const withTarget = (
  workspace: string,
  entry: Extract<ArchiveHeader, { type: 'symlink' }>,
): Extract<ArchiveHeader, { type: 'symlink' | 'left-out' }> => {
  const { path } = entry;
  try {
    const target = readlinkSync(join(workspace, path), { encoding: 'buffer' });
    const text = target.toString();
    if (!Buffer.from(text).equals(target)) {
      return { type: 'left-out', path, reason: 'its target is not valid UTF-8' };
    }
    return { ...entry, target: text };
  } catch (cause) {
    return { type: 'left-out', path, reason: `the link cannot be read: ${codeOf(cause)}` };
  }
};
