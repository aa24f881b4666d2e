import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { outputStreamMsMax } from '#shared/domain/limits.ts';
import { endInTime, isEventStream } from './timed-stream.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a stream ends earlier by the time that has passed before it', async () => {
  const cancel = vi.fn();
  const source = new ReadableStream<Uint8Array>({ cancel });
  const last = endInTime(source, { passedMs: 50_000 }).getReader().read();
  await vi.advanceTimersByTimeAsync(outputStreamMsMax - 50_001);
  expect(cancel).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect((await last).done).toBe(true);
  expect(cancel).toHaveBeenCalled();
});

test.each([
  ['text/event-stream', true],
  ['TEXT/event-stream ; charset=utf-8', true],
  ['text/event-streams', false],
  [null, false],
])('the type %s is one of events: %s', (contentType, isOne) => {
  expect(isEventStream(contentType)).toBe(isOne);
});
