import { describe, expect, test, vi } from 'vitest';
import type { Item } from './items.ts';
import {
  addOutput,
  addPiece,
  addRuns,
  emptyOutput,
  emptyStream,
  hasLongRun,
  noRuns,
  type Piece,
} from './text-stream.ts';

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
      unsure: { stdout: 0, stderr: 0 },
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

test('output that is no UTF-8 has more bytes as text: what follows it is no repeat', () => {
  const output = [
    { stream: 'stdout', offset: 0, text: '\ufffd\ufffd\ufffd' },
    { stream: 'stdout', offset: 3, text: 'hello ' },
    { stream: 'stdout', offset: 3, text: 'hello ' },
    { stream: 'stdout', offset: 9, text: 'world' },
  ] as const;
  expect(output.reduce(addOutput, emptyOutput).chunks).toEqual([
    { stream: 'stdout', text: '\ufffd\ufffd\ufffdhello world' },
  ]);
});

const run = (length: number): string => 'x'.repeat(length);

test('a run is long by its characters between two spaces, whatever pieces it came in', () => {
  expect(addRuns(noRuns, `${run(500)} ${run(500)}\n${run(500)}`)).toEqual({ last: 500, hasLong: false });
  expect(addRuns(noRuns, `a ${run(501)} b`).hasLong).toBe(true);
  const pieces = [`a ${run(300)}`, run(200), ' and ', run(250), run(250)];
  expect(pieces.reduce(addRuns, noRuns)).toEqual({ last: 500, hasLong: false });
  expect([...pieces, 'x'].reduce(addRuns, noRuns).hasLong).toBe(true);
  expect([...pieces, 'x', ' short'].reduce(addRuns, noRuns).hasLong).toBe(true);
});

test('a streamed text is read piece by piece, and a complete one once', () => {
  const split = vi.spyOn(String.prototype, 'split');
  const stream = ['ab ', run(400), run(200)].reduce(
    (before, text) => addPiece(before, { offset: before.text.length, text }),
    emptyStream,
  );
  const growing: Item = { kind: 'answer', id: 'a', text: stream.text, stream };
  const complete: Item = { kind: 'answer', id: 'a', text: stream.text, stream: null };
  expect([hasLongRun(growing), hasLongRun(growing), hasLongRun(complete), hasLongRun(complete)]).toEqual(
    Array(4).fill(true),
  );
  const read = split.mock.contexts.map((text) => String(text).length);
  split.mockRestore();
  expect(read).toEqual([3, 400, 200, 603]);
});
