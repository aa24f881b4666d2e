import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';
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

test('a session id in the place of a command is no command: the refusal says where it belongs', async () => {
  const id = '4063255e-c414-4616-8709-96618624f944';
  await using there = await logIn({});
  const refused = await there.run(['exec', id, '--', 'true']);
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`sallyport exec --session ${id}`),
  });
});
