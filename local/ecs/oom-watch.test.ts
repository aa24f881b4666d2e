/** A counter of kills that the test raises, on a clock that it turns. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exitCodeOf, watchOutOfMemory } from './oom-watch.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('a kill just before the end is the end of memory', async () => {
  let kills = 0;
  const watch = watchOutOfMemory(() => kills);
  await vi.advanceTimersByTimeAsync(10_000);
  kills = 1;
  await vi.advanceTimersByTimeAsync(500);
  expect(watch.end()).toBe(true);
});

test('a call that was killed earlier does not explain a later end', async () => {
  let kills = 0;
  const watch = watchOutOfMemory(() => kills);
  kills = 1;
  await vi.advanceTimersByTimeAsync(1000);
  expect(watch.end()).toBe(false);
});

test('what the counter showed before the watch began does not count', () => {
  expect(watchOutOfMemory(() => 5).end()).toBe(false);
});

test('an exit by a signal has the code that a shell gives it', () => {
  expect([
    exitCodeOf(0, null),
    exitCodeOf(3, null),
    exitCodeOf(null, 'SIGKILL'),
    exitCodeOf(null, 'SIGTERM'),
  ]).toEqual([0, 3, 137, 143]);
});
