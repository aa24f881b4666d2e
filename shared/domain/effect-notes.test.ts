import { expect, test } from 'vitest';
import type { EffectFile } from './effect.ts';
import { effectNotes, missingLines } from './effect-notes.ts';

const entry = (rest: Partial<EffectFile>): EffectFile => ({
  path: 'a',
  change: 'modified',
  bytes: 3,
  ...rest,
});
const sha256 = '0123456789abcdef'.repeat(4);
const digest = 'SHA-256 0123456789abcdef…';
const binary = 'No lines shown: binary or too long.';

test.each<[rest: Partial<EffectFile>, notes: readonly string[], lines: string | undefined]>([
  [{}, [], 'No lines shown: binary, too long, or changed in its permissions alone.'],
  [{ change: 'created', type: 'symlink', target: '/etc/passwd' }, ['a link', '→ /etc/passwd'], undefined],
  [
    { type: 'symlink', target: 'b\u200b', targetBefore: 'c\n' },
    ['a link, changed', '→ b⟦U+200B⟧', 'was → c⟦U+000A⟧'],
    undefined,
  ],
  [
    { type: 'symlink', typeBefore: 'file', target: '../x' },
    ['a file, replaced by a link', '→ ../x'],
    undefined,
  ],
  [
    { type: 'file', typeBefore: 'symlink', targetBefore: 'x', sha256, diff: '+x' },
    ['a link, replaced by a file', 'was → x'],
    undefined,
  ],
  [
    { type: 'directory', mode: '700', modeBefore: '755' },
    ['a folder, changed', 'permissions rwxr-xr-x → rwx------'],
    undefined,
  ],
  [
    { type: 'file', mode: '755', modeBefore: '640' },
    ['permissions rw-r----- → rwxr-xr-x'],
    'Its content stays: changed in its permissions alone.',
  ],
  [{ change: 'created', type: 'file', mode: 'x\n' }, ['permissions x⟦U+000A⟧'], binary],
  [{ type: 'file', sha256 }, [digest], binary],
  [{ change: 'removed', type: 'file', sha256, bytes: 0 }, [digest], 'It is empty.'],
  [{ type: 'file', sha256, diff: '+x' }, [], undefined],
  [{ type: 'file', sha256, diff: '+x\n… 8 more lines' }, [digest], undefined],
  [{ type: 'file', sha256, diff: '+x\n… cut' }, [digest], undefined],
  [{ type: 'file', sha256, diff: '+… x' }, [], undefined],
  [{ type: 'file', sha256, diff: '' }, [], 'No lines differ.'],
])('%j has the notes %j, and its lines: %s', (rest, notes, lines) => {
  expect(effectNotes(entry(rest))).toEqual(notes);
  expect(missingLines(entry(rest))).toBe(lines);
});
