import { expect, test, vi } from 'vitest';
import type { Item } from './items.ts';
import { addRuns, hasLongRun, noRuns } from './long-runs.ts';
import { addPiece, emptyStream } from './text-stream.ts';

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
