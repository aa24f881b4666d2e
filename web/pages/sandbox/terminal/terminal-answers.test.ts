import { expect, test } from 'vitest';
import { isAnswer } from './terminal-answers.ts';

test.each([
  ['\u001b[?1;2c', 'the kind of terminal'],
  ['\u001b[24;80R', 'the place of the cursor'],
  ['\u001b[0n', 'the state'],
  ['\u001b[?2026;2$y', 'a mode'],
  ['\u001b]11;rgb:1111/1919/1a1a\u001b\\', 'a colour'],
  ['\u001bP1$r0m\u001b\\', 'a setting'],
])('%j answers a question about %s', (data) => {
  expect(isAnswer(data)).toBe(true);
});

test.each([
  'a',
  '\r',
  '\u001b',
  '\u001b[A',
  '\u001b[1;5C',
  '\u001b[200~c\u001b[201~',
  '\u001bOP',
  '\u001b[3~',
])('%j is typed', (data) => {
  expect(isAnswer(data)).toBe(false);
});
