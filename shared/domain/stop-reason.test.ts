import { expect, test } from 'vitest';
import { stopReason } from './stop-reason.ts';

test.each<[Parameters<typeof stopReason>[0], string]>([
  [{}, ''],
  [{ reason: '', stoppedReason: '' }, ''],
  [{ exitCode: 0 }, 'exit code 0'],
  [{ stoppedReason: 'idle' }, 'idle'],
  [{ reason: 'OutOfMemoryError', exitCode: 137 }, 'OutOfMemoryError; exit code 137'],
  [{ exitCode: 143, stoppedReason: 'idle' }, 'exit code 143; idle'],
  [
    {
      reason: 'OutOfMemoryError: Container killed due to memory usage',
      exitCode: 137,
      stoppedReason: 'Essential container in task exited',
    },
    'OutOfMemoryError: Container killed due to memory usage; exit code 137; Essential container in task exited',
  ],
])('of %j a task says %j', (task, expected) => {
  expect(stopReason(task)).toBe(expected);
});
