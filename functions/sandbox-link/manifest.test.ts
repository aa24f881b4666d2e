import { expect, test } from 'vitest';
import type { ManifestEntry } from '#shared/domain/checkpoint.ts';
import { planPackRuns } from './manifest.ts';

const eightMegabytes = 8 * 1024 * 1024;
const file = (path: string, pack: string, [offset, size]: readonly [number, number]): ManifestEntry => ({
  ...{ type: 'file', path, mode: 0o644, mtimeMs: 1, sha256: 'a' },
  ...{ pack, offset, size },
});

const outline = (entries: readonly ManifestEntry[]) =>
  planPackRuns(entries).map(({ pack, offset, length, files }) => [
    pack,
    offset,
    length,
    files.map(({ path }) => path).join(' '),
  ]);

test('each pack is read once, in order, from its first used byte to its last', () => {
  expect(
    outline([
      { type: 'directory', path: 'd', mode: 0o755 },
      file('c', 'p', [900, 50]),
      file('a', 'q', [7, 3]),
      file('b', 'p', [100, 10]),
      { type: 'symlink', path: 'l', target: 'd' },
    ]),
  ).toEqual([
    ['p', 100, 850, 'b c'],
    ['q', 7, 3, 'a'],
  ]);
});

test('gaps of more than 8 MB of unused bytes are not read', () => {
  const at = 10 + eightMegabytes;
  expect(outline([file('a', 'p', [0, 10]), file('b', 'p', [at, 5])])).toEqual([['p', 0, at + 5, 'a b']]);
  expect(outline([file('a', 'p', [0, 10]), file('b', 'p', [at + 1, 5])])).toEqual([
    ['p', 0, 10, 'a'],
    ['p', at + 1, 5, 'b'],
  ]);
});

test('empty files are in no pack and are still files', () => {
  expect(outline([file('a', '', [0, 0]), file('b', '', [0, 0])])).toEqual([['', 0, 0, 'a b']]);
  expect(outline([])).toEqual([]);
});
