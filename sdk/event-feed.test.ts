import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type EventPage, openEventFeed } from './event-feed.ts';
import type { LoggedFrame } from './event-order.ts';

const frame = (seq: number) =>
  ({ seq, type: 'system', sessionId: 's', at: '', data: { kind: 'x' } }) satisfies LoggedFrame;

const openFeed = (pages: Readonly<Record<number, EventPage>>) => {
  const seen: (number | string)[] = [];
  const feed = openEventFeed({
    since: -1,
    fetchAfter: (seq) => {
      seen.push(`fetch after ${seq}`);
      return Promise.resolve(pages[seq] ?? { isAnswered: false, frames: [], oldestSeq: null });
    },
    onFrame: ({ seq }) => void seen.push(seq),
    onEventsLost: (oldest) => void seen.push(`lost before ${oldest}`),
  });
  return { feed, seen };
};
const page = (...numbers: readonly [number, ...number[]]): EventPage => ({
  isAnswered: true,
  frames: numbers.map(frame),
  oldestSeq: numbers[0],
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a frame out of order is waited for', async () => {
  const { feed, seen } = openFeed({});
  for (const seq of [0, 2, 1]) feed.take(frame(seq));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen).toEqual([0, 1, 2]);
});

test('a lost frame is fetched', async () => {
  const { feed, seen } = openFeed({ 0: page(1, 2) });
  feed.take(frame(0));
  feed.take(frame(2));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen).toEqual([0, 'fetch after 0', 1, 2]);
});

test('an event that the server announced is fetched if it does not arrive', async () => {
  const { feed, seen } = openFeed({ [-1]: page(0, 1) });
  feed.expect(1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen).toEqual(['fetch after -1', 0, 1]);
});

test('a long log is fetched page by page', async () => {
  const { feed, seen } = openFeed({ [-1]: page(0, 1), 1: page(2) });
  feed.expect(2);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen).toEqual(['fetch after -1', 0, 1, 'fetch after 1', 2]);
});

test('deleted events are reported, and the rest is delivered', async () => {
  const purged = { isAnswered: true, frames: [], oldestSeq: 5 };
  const { feed, seen } = openFeed({ 0: purged, 4: page(5, 6) });
  feed.take(frame(0));
  feed.take(frame(6));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen).toEqual([0, 'fetch after 0', 'lost before 5', 'fetch after 4', 5, 6]);
});

test('a fetch without an answer is retried until the feed is stopped', async () => {
  const { feed, seen } = openFeed({});
  feed.expect(0);
  await vi.advanceTimersByTimeAsync(4000);
  feed.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen).toEqual(['fetch after -1', 'fetch after -1']);
});

test('a stopped feed delivers no events of a running fetch', async () => {
  const { feed, seen } = openFeed({ [-1]: page(0) });
  feed.expect(0);
  vi.advanceTimersByTime(1000);
  feed.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen).toEqual(['fetch after -1']);
});
