import { expect, test } from 'vitest';
import { groupItems, groupsOf, type Item } from './items.ts';

const note = (id: number): Item => ({ kind: 'note', id: String(id), text: '', at: '' });
const notes = (length: number): readonly Item[] => Array.from({ length }, (_, id) => note(id));

test('items fall into groups of one size', () => {
  const groups = groupsOf(notes(groupItems * 2 + 1), []);
  expect(groups.map(({ items }) => items.length)).toEqual([groupItems, groupItems, 1]);
  expect(groupsOf([], [])).toEqual([]);
});

test('a group whose items did not change is the same one', () => {
  const items = notes(groupItems * 2 + 1);
  const before = groupsOf(items, []);
  const after = groupsOf([...items, note(1000)], before);
  expect([after[0] === before[0], after[1] === before[1], after[2] === before[2]]).toEqual([
    true,
    true,
    false,
  ]);
  const changed = groupsOf(items.with(3, note(7)), before);
  expect([changed[0] === before[0], changed[1] === before[1]]).toEqual([false, true]);
  const shorter = groupsOf(items.slice(0, -1), before);
  expect(shorter.length).toBe(2);
});
