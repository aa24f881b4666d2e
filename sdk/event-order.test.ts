import { expect, test } from 'vitest';
import { acceptFrames, expectUpTo, hasGap, type LoggedFrame, orderAfter, skipTo } from './event-order.ts';

const frame = (seq: number) =>
  ({ seq, type: 'system', sessionId: 's', at: '', data: { kind: 'x' } }) satisfies LoggedFrame;

/** The numbers that leave when these come in, one after the other. */
const leaving = (...numbers: readonly number[]) => {
  let order = orderAfter(-1);
  const left = numbers.map((seq) => {
    const accepted = acceptFrames(order, [frame(seq)]);
    order = accepted.order;
    return accepted.ready.map((ready) => ready.seq);
  });
  return { left: left.flat(), isWaiting: hasGap(order), early: [...order.early.keys()] };
};

test.each([
  [
    [0, 1, 2],
    [0, 1, 2],
  ],
  [
    [2, 1, 0],
    [0, 1, 2],
  ],
  [
    [0, 0, 1, 0, 1, 2, 2],
    [0, 1, 2],
  ],
  [
    [1, 0, 3, 2],
    [0, 1, 2, 3],
  ],
])('frames %j leave as %j', (numbers, left) => {
  expect(leaving(...numbers)).toEqual({ left, isWaiting: false, early: [] });
});

test('early frames wait for missing ones', () => {
  expect(leaving(0, 2, 3)).toEqual({ left: [0], isWaiting: true, early: [2, 3] });
});

test('an order that knows of more events is waiting', () => {
  expect(hasGap(expectUpTo(orderAfter(-1), 4))).toBe(true);
  expect(hasGap(expectUpTo(orderAfter(-1), -1))).toBe(false);
});

test('deleted events are skipped, and the rest follows', () => {
  const { order } = acceptFrames(orderAfter(-1), [frame(7), frame(8)]);
  const accepted = acceptFrames(skipTo(order, 7), []);
  expect(accepted.ready.map(({ seq }) => seq)).toEqual([7, 8]);
  expect(hasGap(accepted.order)).toBe(false);
});
