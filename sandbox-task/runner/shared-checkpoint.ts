/**
 * The checkpoint of the shared volume: changed and removed entries since the state that was stored last.
 *
 * An entry counts as removed only if its folder could be read: below an unreadable folder everything stays, and a
 * missing volume is refused instead of being called empty. Without a base everything is sent and nothing is removed. Guarantee W10 of docs/spec/sandbox.md.
 */
import { type BigIntStats, lstatSync } from 'node:fs';
import { setImmediate as breathe, setTimeout as delay } from 'node:timers/promises';
import { type ArchiveHeader, wholeFileBytesMax } from '#shared/contracts/archive.ts';
import { sharedEntriesMax, workspaceBytesMax } from '#shared/domain/checkpoint.ts';
import { type Frame, fileFrames, hashedFileFrames, inPieces, type pause } from './archive-frames.ts';
import { mtimeMsOf, type RunningCheckpoint, recordUnsent, withTarget } from './checkpoint.ts';
import {
  createFileIndex,
  type FileIndex,
  isSettled,
  settleMs,
  traitsOf,
  unknownTraits,
} from './file-index.ts';
import { FileRefusal } from './workspace-path.ts';
import { walkWorkspace } from './workspace-walk.ts';

type Entry = Extract<ArchiveHeader, { type: 'directory' | 'symlink' | 'file' | 'left-out' }>;
type Changes = {
  readonly index: FileIndex;
  readonly changed: Entry[];
  /** Unreadable folders, with everything below; `''` is the volume itself. */
  readonly unseen: Set<string>;
};

const entriesPerYield = 512;

export const openSharedCheckpoint = async (
  folder: string,
  base: FileIndex | undefined,
): Promise<RunningCheckpoint> => {
  // The last writes of a call must be settled before the walk, or they would be sent twice.
  await delay(settleMs);
  refuseMissing(folder);
  const found = await collect(folder, base);
  const frames = framesOf(folder, { ...found, removed: [...removedFrom(base, found)] });
  return { index: found.index, ...inPieces(frames(base === undefined)) };
};

const refuseMissing = (folder: string): void => {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new FileRefusal('conflict', 'the shared volume is not there');
};

const collect = async (folder: string, base: FileIndex | undefined): Promise<Changes> => {
  const found: Changes = { index: createFileIndex(), changed: [], unseen: new Set() };
  let count = 0;
  let bytes = 0;
  for (const walked of walkWorkspace(folder)) {
    count += 1;
    if (count % entriesPerYield === 0) await breathe();
    refuseOver('entries', count, sharedEntriesMax);
    if ('reason' in walked) {
      found.unseen.add(walked.path);
      found.changed.push({ type: 'left-out', path: walked.path, reason: walked.reason });
      continue;
    }
    const { path, stat } = walked;
    bytes += stat.isFile() ? Number(stat.size) : 0;
    refuseOver('bytes', bytes, workspaceBytesMax);
    const traits = traitsOf(stat);
    found.index.add(path, stat.isDirectory() || isSettled(stat, Date.now()) ? traits : unknownTraits);
    if (!base?.isSame(path, traits)) found.changed.push(describe(path, stat));
  }
  // A folder's path is a prefix of its content's and so comes first.
  found.changed.sort((one, other) => (one.path < other.path ? -1 : 1));
  return found;
};

const refuseOver = (what: string, measured: number, max: number): void => {
  if (measured <= max) return;
  const message = `the shared volume has more than ${max} ${what}: no more can be saved`;
  throw new FileRefusal('resource_limit_exceeded', message);
};

const describe = (path: string, stat: BigIntStats): Entry => {
  const mode = Number(stat.mode & 0o777n);
  if (stat.isDirectory()) return { type: 'directory', path, mode };
  // The target is read when its frame is made.
  if (stat.isSymbolicLink()) return { type: 'symlink', path, target: '' };
  if (!stat.isFile()) return { type: 'left-out', path, reason: 'neither file, folder nor link' };
  return { type: 'file', path, mode, mtimeMs: mtimeMsOf(stat), size: Number(stat.size) };
};

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

const framesOf = (folder: string, found: Changes & { readonly removed: readonly string[] }) =>
  function* (isFull: boolean): Generator<Frame | typeof pause> {
    yield { header: { type: 'begin', isFull } };
    for (const path of found.removed) yield { header: { type: 'removed', path } };
    for (const entry of found.changed) {
      if (entry.type === 'symlink') yield { header: withTarget(folder, entry) };
      else if (entry.type !== 'file') yield { header: entry };
      else {
        const frames = entry.size > wholeFileBytesMax ? hashedFileFrames : fileFrames;
        yield* recordUnsent(found.index, entry.path, frames(folder, entry));
      }
    }
    yield { header: { type: 'end' } };
  };
