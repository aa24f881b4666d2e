/** Samples of the platform while it works: its memory, and how long a plain turn takes among all others. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ask } from './client.ts';
import { parsed, until } from './client.ts';
import { descriptorsOf, residentMb } from './host.ts';
import type { Platform } from './platform.ts';
import type { Sample } from './record.ts';
import { readEvents } from './session.ts';

const minuteMs = 60_000;
const pauseMs = 4000;

export type Sampling = { readonly samples: readonly Sample[]; readonly end: () => Promise<void> };

/** Each plain turn is in a session of its own, so that no log that grows makes it slower. */
export const startSampling = (platform: Platform, ask: Ask, onError: (error: string) => void): Sampling => {
  const samples: Sample[] = [];
  const state = { isEnding: false };
  const begun = Date.now();
  const sample = async (): Promise<void> => {
    const minute = Math.floor((Date.now() - begun) / minuteMs);
    const memoryMb = await residentMb(platform.pid());
    const descriptors = await descriptorsOf(platform.pid());
    const at = Date.now();
    await plainTurn(ask);
    // A platform that is just starting has no memory to speak of.
    if (memoryMb > 0) samples.push({ minute, memoryMb, descriptors, latencyMs: Date.now() - at });
  };
  const live = async (): Promise<void> => {
    while (!state.isEnding) {
      await sample().catch((cause: unknown) => onError(String(cause)));
      await sleep(pauseMs);
    }
  };
  const living = live();
  return {
    samples,
    end: async () => {
      state.isEnding = true;
      await living;
    },
  };
};

const plainTurn = async (ask: Ask): Promise<void> => {
  const made = await ask('/api/sessions', { body: { provider: 'demo' } });
  const { id } = parsed<{ readonly id: string }>(made);
  await ask(`/api/sessions/${id}/messages`, { body: { text: 'hello', messageId: 'sample' } });
  await until(
    () => readEvents(ask, id),
    (events) => events.some(({ type }) => type === 'completion'),
    `sample ${id}`,
  );
  await ask(`/api/sessions/${id}`, { method: 'DELETE', also: [404, 409] });
};
