import { expect, test } from 'vitest';
import { createExecutor } from './executor.ts';
import { createLogRing } from './logs.ts';
import { createMemoryWatch } from './memory-watch.ts';
import type { UserSide } from './user-side.ts';

test('the measurement of a call that cannot be started ends', async () => {
  let open = 0;
  const measurePeak = () => {
    open += 1;
    const end = (): void => {
      open -= 1;
    };
    return { sample: () => undefined, readMb: () => undefined, end };
  };
  const execute = createExecutor({
    userSide: { execute: () => Promise.reject(new Error('no runner')) } as unknown as UserSide,
    limits: { memoryMbMax: 512, processesMax: 256 },
    counters: { measurePeak },
    memory: createMemoryWatch(undefined),
    logRing: createLogRing({ linesMax: 10, bytesMax: 1000 }),
    running: new Set(),
  });
  const context = { signal: new AbortController().signal, onOutput: () => undefined };
  const call = execute({ work: { argv: ['true'] }, timeoutSeconds: 1 }, context);
  await expect(call).rejects.toThrow('no runner');
  expect(open).toBe(0);
});
