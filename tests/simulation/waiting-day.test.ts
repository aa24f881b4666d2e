/** Turns that wait for a person for a day: thirty of the two hundred that `npm run prove:sandbox -- wait` tries. */
import { expect, test } from 'vitest';
import { runWaitingDay } from './waiting-day.ts';

const turns = 30;
const timeoutMs = 240_000;

test('turns that wait for a day cost no sandbox and no function beyond the sweeps, and each goes on with its files', {
  timeout: timeoutMs,
}, async () => {
  const { emptySweeps, emptyRequests, stoppedAfterSeconds, ...counted } = await runWaitingDay(7, turns);
  expect(counted).toEqual({
    ...{ waiting: turns, hours: 24, back: turns },
    ...{ sandboxSeconds: 0, functions: 0, functionSeconds: 0 },
    ...{ sweeps: emptySweeps, requests: emptyRequests },
  });
  // The time for waiting, a sweep, the save and what a task takes to stop.
  expect(stoppedAfterSeconds).toBeLessThanOrEqual(120 + 60 + 60);
});
