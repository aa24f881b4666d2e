/** The checkpoints that are kept, and the one that a workspace had at a time. */
import { expect, test } from 'vitest';
import type { Checkpoint } from './checkpoint.ts';
import type { TurnId, WorkspaceId } from './ids.ts';
import {
  checkpointAt,
  checkpointsOf,
  heldObjects,
  type KeptCheckpoints,
  keptAfter,
  keptCheckpointsMax,
} from './kept-checkpoints.ts';
import { filesOfFork, sourceOfKept } from './snapshot.ts';

const id = 'w' as WorkspaceId;
const other = 'v' as WorkspaceId;

const checkpoint = (savedAt: number, turn?: string): Checkpoint => ({
  ...{ id: `m${savedAt}`, sha256: 'x', savedAt, generation: 1, files: 1, bytes: 1, packs: [`p${savedAt}`] },
  ...(turn === undefined ? {} : { turn: turn as TurnId }),
});

type Files = { readonly checkpoint?: Checkpoint; readonly kept?: KeptCheckpoints };

const saved = (files: Files, next: Checkpoint): Files => ({
  checkpoint: next,
  kept: keptAfter(files, { turn: next.turn, at: next.savedAt }),
});
const after = (...saves: readonly Checkpoint[]): Files => saves.reduce<Files>(saved, {});

test('a workspace has at each time what was saved last before it', () => {
  const files = after(checkpoint(10), checkpoint(20), checkpoint(30));
  expect(checkpointAt(files, 5)).toBeUndefined();
  expect(checkpointAt(files, 10)).toMatchObject({ id: 'm10' });
  expect(checkpointAt(files, 25)).toMatchObject({ id: 'm20' });
  expect(checkpointAt(files, 99)).toMatchObject({ id: 'm30' });
});

test('a workspace that was never saved was empty', () => {
  expect(checkpointAt({}, 5)).toBeUndefined();
});

test('of one turn only the last save is kept', () => {
  const files = after(checkpoint(10, 'a'), checkpoint(11, 'a'), checkpoint(12, 'a'), checkpoint(20, 'b'));
  expect(checkpointsOf(files).map((one) => one.id)).toEqual(['m12', 'm20']);
  expect(checkpointAt(files, 15)).toMatchObject({ id: 'm12' });
});

test('beyond the limit the oldest goes, and its time is unknown', () => {
  const all = Array.from({ length: keptCheckpointsMax + 2 }, (_, index) => checkpoint(10 * (index + 1)));
  const files = after(...all);
  expect(files.kept?.states).toHaveLength(keptCheckpointsMax);
  expect(checkpointAt(files, 15)).toBe('unknown');
  expect(checkpointAt(files, 20)).toMatchObject({ id: 'm20' });
});

test('what came before the first record of kept ones is unknown', () => {
  const files = saved({ checkpoint: checkpoint(10) }, checkpoint(20));
  expect(checkpointAt({ checkpoint: checkpoint(10) }, 9)).toBe('unknown');
  expect(checkpointAt(files, 9)).toBe('unknown');
  expect(checkpointAt(files, 15)).toMatchObject({ id: 'm10' });
});

test('a restore counts from the time it was made, not from that of its files', () => {
  const files = after(checkpoint(10), checkpoint(20));
  const restored = { checkpoint: checkpoint(10), kept: keptAfter(files, { at: 30 }) };
  expect(checkpointAt(restored, 25)).toMatchObject({ id: 'm20' });
  expect(checkpointAt(restored, 35)).toMatchObject({ id: 'm10' });
});

test('a branch knows nothing of the time before its source had its files', () => {
  const files = after(checkpoint(10), checkpoint(20));
  const restored = { id, checkpoint: { ...checkpoint(10), id: 'again' }, kept: keptAfter(files, { at: 30 }) };
  const branch = filesOfFork(sourceOfKept(restored, restored.checkpoint), other);
  expect([checkpointAt(branch, 25), checkpointAt(branch, 29)]).toEqual(['unknown', 'unknown']);
  expect(checkpointAt(branch, 30)).toMatchObject({ id: 'again', workspace: id });
  const again = filesOfFork(sourceOfKept({ ...branch, id: other }, branch.checkpoint), 'x' as WorkspaceId);
  expect(checkpointAt(again, 29)).toBe('unknown');
  const earlier = filesOfFork(sourceOfKept(restored, checkpoint(20)), other);
  expect(checkpointAt(earlier, 19)).toBe('unknown');
  expect(checkpointAt(earlier, 20)).toMatchObject({ id: 'm20' });
  expect(earlier.kept).toBeUndefined();
  expect(filesOfFork(sourceOfKept(restored, undefined), other)).toEqual({});
});

test('objects of kept checkpoints are held, but for those of other workspaces', () => {
  const foreign = { ...checkpoint(10), workspace: other, packs: ['p1', 'w/p2'] };
  const files = after(foreign, checkpoint(20), checkpoint(30));
  expect(heldObjects({ id, ...files })).toEqual(['packs/p2', 'manifests/m20.json', 'packs/p20']);
  expect(heldObjects({ id })).toEqual([]);
});
