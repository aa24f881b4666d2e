/** Details of a session that its client changes while a function holds its turn: each holds from the next commit on. */
import { expect, test } from 'vitest';
import { makeCallerStore } from '#shared/adapters/aws/dynamo/caller-store.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import type { LoopDeps } from '#shared/application/deps.ts';
import { changeSession } from '#shared/application/session/change-session.ts';
import { runTurn } from '#shared/application/turn/turn-loop.ts';
import type { TurnId } from '#shared/domain/ids.ts';
import type { ModelChunk, ModelRequest } from '#shared/domain/model.ts';
import type { Session } from '#shared/domain/session.ts';
import type { DetailsChange } from '#shared/domain/session-details.ts';
import type { TurnCommit } from '#shared/ports/turn-store.ts';
import { inboxLimits, message, newSession, note, onTable } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();
const ignore = (): void => undefined;
const lifetimes = {
  ...{ idleMs: 60_000, executionIdleMs: 60_000, waitStopMs: 60_000 },
  ...{ historyMs: 86_400_000, pausedMs: 86_400_000 },
};

const usage = { inputTokens: 1, outputTokens: 1 };
const hello: readonly ModelChunk[] = [
  { type: 'text', text: 'hello' },
  { type: 'end', end: 'end_turn', usage },
];

/** A session with messages, and a client who changes it while its model answers. */
const open = async (made: Partial<Session>, messages = ['A']) => {
  const stores = onTable(fixture.table);
  const { create, inbox, read, sessions, turns } = stores;
  const { id } = await create(newSession(made));
  const now = Date.now();
  for (const [index, name] of messages.entries())
    await inbox.accept(await read(id), message(name, now + index), inboxLimits);
  const asked: ModelRequest[] = [];
  const changes: DetailsChange[] = [];
  const reads = { sessions: 0 };
  const get: typeof sessions.get = (of) => {
    reads.sessions += 1;
    return sessions.get(of);
  };
  const ports = {
    ...{ ...stores, sessions: { ...sessions, get }, turns },
    callers: makeCallerStore(fixture.table),
    connections: makeConnectionStore(fixture.table),
    webhooks: makeWebhookStore(fixture.table),
    sockets: { post: () => Promise.resolve('sent') },
    models: {
      open: () =>
        Promise.resolve({
          stream: async function* (request: ModelRequest) {
            asked.push(request);
            const change = changes.shift();
            if (change !== undefined) await patch(change);
            yield* hello;
          },
        }),
    },
    costOf: () => 5,
    mcpServers: { list: () => Promise.resolve([]) },
    recursionDepthMax: 3,
    slotLimits: { executionMax: 10, agentMax: 10, conversationsMax: 100, evictsIdle: true },
    ...{ lifetimes, correlation: { id: () => 'c', follow: ignore } },
    telemetry: { info: ignore, warn: ignore, error: ignore, count: ignore, duration: ignore },
    ...{ world: systemWorld, invoker: { runTurn: () => Promise.resolve() } },
    // Ports that run tools are absent: no tool runs here.
  } as unknown as LoopDeps;
  const patch = async (change: DetailsChange): Promise<void> => {
    await changeSession({ ...ports, sessions }, await read(id), { change, lifetimes });
  };
  const run = (): Promise<void> =>
    runTurn(ports, {
      ...{ sessionId: id, hops: 0, deadlineAt: Date.now() + 900_000 },
      settings: {
        ...{ outputTokensMax: 100, leaseMs: 30_000, toolTimes: { waitMs: 60_000, secondsMax: 3600 } },
        limits: {
          turn: { stepsMax: 5, callsMax: 4, usdMax: 100 },
          history: { tokensMax: 1_000_000, messagesMax: 1000 },
          tree: { recursionDepthMax: 3, agentsPerSessionMax: 50, costUsdMax: 100 },
          ...{ idleMs: lifetimes.idleMs, waitStopMs: lifetimes.waitStopMs },
        },
      },
    });
  return { ...{ ports, id, asked, changes, reads, patch, run }, read: () => read(id) };
};

const idleOf = ({ lastActiveAt, dueAt = 0 }: Session): number => dueAt - lastActiveAt;

test.each([
  ['shorter', {}, 4000, 4000],
  ['longer', { idleMs: 2000 }, 9000, 9000],
  ['the deployment’s', { idleMs: 2000 }, undefined, lifetimes.idleMs],
])(
  'an idle time that becomes %s while the model answers is that of the look after it, and the answer is paid once',
  async (...[, own, idleMs, expected]) => {
    const { asked, changes, reads, run, read } = await open(own);
    changes.push({ idleMs });
    await run();
    const session = await read();
    expect([session.status, session.lease.holder, asked.length, session.costUsd]).toEqual(['idle', '', 1, 5]);
    expect(idleOf(session)).toBe(expected);
    // The session of now came with the refusal.
    expect(reads.sessions).toBe(0);
  },
);

test('a level of thinking holds from the next model call on', async () => {
  const { asked, changes, run } = await open({ thinking: 'low' }, ['A', 'B', 'C', 'D']);
  changes.push({ thinking: 'high' }, { labels: { a: 'b' } }, { thinking: undefined });
  await run();
  expect(asked.map(({ thinking }) => thinking)).toEqual(['low', 'high', 'high', undefined]);
});

test('a title that is chosen as the first turn begins stays', async () => {
  const { ports, patch, run, read } = await open({});
  const { turns } = ports;
  const loadWork: typeof turns.loadWork = async (of) => {
    await patch({ title: 'mine' });
    return turns.loadWork(of);
  };
  Object.assign(ports, { turns: { ...turns, loadWork } });
  await run();
  expect((await read()).title).toBe('mine');
});

test('a lease is given back without a change only by the idle time that was read', async () => {
  const { ports, id, read, patch } = await open({});
  const held = await ports.turns.takeLease(id, { holder: 'me', at: Date.now(), until: Date.now() + 30_000 });
  if (held === undefined) throw new Error('the lease was not free');
  await patch({ labels: { a: 'b' }, idleMs: 4000 });
  expect(await ports.turns.releaseLease(held, { dueAt: Date.now() + 60_000, isIdle: false })).toBe('kept');
  const now = await read();
  expect(now.lease.holder).toBe('me');
  await patch({ labels: {} });
  const left = { dueAt: now.lastActiveAt + 4000, isIdle: false };
  expect(await ports.turns.releaseLease(now, left)).toBe('released');
  expect(idleOf(await read())).toBe(4000);
});

test('a writer without the lease leaves the look where a shorter idle time has brought it', async () => {
  const { ports, read, patch } = await open({});
  const session = await read();
  await patch({ idleMs: 4000 });
  const { lastActiveAt } = await read();
  const dueOf = ({ idleMs = lifetimes.idleMs }: Pick<Session, 'idleMs'>): number => lastActiveAt + idleMs;
  const commit: TurnCommit = {
    ...{ session, version: 0, state: { kind: 'done', turnId: 't' as TurnId, stopReason: 'cancelled' } },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0, history: [], log: [note('x')], at: lastActiveAt },
    ...{ release: false, wakes: false, dueAt: dueOf(session), dueOf },
  };
  expect(await ports.turns.commit(commit)).toMatchObject({ status: 'committed', session: { idleMs: 4000 } });
  expect(idleOf(await read())).toBe(4000);
});
