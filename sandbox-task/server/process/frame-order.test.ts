/** Numbered frames: written in its order, once, and never past one that is missing. */
import { expect, test } from 'vitest';
import { createFrameOrder } from './frame-order.ts';

const open = (waitMs?: number) => {
  const order = createFrameOrder(waitMs);
  const written: string[] = [];
  const write = (number: number, text: string, stream = 's') =>
    order.write(stream, number, async () => {
      await Promise.resolve();
      written.push(text);
    });
  return { order, written, write };
};

test('pieces that arrive in any order are written in theirs', async () => {
  const { written, write } = open();
  await Promise.all([write(2, 'c'), write(0, 'a'), write(3, 'd'), write(1, 'b')]);
  expect(written).toEqual(['a', 'b', 'c', 'd']);
});

test('a repeated number is written once, also while the first one is being written', async () => {
  const { written, write } = open();
  await Promise.all([write(0, 'a'), write(0, 'again')]);
  await write(0, 'again');
  expect(written).toEqual(['a']);
});

test('streams do not wait for each other', async () => {
  const { written, write } = open();
  const late = write(1, 'late');
  await write(0, 'other', 't');
  expect(written).toEqual(['other']);
  await write(0, 'early');
  await late;
  expect(written).toEqual(['other', 'early', 'late']);
});

test('nothing is written after a missing piece, until that one comes', async () => {
  const { written, write } = open(1);
  await expect(write(1, 'b')).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('frame 0 '),
  });
  await write(0, 'a');
  await write(1, 'b');
  expect(written).toEqual(['a', 'b']);
});

test('a piece that was refused holds the others back, and may come again', async () => {
  const { order, written, write } = open();
  const refused = order.write('s', 0, async () => {
    throw new Error('too fast');
  });
  const next = write(1, 'b');
  await expect(refused).rejects.toThrow('too fast');
  expect(written).toEqual([]);
  await write(0, 'a');
  await next;
  expect(written).toEqual(['a', 'b']);
});
