import { describe, expect, test } from 'vitest';
import type { ManifestEntry } from './checkpoint.ts';
import { changesBetween, entriesToWrite, pathsToRemove, shownChanges } from './manifest-changes.ts';

const file = (path: string, sha256 = 'one', mode = 0o644): ManifestEntry => ({
  ...{ type: 'file', path, mode, mtimeMs: sha256.length + mode, size: 3, sha256, pack: sha256, offset: 0 },
});
const folder = (path: string, mode = 0o755): ManifestEntry => ({ type: 'directory', path, mode });
const link = (path: string, target: string): ManifestEntry => ({ type: 'symlink', path, target });

describe('the changes between two states', () => {
  test('are contents, modes, targets and kinds, never a time or a pack', () => {
    const before = [file('same'), file('mode'), file('text'), link('to', 'a'), folder('was'), file('gone')];
    const after = [
      file('same'),
      file('mode', 'one', 0o755),
      file('text', 'two'),
      link('to', 'b'),
      file('was'),
      file('new'),
    ];
    expect(changesBetween(before, after).map(({ path, change }) => `${change} ${path}`)).toEqual([
      ...['removed gone', 'modified mode', 'created new', 'modified text', 'modified to', 'modified was'],
    ]);
    expect(changesBetween(before, before)).toEqual([]);
  });

  test('are applied by removing what lies below first, and what another kind replaces', () => {
    const before = [folder('a'), folder('a/b'), file('a/b/c'), folder('was'), file('was/x')];
    const after = [file('was')];
    const changes = changesBetween(before, after);
    expect(pathsToRemove(changes)).toEqual(['was/x', 'was', 'a/b/c', 'a/b', 'a']);
    expect(entriesToWrite(changes, after)).toEqual(after);
  });

  test('are applied without removing what a folder replaces: the same again would remove the folder', () => {
    const after = [folder('a'), file('a/x'), folder('b'), file('c')];
    const changes = changesBetween([file('a'), link('b', 'a'), link('c', 'a')], after);
    expect(pathsToRemove(changes)).toEqual([]);
    expect(entriesToWrite(changes, after)).toEqual(after);
  });

  test('are applied with the closed folders above them', () => {
    const above = [folder('a', 0o555), folder('a/b', 0o755), folder('a/b/c', 0o500)];
    const beside = [folder('d', 0o555), file('d/same'), file('a/same')];
    const after = [...above, file('a/b/c/f', 'two'), ...beside];
    const changes = changesBetween([...above, file('a/b/c/f'), ...beside], after);
    expect(entriesToWrite(changes, after).map(({ path }) => path)).toEqual(['a', 'a/b/c', 'a/b/c/f']);
  });

  test('are shown without folders that follow from their files', () => {
    const changes = changesBetween([], [folder('a'), folder('a/b'), file('a/b/c'), folder('empty')]);
    expect(shownChanges(changes).map(({ path }) => path)).toEqual(['a/b/c', 'empty']);
  });

  test('are shown with folders whose permissions say something', () => {
    const opened = changesBetween([folder('a'), file('a/b')], [folder('a', 0o777), file('a/b', 'two')]);
    expect(shownChanges(opened).map(({ path }) => path)).toEqual(['a', 'a/b']);
    const made = changesBetween([], [folder('a', 0o777), file('a/b')]);
    expect(shownChanges(made).map(({ path }) => path)).toEqual(['a', 'a/b']);
  });
});

test('a person sees what is removed before what is new', () => {
  const shown = shownChanges(changesBetween([file('z')], [file('a'), file('b')]));
  expect(shown.map(({ path }) => path)).toEqual(['z', 'a', 'b']);
});
