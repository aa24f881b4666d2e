/** The one name of a file, for every spelling of its path. */
import { expect, test } from 'vitest';
import { namedPath } from './named-path.ts';

test.each([
  ['a/b', 'a/b'],
  ['a//b', 'a/b'],
  ['./a/./b', 'a/b'],
  ['/workspace/a', 'a'],
  ['a/../b', 'b'],
  ['.', ''],
  ['/workspace/', ''],
  ['..data/b', '..data/b'],
  ['/shared//x', '/shared/x'],
  ['../shared/x', '/shared/x'],
])('%j is named %j', (path, named) => {
  expect(namedPath('/workspace', path)).toBe(named);
});
