import { lstatSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createFileIndex, createIndexCache, isSettled, type Traits, unknownTraits } from './file-index.ts';

const stat = lstatSync(import.meta.filename, { bigint: true });
const fields = ['ino', 'size', 'mtimeNs', 'ctimeNs', 'mode'] as const;

test.each(fields)('a file with another %s is not the same', (field) => {
  const index = createFileIndex();
  index.add('a', stat);
  expect(index.isSame('a', stat)).toBe(true);
  const changed = Object.assign(Object.create(stat), { [field]: stat[field] + 1n });
  expect(index.isSame('a', changed)).toBe(false);
  expect(index.isSame('b', stat)).toBe(false);
});

test('thousands of files keep their own numbers', () => {
  const index = createFileIndex();
  const numbered = (size: number) => Object.assign(Object.create(stat), { size: BigInt(size) });
  for (let at = 0; at < 5000; at += 1) index.add(`file ${at}`, numbered(at));
  const wrong = Array.from({ length: 5000 }, (_, at) => at).filter(
    (at) => !index.isSame(`file ${at}`, numbered(at)) || index.isSame(`file ${at}`, numbered(at + 1)),
  );
  expect(wrong).toEqual([]);
});

test('a change younger than 20 ms, or of the future, is not settled', () => {
  const at = Object.assign(Object.create(stat), { ctimeNs: 1_000_000_000_000n });
  expect([1_000_021, 1_000_020, 1_000_000, 999_000].map((nowMs) => isSettled(at, nowMs))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('the index keeps the three states that were stored or used last', () => {
  const shelf = createIndexCache();
  const indices = ['a', 'b', 'c', 'd'].map((id) => ({ id, index: createFileIndex() }));
  for (const { id, index } of indices.slice(0, 3)) shelf.keep(id, index);
  expect(shelf.find('a')).toBe(indices[0]?.index);
  shelf.keep('d', createFileIndex());
  expect(['a', 'b', 'c', 'd'].map((id) => shelf.find(id) !== undefined)).toEqual([true, false, true, true]);
});

test('indices are equal when they have the same entries, and know each', () => {
  const indexOf = (entries: Readonly<Record<string, Traits>>) => {
    const index = createFileIndex();
    for (const [path, traits] of Object.entries(entries)) index.add(path, traits);
    return index;
  };
  const other = Object.assign(Object.create(stat), { size: stat.size + 1n });
  const index = indexOf({ a: stat, b: other });
  expect([
    index.equals(indexOf({ b: other, a: stat })),
    index.equals(indexOf({ a: stat })),
    index.equals(indexOf({ a: stat, c: other })),
    index.equals(indexOf({ a: stat, b: stat })),
    indexOf({ a: unknownTraits }).equals(indexOf({ a: unknownTraits })),
  ]).toEqual([true, false, false, false, false]);
});
