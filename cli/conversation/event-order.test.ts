import { expect, test } from 'vitest';
import { acceptFrames, orderFrom, skipTo } from './event-order.ts';

const frame = (seq: number) => ({ type: 'message', sessionId: 's', seq, data: {} });

test('frames leave in order and once, early ones wait', () => {
  const first = acceptFrames(orderFrom(4), [frame(6), frame(3), frame(7)]);
  expect(first).toEqual({ order: { lastSeq: 4, early: [frame(6), frame(7)] }, ready: [] });
  expect(acceptFrames(first.order, [frame(5), frame(6)])).toEqual({
    order: { lastSeq: 7, early: [] },
    ready: [frame(5), frame(6), frame(7)],
  });
});

test('what the log has dropped is waited for no more', () => {
  expect(skipTo(orderFrom(4), 10)).toEqual({ lastSeq: 9, early: [] });
  expect(skipTo(orderFrom(20), 10)).toEqual({ lastSeq: 20, early: [] });
});
