import { expect, test } from 'vitest';
import { nextPart, nothingPrinted, remaining } from './exec.ts';

test('consecutive pieces are printed, each byte once', () => {
  const first = nextPart(nothingPrinted, { offset: 0, text: 'hé' });
  expect(first).toEqual({ printed: { bytes: 3 }, text: 'hé' });
  expect(nextPart(first.printed, { offset: 0, text: 'hé' })).toEqual({ printed: { bytes: 3 }, text: '' });
  expect(nextPart(first.printed, { offset: 1, text: 'éllo' })).toEqual({
    printed: { bytes: 6 },
    text: 'llo',
  });
  expect(nextPart(first.printed, { offset: 9, text: 'late' })).toEqual({ printed: { bytes: 3 }, text: '' });
});

test('the result adds the output that was not printed', () => {
  expect(remaining({ bytes: 3 }, 'héllo', false)).toBe('llo');
  expect(remaining(nothingPrinted, 'all', false)).toBe('all');
  expect(remaining({ bytes: 3 }, 'all', false)).toBe('');
});

test('after a gap no output is repeated, and the missing part is reported', () => {
  const whole = 'head\n[... 10 bytes left out ...]\ntail';
  expect(remaining({ bytes: 2 }, whole, true)).toBe('ad\n[... 10 bytes left out ...]\ntail');
  expect(remaining({ bytes: 8 }, whole, true)).toBe('\n[... 6 bytes left out ...]\ntail');
  expect(remaining({ bytes: 16 }, whole, true)).toBe('il');
  expect(remaining({ bytes: 14 }, whole, true)).toBe('tail');
  expect(remaining({ bytes: 18 }, whole, true)).toBe('');
});
