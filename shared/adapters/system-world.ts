/** `World` of a running process: its clock, its randomness, its timers. */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from '#shared/ports/world.ts';

export const systemWorld: World = {
  now: () => Date.now(),
  uuid: () => randomUUID(),
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  sleep: async (milliseconds, signal) => {
    await sleep(milliseconds, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    });
  },
};
