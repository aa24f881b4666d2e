import { expect, test } from 'vitest';
import type { SessionId } from './ids.ts';
import { generationsOf, subtreeOf } from './session-tree.ts';

const id = (name: string) => name as SessionId;
const member = (name: string, parent: string, depth: number) => ({
  id: id(name),
  depth,
  tree: { root: id('root'), parent: id(parent) },
});
const tree = [
  member('a1x', 'a1', 3),
  member('b', 'root', 1),
  member('a1', 'a', 2),
  member('a', 'root', 1),
  member('b1', 'b', 2),
];
const names = (members: readonly { readonly id: SessionId }[]): readonly string[] =>
  members.map((one) => one.id);

test('a subtree is what stands under one session, nearest first, and not that session', () => {
  expect(names(subtreeOf(tree, id('root')))).toEqual(['b', 'a', 'a1', 'b1', 'a1x']);
  expect(names(subtreeOf(tree, id('a')))).toEqual(['a1', 'a1x']);
  expect(subtreeOf(tree, id('a1x'))).toEqual([]);
});

test('generations are in the order of their depth', () => {
  expect(generationsOf(tree, id('root')).map(names)).toEqual([['b', 'a'], ['a1', 'b1'], ['a1x']]);
  expect(generationsOf(tree, id('b')).map(names)).toEqual([['b1']]);
});
