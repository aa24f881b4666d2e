import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { FileEntry } from '#sdk/routes.ts';
import {
  cutFolders,
  joined,
  parentOf,
  readFile,
  rowsOf,
  typesAt,
  useWorkspaceTree,
  versionOf,
} from './workspace-files.ts';

afterEach(() => void vi.unstubAllGlobals());

const entry = (name: string, type: FileEntry['type'] = 'file'): FileEntry => ({
  name,
  path: name,
  type,
  size: 1,
  modifiedAt: '2026-01-01T00:00:00.000Z',
});
const whole = (entries: readonly FileEntry[]) => ({ entries, isCut: false });
const folders = new Map([
  ['', whole([entry('b10.txt'), entry('b9.txt'), entry('src', 'directory'), entry('link', 'symlink')])],
  ['src', whole([entry('main.py'), entry('deep', 'directory')])],
  ['src/deep', whole([entry('x')])],
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
  expect(tree.folders.value.get('')?.entries.map(({ name }) => name)).toEqual(['new.txt']);
});

test('what is at some paths is found with one list of each folder, and a missing folder is not asked for', async () => {
  const asked: string[] = [];
  vi.stubGlobal('location', { origin: 'http://x.example' });
  vi.stubGlobal('fetch', async (url: string) => {
    const path = new URL(url).searchParams.get('path') ?? '';
    asked.push(path);
    const { entries } = folders.get(path === '.' ? '' : path) ?? whole([]);
    return Response.json({ files: entries });
  });
  const paths = ['b9.txt', 'b9.txt/below', 'new.txt', 'src/main.py', 'src/deep', 'src/deep/y', 'new/deep/z'];
  expect([...(await typesAt('s1', paths))]).toEqual([
    ['b9.txt', 'file'],
    ['src/main.py', 'file'],
    ['src/deep', 'directory'],
  ]);
  expect(asked).toEqual(['.', 'src', 'src/deep']);
});

test('a file that breaks off says what to do', async () => {
  vi.stubGlobal('location', { origin: 'http://x.example' });
  vi.stubGlobal('fetch', async () => {
    const pull = (controller: ReadableStreamDefaultController) =>
      controller.error(new TypeError('terminated'));
    return new Response(new ReadableStream({ pull }));
  });
  await expect(readFile('s1', 'a.txt')).rejects.toMatchObject({
    code: 'connection_lost',
    message: 'The download broke off before its end.',
    suggestions: [expect.stringContaining('Check your connection'), expect.stringContaining('try again')],
  });
});

describe('a folder with more entries than a list has', () => {
  const modifiedAt = '2026-01-02T00:00:00.000Z';
  const answer = (address: string, method: string): Response => {
    if (address.endsWith('path=nothing.txt'))
      return Response.json({ error: { code: 'file_not_found', message: 'no' } }, { status: 404 });
    if (method !== 'HEAD') return Response.json({ files: [entry('a.txt')], truncated: true });
    if (!address.endsWith('/z.txt')) return new Response(null, { status: 404 });
    return new Response(null, {
      headers: { 'x-sallyport-size': '7', 'x-sallyport-modified-at': modifiedAt },
    });
  };
  beforeEach(() => {
    vi.stubGlobal('location', { origin: 'http://x.example' });
    vi.stubGlobal('fetch', async (url: string, { method }: RequestInit) => answer(url, method ?? 'GET'));
  });

  test('is named while it is open, with the number of those shown', async () => {
    const tree = useWorkspaceTree(() => 's1');
    await tree.toggle('src');
    expect(cutFolders(tree.folders.value, tree.open.value)).toEqual([{ path: 'src', shown: 1 }]);
    await tree.toggle('src');
    expect(cutFolders(tree.folders.value, tree.open.value)).toEqual([]);
  });

  test('has a file that the list leaves out', async () => {
    expect(await versionOf('s1', 'z.txt')).toMatchObject({ size: 7, modifiedAt });
    expect(await versionOf('s1', 'nothing.txt')).toBeUndefined();
    expect([...(await typesAt('s1', ['a.txt', 'z.txt', 'nothing.txt'])).keys()]).toEqual(['a.txt', 'z.txt']);
  });
});
