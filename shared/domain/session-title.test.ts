import { expect, test } from 'vitest';
import { titleOf } from './session-title.ts';

test.each([
  ['List the files', 'List the files'],
  ['  Why\n\tdoes the\r\nbuild fail?  ', 'Why does the build fail?'],
  ['a\u001b[31mred\u0000', 'a [31mred'],
  ['from \u202Eright to left', 'from right to left'],
  ['x'.repeat(80), 'x'.repeat(80)],
  ['x'.repeat(81), `${'x'.repeat(79)}…`],
  ['🙂'.repeat(90), `${'🙂'.repeat(79)}…`],
  [`${'x'.repeat(78)} and more`, `${'x'.repeat(78)}…`],
  [' \n\u200B', undefined],
])('%j is called %j', (text, title) => {
  expect(titleOf(text)).toBe(title);
});
