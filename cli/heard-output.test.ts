import { expect, test } from 'vitest';
import { hear, nothingHeard, unheard } from './heard-output.ts';

test('pieces are printed while they follow one another, each byte once', () => {
  const first = hear(nothingHeard, { offset: 0, text: 'hé' });
  expect(first).toEqual({ heard: { bytes: 3 }, text: 'hé' });
  expect(hear(first.heard, { offset: 0, text: 'hé' })).toEqual({ heard: { bytes: 3 }, text: '' });
  expect(hear(first.heard, { offset: 1, text: 'éllo' })).toEqual({ heard: { bytes: 6 }, text: 'llo' });
  expect(hear(first.heard, { offset: 9, text: 'late' })).toEqual({ heard: { bytes: 3 }, text: '' });
});

test('the result brings what was not heard', () => {
  expect(unheard({ bytes: 3 }, 'héllo', false)).toBe('llo');
  expect(unheard(nothingHeard, 'all', false)).toBe('all');
  expect(unheard({ bytes: 3 }, 'all', false)).toBe('');
});

test('of a result with a gap nothing is repeated, and what nobody heard is said', () => {
  const whole = 'head\n[... 10 bytes left out ...]\ntail';
  expect(unheard({ bytes: 2 }, whole, true)).toBe('ad\n[... 10 bytes left out ...]\ntail');
  expect(unheard({ bytes: 8 }, whole, true)).toBe('\n[... 6 bytes left out ...]\ntail');
  expect(unheard({ bytes: 16 }, whole, true)).toBe('il');
  expect(unheard({ bytes: 14 }, whole, true)).toBe('tail');
  expect(unheard({ bytes: 18 }, whole, true)).toBe('');
});
