/** Frames without numbers: those that overtook each other on their way are written as they had been received. */
import { expect, test } from 'vitest';
import { createArrivalOrder } from './arrival-order.ts';

const open = () => {
  const order = createArrivalOrder(20);
  const written: string[] = [];
  return {
    written,
    write: (at: number, text: string, stream = 's') =>
      order.write(stream, at, async () => {
        await Promise.resolve();
        if (text === 'refused') throw new Error('refused');
        written.push(text);
      }),
  };
};

test('frames that come together are written by the time of their receipt, equal ones as they came', async () => {
  const { written, write } = open();
  const now = Date.now();
  const times = [
    [now + 3, 'd'],
    [now + 1, 'a'],
    [now + 1, 'b'],
    [now + 2, 'c'],
  ] as const;
  await Promise.all(times.map(([at, text]) => write(at, text)));
  expect(written).toEqual(['a', 'b', 'c', 'd']);
});

test('a refused frame is refused alone, and streams do not wait for each other', async () => {
  const { written, write } = open();
  const now = Date.now();
  const refused = write(now, 'refused');
  await Promise.all([
    expect(refused).rejects.toThrow('refused'),
    write(now + 1, 'next'),
    write(now, 'other', 't'),
  ]);
  expect(written.toSorted()).toEqual(['next', 'other']);
});

test('a frame of a clock that is far ahead waits no longer than another', async () => {
  const { written, write } = open();
  await write(Date.now() + 1_000_000, 'late');
  await write(Date.now() - 1_000_000, 'early');
  expect(written).toEqual(['late', 'early']);
});
