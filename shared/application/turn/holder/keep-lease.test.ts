/** A lease that is held: renewed again after a renewal that failed, reported once when it is lost; and one that is released. */

import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newSession,
  workspaceOf,
} from '../../../../tests/conformance/session-fixture.ts';
import { fake } from '../../../../tests/fake.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { TurnStore } from '../../../ports/turn-store.ts';
import { handOver, keepLease, releaseLease } from './keep-lease.ts';
import type { TurnContext } from './turn-context.ts';

const hold = async (answers: readonly (boolean | Error)[]) => {
  const { ports, warned, clock } = openQuietPorts();
  const renewed: number[] = [];
  const left = [...answers];
  let lost = 0;
  const began = clock.now;
  let stop = (): void => undefined;
  const turns = fake<TurnStore>({
    renewLease: async (_session: unknown, until: number) => {
      renewed.push(until - began);
      const answer = left.shift();
      if (left.length === 0) setImmediate(stop);
      if (answer instanceof Error) throw answer;
      return answer ?? false;
    },
  });
  const world = {
    ...ports.world,
    sleep: async (milliseconds: number) => {
      clock.now += milliseconds;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  ({ stop } = keepLease({ ...ports, turns, world }, newSession(), {
    leaseMs: 30_000,
    onLost: () => {
      lost += 1;
    },
  }));
  await expect.poll(() => renewed.length).toBeGreaterThanOrEqual(answers.length);
  return { renewed: renewed.slice(0, answers.length), lost, warned };
};

test('a failed renewal is retried at the next third', async () => {
  const { renewed, lost, warned } = await hold([true, new Error('throttled'), true]);
  expect(renewed).toEqual([40_000, 50_000, 60_000]);
  expect([lost, warned]).toEqual([0, ['a lease was not renewed']]);
});

test('a lost lease is reported once and not renewed', async () => {
  const { renewed, lost } = await hold([true, false]);
  expect([renewed, lost]).toEqual([[40_000, 50_000], 1]);
});

test.each([
  { after: 'its own idle limit', own: { idleMs: 4000 }, ms: 4000 },
  { after: "the deployment's, if it has none", own: {}, ms: 900_000 },
  {
    after: 'what is left of it, if its holder came for nothing',
    own: { idleMs: 4000 },
    restedMs: 3000,
    ms: 1000,
  },
])('a session that rests is looked at after $after', async ({ own, restedMs = 0, ms }) => {
  const { ports, clock } = openQuietPorts();
  const due: number[] = [];
  const turns = fake<TurnStore>({
    releaseLease: async (_session: unknown, { dueAt }: { readonly dueAt: number }) => {
      due.push(dueAt);
      return 'released';
    },
  });
  const session = newSession({ lastActiveAt: clock.now - restedMs, ...own });
  const limits = { idleMs: 900_000, waitStopMs: 120_000 };
  const context = { session, turn: { state: { kind: 'idle' } }, inbox: [], limits };
  await releaseLease({ ...ports, turns }, context as unknown as TurnContext);
  expect(due).toEqual([clock.now + ms]);
});

test.each([
  ['in time gives its lease back, with work that it has not seen', 10_000, { holder: '', fence: 1 }],
  ['after its lease was lost leaves the next holder its own', 60_000, { holder: 'second', fence: 2 }],
])('a handover %s', async (_what, standstillMs, lease) => {
  const { ports, clock, hooks } = openQuietPorts();
  const made = newSession({ createdAt: clock.now, lastActiveAt: clock.now });
  const { id } = made;
  await ports.sessions.create(made, { workspace: workspaceOf(made) });
  const take = (holder: string) =>
    ports.turns.takeLease(id, { holder, at: clock.now, until: clock.now + 30_000 });
  const session = await take('first');
  await ports.inbox.accept(made, message('one', clock.now), inboxLimits);
  hooks.before = async ({ constructor: { name } }) => {
    if (name !== 'GetCommand') return;
    hooks.before = async () => undefined;
    clock.now += standstillMs;
    await take('second');
  };
  await handOver(ports, { session } as unknown as TurnContext, { sessionId: id, hops: 0 });
  expect((await ports.sessions.get(id))?.lease).toMatchObject(lease);
});
