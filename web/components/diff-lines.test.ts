import { expect, test } from 'vitest';
import { diffLines } from './diff-lines.ts';

test('a hunk is named by its first line, of a new file by that of the new text', () => {
  expect(diffLines('@@ -7,2 +7,2 @@\n same\n-old\n+new\n@@ -0,0 +1,1 @@\n+first\n')).toEqual([
    { kind: 'position', text: 'line 7' },
    { kind: 'same', text: ' same' },
    { kind: 'removed', text: '-old' },
    { kind: 'added', text: '+new' },
    { kind: 'position', text: 'line 1' },
    { kind: 'added', text: '+first' },
  ]);
});

test('a character that cannot be seen is written as its number', () => {
  expect(diffLines('+a\u200Bb')).toEqual([{ kind: 'added', text: '+a⟦U+200B⟧b' }]);
});
