import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openScheduleRegistry, type StoredSchedule } from './schedule-registry.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('a dead letter that cannot be written is written later, and ends nothing else', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const schedule = {
    ...{ Name: 'one', GroupName: 'default', at: 5, createdAt: 1, ActionAfterCompletion: 'DELETE' },
    Target: { Arn: 'arn', RoleArn: 'role', RetryPolicy: { MaximumRetryAttempts: 0 } },
  } as unknown as StoredSchedule;
  const letters: string[] = [];
  let isFull = true;
  const registry = openScheduleRegistry({
    files: { stored: [schedule], write: async () => undefined, remove: async () => undefined },
    invoke: () => {
      throw new Error('no such function');
    },
    deadLetter: async (_schedule, problem) => {
      if (isFull) throw new Error('ENOSPC: no space left on device');
      letters.push(problem);
    },
    ...{ now: () => 10 + performance.now(), tickMs: 10, retryMs: 100 },
  });
  registry.fire();
  await vi.advanceTimersByTimeAsync(50);
  expect(said).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('ENOSPC'));
  isFull = false;
  await vi.advanceTimersByTimeAsync(200);
  expect([letters, registry.find(schedule)]).toEqual([['no such function'], undefined]);
  registry.stop();
});
