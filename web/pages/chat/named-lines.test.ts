import { expect, test } from 'vitest';
import { parseNamedLines } from './named-lines.ts';

test('each line is a name and a value, divided at the first sign', () => {
  expect(parseNamedLines('team:red\n\n url : http://x\r\nempty:', ':')).toEqual({
    values: { team: 'red', url: ' http://x', empty: '' },
  });
  expect(parseNamedLines('A=b=c', '=')).toEqual({ values: { A: 'b=c' } });
  expect(parseNamedLines(' \n', '=')).toEqual({ values: {} });
});

test('a line without a name is a problem, which does not repeat it', () => {
  expect(parseNamedLines('A=1\npassword', '=')).toEqual({
    values: {},
    problem: 'Line 2 has no name before =',
  });
  expect(parseNamedLines('=1', '=').problem).toBe('Line 1 has no name before =');
});
