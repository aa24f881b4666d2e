/** Paths in a saved workspace: they resolve as they would in the sandbox into which it is restored. */
import { expect, test } from 'vitest';
import type { ManifestEntry } from './checkpoint.ts';
import { savedEntryAt } from './saved-tree.ts';

const file = (path: string): ManifestEntry => ({
  ...{ type: 'file', path, mode: 0o644, mtimeMs: 5000, size: 3 },
  ...{ sha256: 'a'.repeat(64), pack: 'p', offset: 0 },
});
const folder = (path: string): ManifestEntry => ({ type: 'directory', path, mode: 0o755 });
const link = (path: string, target: string): ManifestEntry => ({ type: 'symlink', path, target });

const entries = [
  ...[folder('src'), file('src/b.txt'), file('src/a.txt'), folder('src/deep'), file('src/deep/c.txt')],
  ...[
    file('top.txt'),
    link('to-file', 'src/a.txt'),
    link('to-folder', '/workspace/src'),
    link('src/up', '../top.txt'),
  ],
  ...[link('out', '/etc/passwd'), link('far', '../../etc'), link('loop', 'loop'), link('broken', 'nothing')],
];

test.each([
  ['top.txt', 'top.txt'],
  ['./src//a.txt', 'src/a.txt'],
  ['src/../top.txt', 'top.txt'],
  ['/workspace/src/a.txt', 'src/a.txt'],
  ['../workspace/top.txt', 'top.txt'],
  ['to-file', 'src/a.txt'],
  ['to-folder/deep/c.txt', 'src/deep/c.txt'],
  ['to-folder/up', 'top.txt'],
])('%s is the file %s', (path, expected) => {
  expect(savedEntryAt(entries, path)).toMatchObject({ kind: 'file', file: { path: expected } });
});

test.each([
  ['', ['broken', 'far', 'loop', 'out', 'src', 'to-file', 'to-folder', 'top.txt']],
  ['.', ['broken', 'far', 'loop', 'out', 'src', 'to-file', 'to-folder', 'top.txt']],
  ['/workspace', ['broken', 'far', 'loop', 'out', 'src', 'to-file', 'to-folder', 'top.txt']],
  ['src', ['a.txt', 'b.txt', 'deep', 'up']],
  ['to-folder', ['a.txt', 'b.txt', 'deep', 'up']],
])('%j is a folder with its direct entries', (path, names) => {
  const found = savedEntryAt(entries, path);
  expect(found.kind === 'folder' && found.entries.map(({ name }) => name)).toEqual(names);
});

test.each([
  ['nothing', 'file_not_found'],
  ['broken', 'file_not_found'],
  ['top.txt/more', 'file_not_found'],
  ['src/a', 'file_not_found'],
  ['..', 'path_outside_workspace'],
  ['/', 'path_outside_workspace'],
  ['/etc/passwd', 'path_outside_workspace'],
  ['/workspace-of-another/x', 'path_outside_workspace'],
  ['src/../../x', 'path_outside_workspace'],
  ['out', 'path_outside_workspace'],
  ['far/passwd', 'path_outside_workspace'],
  ['loop', 'invalid_request'],
  ['a\0b', 'invalid_request'],
])('%j is refused with %s', (path, code) => {
  expect(savedEntryAt(entries, path)).toMatchObject({ kind: 'refused', code });
});

test('an entry is listed with its saved attributes', () => {
  const found = savedEntryAt([file('f'), folder('d'), link('l', 'ü')], '.');
  expect(found).toEqual({
    kind: 'folder',
    path: '',
    named: '',
    entries: [
      { name: 'd', type: 'directory', size: 0 },
      { name: 'f', type: 'file', size: 3, modifiedAt: 5000 },
      { name: 'l', type: 'symlink', size: 2 },
    ],
  });
});
