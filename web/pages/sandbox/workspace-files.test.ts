import { afterEach, expect, test, vi } from 'vitest';
import type { FileEntry } from '#sdk/routes.ts';
import { joined, parentOf, rowsOf, useWorkspaceTree } from './workspace-files.ts';

afterEach(() => void vi.unstubAllGlobals());

const entry = (name: string, type: FileEntry['type'] = 'file'): FileEntry => ({
  name,
  path: name,
  type,
  size: 1,
  modifiedAt: '2026-01-01T00:00:00.000Z',
});
const folders = new Map([
  ['', [entry('b10.txt'), entry('b9.txt'), entry('src', 'directory'), entry('link', 'symlink')]],
  ['src', [entry('main.py'), entry('deep', 'directory')]],
  ['src/deep', [entry('x')]],
]);
const shown = (...open: readonly string[]) =>
  rowsOf(folders, new Set(open)).map(({ path, level }) => `${level} ${path}`);

test('folders come first, names in the order of their numbers', () => {
  expect(shown()).toEqual(['1 src', '1 b9.txt', '1 b10.txt', '1 link']);
});

test('an open folder shows its content, a closed one hides open ones below', () => {
  expect(shown('src', 'src/deep').slice(0, 4)).toEqual([
    '1 src',
    '2 src/deep',
    '3 src/deep/x',
    '2 src/main.py',
  ]);
  expect(shown('src/deep')).toEqual(shown());
});

test('paths are joined and split', () => {
  expect([joined('', 'a'), joined('a', 'b'), parentOf('a/b/c'), parentOf('a')]).toEqual([
    'a',
    'a/b',
    'a/b',
    '',
  ]);
});

test('of two reads of a folder the newer one counts, whichever is answered first', async () => {
  const answers: ((name: string) => void)[] = [];
  vi.stubGlobal('location', { origin: 'http://x.example' });
  vi.stubGlobal(
    'fetch',
    () => new Promise((resolve) => answers.push((name) => resolve(Response.json({ files: [entry(name)] })))),
  );
  const tree = useWorkspaceTree(() => 's1');
  const [older, newer] = [tree.refresh(), tree.refresh()];
  answers[1]?.('new.txt');
  await newer;
  answers[0]?.('old.txt');
  await older;
  expect(tree.folders.value.get('')?.map(({ name }) => name)).toEqual(['new.txt']);
});
