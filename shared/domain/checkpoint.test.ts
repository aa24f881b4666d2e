import { expect, test } from 'vitest';
import { isUnchanged, isWorthCompacting, type ManifestEntry, withoutCopies } from './checkpoint.ts';

const megabyte = 1_048_576;
const file = (path: string, more: object = {}): ManifestEntry => ({
  type: 'file',
  path,
  mode: 0o644,
  mtimeMs: 1000,
  size: 1,
  sha256: 'a',
  pack: 'p',
  offset: 0,
  ...more,
});
const folder: ManifestEntry = { type: 'directory', path: 'd', mode: 0o755 };
const link: ManifestEntry = { type: 'symlink', path: 'l', target: 'd' };

const large = file('a', { size: 10 * megabyte });

const packsOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, 1]));

test.each<[string, Parameters<typeof isWorthCompacting>[0], boolean]>([
  ['nothing at all', { entries: [], packs: {} }, false],
  ['as many packs as there may be', { entries: [], packs: packsOf(16) }, false],
  ['one pack more', { entries: [], packs: packsOf(17) }, true],
  ['4 MB dead', { entries: [], packs: { p: 4 * megabyte } }, false],
  ['4 MB and a byte dead', { entries: [], packs: { p: 4 * megabyte + 1 } }, true],
  ['as much dead as alive, and 4 MB', { entries: [large], packs: { p: 24 * megabyte } }, false],
  ['a byte more than that', { entries: [large], packs: { p: 24 * megabyte + 1 } }, true],
  ['folders and links, which have no content', { entries: [folder, link], packs: { p: 5 * megabyte } }, true],
])('whether %s is worth compacting', (_title, manifest, expected) => {
  expect(isWorthCompacting(manifest)).toBe(expected);
});

test('the same entries in another order are no change', () => {
  expect(isUnchanged([folder, link, file('a')], [file('a'), folder, link])).toBe(true);
  expect(isUnchanged([], [])).toBe(true);
});

test.each<[string, ManifestEntry, boolean]>([
  ['a fraction of a millisecond', file('a', { mtimeMs: 1000.9 }), true],
  ['a millisecond', file('a', { mtimeMs: 1001 }), false],
  ['a mode', file('a', { mode: 0o600 }), false],
  ['a hash', file('a', { sha256: 'b' }), false],
  ['a size', file('a', { size: 2 }), false],
  ['a pack', file('a', { pack: 'q' }), false],
  ['a place in its pack', file('a', { offset: 1 }), false],
  ['a name', file('b'), false],
  ['a kind', { type: 'directory', path: 'a', mode: 0o644 }, false],
])('a file that differs by %s', (_title, now, expected) => {
  expect(isUnchanged([file('a')], [now])).toBe(expected);
});

test.each<[string, ManifestEntry, ManifestEntry]>([
  ['the mode of a folder', folder, { ...folder, mode: 0o700 }],
  ['the target of a link', link, { ...link, target: 'e' }],
  ['a folder that is a link now', folder, { ...link, path: 'd' }],
  ['a link that is a folder now', link, { ...folder, path: 'l' }],
])('%s is a change', (_title, before, now) => {
  expect(isUnchanged([before], [now])).toBe(false);
});

test('more or fewer entries are a change', () => {
  expect(isUnchanged([folder], [folder, link])).toBe(false);
  expect(isUnchanged([folder, link], [folder])).toBe(false);
});

test('files of the base are not stored twice; their modes and times are the new ones', () => {
  const base = [folder, file('a', { offset: 5 }), file('b', { sha256: 'b' })];
  const now = [folder, file('a', { pack: 'n', mode: 0o600, mtimeMs: 7 }), file('b', { sha256: 'b' })];
  expect(withoutCopies(base, now, 'n')).toEqual([
    folder,
    file('a', { offset: 5, mode: 0o600, mtimeMs: 7 }),
    file('b', { sha256: 'b' }),
  ]);
});

test.each<[string, ManifestEntry]>([
  ['new', file('c', { pack: 'n' })],
  ['changed', file('b', { pack: 'n', sha256: 'c' })],
  ['longer', file('b', { pack: 'n', size: 2 })],
  ['a file where a folder was', file('d', { pack: 'n' })],
])('if one file is %s, all stay where they are', (_title, other) => {
  const now = [file('a', { pack: 'n' }), other];
  expect(withoutCopies([folder, file('a'), file('b')], now, 'n')).toEqual(now);
});
