/** Waiting for a slot: as long as was asked for, and no longer. */
import { expect, test } from 'vitest';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { SessionId } from '../../domain/ids.ts';
import { deploymentOwner } from '../../domain/principal.ts';
import type { CreateRequest } from './create-session.ts';
import { createSessionWhenFree } from './create-session-when-free.ts';

const request: CreateRequest = {
  id: crypto.randomUUID() as SessionId,
  principal: { owner: deploymentOwner, scope: 'admin', tokenHash: 'a' },
  options: { kind: 'execution' },
  defaults: {
    ...{ provider: 'demo', flavor: 'small', template: 'python' },
    lifetimes: { idleMs: 1000, executionIdleMs: 1000, historyMs: 100_000 },
    slots: { executionMax: 10, agentMax: 10 },
  },
};

const waitFor = async (waitSeconds: number, freeAfterMs: number) => {
  const { ports, clock } = openQuietPorts();
  const began = clock.now;
  const sessions = {
    ...ports.sessions,
    create: async (...given: Parameters<typeof ports.sessions.create>) =>
      clock.now - began < freeAfterMs ? ('full' as const) : ports.sessions.create(...given),
  };
  const wait = { waitSeconds, evictIdle: false, correlationId: 'c' };
  const made = await createSessionWhenFree({ ...ports, sessions }, request, wait).catch(
    (error: unknown) => error,
  );
  return { made, waitedMs: clock.now - began };
};

test.each([1, 2, 5, 60])('a slot that is released in the last of %d seconds is acquired', async (seconds) => {
  const { made, waitedMs } = await waitFor(seconds, seconds * 1000);
  expect(made).toMatchObject({ id: request.id, status: 'ready' });
  expect(waitedMs).toBe(seconds * 1000);
});

test.each([0, 1, 2, 60])('without a slot it is refused after %d seconds', async (seconds) => {
  const { made, waitedMs } = await waitFor(seconds, Number.POSITIVE_INFINITY);
  expect(made).toMatchObject({ code: 'resource_limit_exceeded' });
  expect(waitedMs).toBe(seconds * 1000);
});
