import { describe, expect, test } from 'vitest';
import { addOutput, addPiece, emptyOutput, emptyStream, type Piece } from './text-stream.ts';

const streamed = (...pieces: readonly Piece[]) => pieces.reduce(addPiece, emptyStream);

describe('a text in pieces', () => {
  test('is complete in any order of arrival', () => {
    const pieces = [
      { offset: 0, text: 'ab' },
      { offset: 2, text: 'cd' },
      { offset: 4, text: 'ef' },
    ] as const;
    const [a, b, c] = pieces;
    for (const order of [
      [a, b, c],
      [c, b, a],
      [b, c, a],
      [b, a, b, c, c],
    ])
      expect(streamed(...order)).toMatchObject({ text: 'abcdef', early: [] });
  });

  test('is shown up to the first gap', () => {
    expect(streamed({ offset: 0, text: 'ab' }, { offset: 4, text: 'ef' })).toMatchObject({
      text: 'ab',
      early: [{ offset: 4, text: 'ef' }],
    });
  });

  test('takes only the new part of a longer repeat', () => {
    expect(streamed({ offset: 0, text: 'ab' }, { offset: 0, text: 'abcd' }).text).toBe('abcd');
  });
});

describe('the output of a program', () => {
  test('keeps the order of its two streams', () => {
    const output = [
      { stream: 'stdout', offset: 0, text: 'é' },
      { stream: 'stdout', offset: 2, text: 'b' },
      { stream: 'stderr', offset: 0, text: 'oh' },
    ] as const;
    expect(output.reduce(addOutput, emptyOutput)).toEqual({
      chunks: [
        { stream: 'stdout', text: 'éb' },
        { stream: 'stderr', text: 'oh' },
      ],
      bytes: { stdout: 3, stderr: 2 },
    });
  });

  test('drops a repeat and marks a gap', () => {
    const output = [
      { stream: 'stdout', offset: 0, text: 'ab' },
      { stream: 'stdout', offset: 0, text: 'ab' },
      { stream: 'stdout', offset: 9, text: 'z' },
    ] as const;
    expect(output.reduce(addOutput, emptyOutput).chunks).toEqual([{ stream: 'stdout', text: 'ab\n[…]\nz' }]);
  });
});
