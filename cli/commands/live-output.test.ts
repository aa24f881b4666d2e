/** Each byte is printed once and in order; a gap that the result will not fill is marked, and output goes on. */
import { describe, expect, test } from 'vitest';
import { followPieces, nextPart, nothingPrinted, remaining } from './live-output.ts';

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

test.each(['', '; the whole is in /workspace/.sallyport/outputs/a.stdout.txt'])(
  'after a gap no output is repeated, and the missing part is reported%s',
  (place) => {
    const whole = `head\n[... 10 bytes left out${place} ...]\ntail`;
    expect(remaining({ bytes: 2 }, whole, true)).toBe(`ad\n[... 10 bytes left out${place} ...]\ntail`);
    expect(remaining({ bytes: 8 }, whole, true)).toBe(`\n[... 6 bytes left out${place} ...]\ntail`);
    expect(remaining({ bytes: 16 }, whole, true)).toBe('il');
    expect(remaining({ bytes: 14 }, whole, true)).toBe('tail');
    expect(remaining({ bytes: 18 }, whole, true)).toBe('');
  },
);

test('output that is no UTF-8 is printed once and in order, live and at the end', () => {
  const pieces = [
    { offset: 0, text: '\ufffd\ufffd\ufffd' },
    { offset: 3, text: 'hello ' },
    { offset: 9, text: '\ufffdworld' },
    { offset: 15, text: '\n' },
  ];
  const whole = `${pieces.map(({ text }) => text).join('')}end`;
  let printed = nothingPrinted;
  let shown = '';
  for (const piece of [...pieces, { offset: 90, text: 'late' }]) {
    const next = nextPart(printed, piece);
    printed = next.printed;
    shown += next.text;
  }
  expect(shown + remaining(printed, whole, false)).toBe(whole);
});

describe('output that comes faster than it is shown', () => {
  const headBytes = 256 * 1024;
  const head = { offset: 0, text: 'h'.repeat(headBytes) };
  const follow = () => {
    const shown: string[] = [];
    return { shown, pieces: followPieces((text) => shown.push(text)) };
  };

  test('goes on behind a mark where the complete output lacks the same', () => {
    const { shown, pieces } = follow();
    pieces.add(head);
    pieces.add({ offset: headBytes + 20_000, text: 'late ' });
    pieces.add({ offset: headBytes + 20_005, text: 'next' });
    expect(shown.slice(1)).toEqual(['\n[... 20000 bytes left out ...]\n', 'late ', 'next']);
    const left = headBytes + 20_009 - 4;
    const whole = `hhhh\n[... ${left - 4} bytes left out ...]\nnextend`;
    expect(pieces.finish(whole, true)).toEqual({ text: 'end', isWhole: false });
  });

  test('is left to a complete output that may be whole', () => {
    const { shown, pieces } = follow();
    pieces.add({ offset: 0, text: 'one ' });
    pieces.add({ offset: 20_000, text: 'late' });
    expect(shown.join('')).toBe('one ');
    const whole = `one ${'.'.repeat(19_996)}late`;
    expect(pieces.finish(whole, false)).toEqual({ text: whole.slice(4), isWhole: true });
  });
});
