/** Objects that a pin keeps, and those that may go when it ends. */
import { describe, expect, test } from 'vitest';
import type { Checkpoint, Manifest } from './checkpoint.ts';
import type { WorkspaceId } from './ids.ts';
import { objectsOf, packOf, seenFrom } from './pack-names.ts';
import { objectsToDelete, pinsFor, sourcesLeft, sourcesOf } from './pins.ts';

const a = 'a' as WorkspaceId;
const b = 'b' as WorkspaceId;
const c = 'c' as WorkspaceId;

const checkpoint = (id: string, packs: readonly string[], workspace?: WorkspaceId): Checkpoint => ({
  ...{ id, sha256: 'x', savedAt: 1, generation: 1, files: 1, bytes: 1, packs },
  ...(workspace === undefined ? {} : { workspace }),
});

describe('names of packs', () => {
  test('mean a pack of the manifest’s own workspace, or of the one they name', () => {
    expect(packOf('a', '1')).toEqual({ workspace: 'a', id: '1' });
    expect(packOf('a', 'b/1')).toEqual({ workspace: 'b', id: '1' });
  });

  const file = { type: 'file', mode: 0o644, mtimeMs: 1, sha256: 'x', offset: 0 } as const;
  const manifest: Manifest = {
    version: 1,
    id: 'm',
    workspace: 'a',
    entries: [
      { type: 'directory', path: 'd', mode: 0o755 },
      { ...file, path: 'own', size: 1, pack: '1' },
      { ...file, path: 'theirs', size: 1, pack: 'b/2' },
      { ...file, path: 'empty', size: 0, pack: '' },
    ],
    packs: { 1: 10, 'b/2': 20 },
    obsolete: ['workspaces/a/packs/0'],
  };

  test('change with the workspace that sees the manifest, and what its owner finds obsolete stays the owner’s', () => {
    const seen = seenFrom(manifest, 'b');
    expect(seen.entries.map((entry) => (entry.type === 'file' ? entry.pack : undefined))).toEqual([
      undefined,
      'a/1',
      '2',
      '',
    ]);
    expect(seen).toMatchObject({ workspace: 'b', packs: { 'a/1': 10, 2: 20 }, obsolete: [] });
    expect(seenFrom(manifest, 'a')).toBe(manifest);
  });
});

test('a checkpoint needs its manifest and its packs, each of the workspace that owns it', () => {
  const objects = objectsOf(c, checkpoint('m', ['1', 'a/2'], b));
  expect([...objects]).toEqual([
    ['b', ['manifests/m.json', 'packs/1']],
    ['a', ['packs/2']],
  ]);
});

test('a holder has one pin for each workspace it needs something of, and none on itself', () => {
  const needed = checkpoint('m', ['1', 'a/2'], b);
  expect(pinsFor('snapshot:s', needed)).toEqual([
    { owner: 'b', holder: 'snapshot:s', objects: ['manifests/m.json', 'packs/1'] },
    { owner: 'a', holder: 'snapshot:s', objects: ['packs/2'] },
  ]);
  expect(pinsFor('workspace:b', needed).map(({ owner }) => owner)).toEqual(['a']);
  expect(pinsFor('snapshot:s', undefined)).toEqual([]);
});

test('a fork leaves the workspaces of which its checkpoint has nothing any more', () => {
  const fork = { id: c, sources: [a, b] };
  expect(sourcesOf(c, checkpoint('m', ['1', 'a/2']))).toEqual(['a']);
  expect(sourcesLeft({ ...fork, checkpoint: checkpoint('m', ['1', 'a/2']) })).toEqual(['b']);
  expect(sourcesLeft({ ...fork, checkpoint: checkpoint('m', ['1'], b) })).toEqual(['a']);
  expect(sourcesLeft({ id: c })).toEqual([]);
});

describe('SN1: the objects of an ended pin', () => {
  const ended = { owner: a, objects: ['manifests/m.json', 'packs/1', 'packs/2'] };

  test('go when nothing else needs them', () => {
    expect(objectsToDelete(ended, [], [])).toEqual(ended.objects);
  });

  test('stay as far as the workspace’s own checkpoint needs them', () => {
    expect(objectsToDelete(ended, [checkpoint('n', ['2', '3'])], [])).toEqual([
      'manifests/m.json',
      'packs/1',
    ]);
  });

  test('go when its checkpoint is a manifest of another workspace with equal names', () => {
    expect(objectsToDelete(ended, [checkpoint('m', ['1', 'a/2'], b)], [])).toEqual([
      'manifests/m.json',
      'packs/1',
    ]);
  });

  test('stay as far as another pin needs them', () => {
    const other = { owner: a, holder: 'workspace:b', objects: ['packs/1'] } as const;
    expect(objectsToDelete(ended, [], [other])).toEqual(['manifests/m.json', 'packs/2']);
  });
});
