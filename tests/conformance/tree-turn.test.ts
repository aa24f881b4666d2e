/** Turns of the sessions of one tree over the table: what they spend together, and who has to wait for whom. */

import { setTimeout as sleep } from 'node:timers/promises';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { makeApprovalStore } from '#shared/adapters/aws/dynamo/approvals.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { transact } from '#shared/adapters/aws/dynamo/transaction.ts';
import { growTree, makeTreeStore } from '#shared/adapters/aws/dynamo/trees.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import type { Deps, LoopDeps } from '#shared/application/deps.ts';
import { cancelTree, cancelTurn } from '#shared/application/turn/requests/cancel-turn.ts';
import type { TurnSettings } from '#shared/application/turn/turn-loop.ts';
import { runTurn } from '#shared/application/turn/turn-loop.ts';
import type { CallId, MessageId, SessionId, TurnId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { ModelChunk, ProviderName, TokenUsage } from '#shared/domain/model.ts';
import type { Session } from '#shared/domain/session.ts';
import type { Acting } from '#shared/domain/turn/turn.ts';
import { AppError } from '#shared/errors.ts';
import type { ModelCaller } from '#shared/ports/models.ts';
import { atOnce, inboxLimits, message, newSession, onTable, tally } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

/** A call of at most a dollar: a cent for each token that the model says. */
const settings: TurnSettings = {
  outputTokensMax: 100,
  leaseMs: 30_000,
  toolTimes: { waitMs: 60_000, secondsMax: 3600 },
  limits: {
    turn: { stepsMax: 5, callsMax: 4, usdMax: 4 },
    history: { tokensMax: 1000, messagesMax: 50 },
    tree: { recursionDepthMax: 3, agentsPerSessionMax: 50, costUsdMax: 4 },
    idleMs: 60_000,
    waitStopMs: 60_000,
  },
};
const costOf = (_provider: ProviderName, _model: string, { outputTokens }: TokenUsage): number =>
  outputTokens / 100;

type Answer = (signal: AbortSignal, caller?: ModelCaller) => AsyncIterable<ModelChunk>;

const saying = (outputTokens: number): Answer =>
  async function* (signal) {
    await sleep(5, undefined, { signal });
    yield { type: 'text', text: 'hello' };
    yield { type: 'end', end: 'end_turn', usage: { inputTokens: 1, outputTokens } };
  };
const speechless: Answer = async function* (signal) {
  await sleep(20_000, undefined, { signal });
  yield* saying(1)(signal);
};
/** A quarter of a dollar is reported, of a dollar that is reserved. */
const quarter = { inputTokens: 7, outputTokens: 25 };
const halfway: Answer = async function* (signal, { onUsage } = {}) {
  onUsage?.(quarter);
  yield { type: 'text', text: 'half' };
  yield* speechless(signal);
};
const broken: Answer = async function* (_signal, { onUsage } = {}) {
  onUsage?.(quarter);
  yield { type: 'text', text: 'half' };
  throw new AppError('provider_unavailable', 'cut');
};
const thoughtless: Answer = async function* (_signal, { onUsage } = {}) {
  onUsage?.(quarter);
  yield { type: 'reasoning', text: 'hm' };
  throw new AppError('provider_unavailable', 'cut');
};
const refusing: Answer = async function* () {
  yield await Promise.reject(new AppError('content_refused', 'no'));
};

const open = async (answer: Answer, { spentUsd = 0 } = {}) => {
  const { sessions, turns, inbox, eventLog, create, read } = onTable(fixture.table);
  const trees = makeTreeStore(fixture.table);
  const root = await create(newSession({ hasChildren: true, costUsd: spentUsd }));
  const grown = growTree(fixture.table.name, { root: root.id, spentUsd, agentsMax: 50 });
  await transact(fixture.table, new TransactWriteCommand({ TransactItems: [grown] }));
  let asked = 0;
  let current = answer;
  const ports = {
    ...{ sessions, turns, inbox, eventLog },
    trees,
    connections: makeConnectionStore(fixture.table),
    webhooks: makeWebhookStore(fixture.table),
    approvals: makeApprovalStore(fixture.table),
    sockets: { post: () => Promise.resolve('sent' as const) },
    models: {
      open: () =>
        Promise.resolve({
          stream: (_request: unknown, signal: AbortSignal, caller?: ModelCaller) => {
            asked += 1;
            return current(signal, caller);
          },
        }),
    },
    costOf,
    mcpServers: { list: () => Promise.resolve([]) },
    workspaces: { get: () => Promise.resolve(undefined) },
    slotLimits: { executionMax: 10, agentMax: 10, conversationsMax: 100, evictsIdle: true },
    lifetimes: { idleMs: 900_000, waitStopMs: 900_000 },
    correlation: { id: () => 'c', follow: () => undefined },
    telemetry: Object.fromEntries(
      ['info', 'warn', 'error', 'count', 'duration'].map((name) => [name, () => undefined]),
    ),
    world: systemWorld,
    invoker: { runTurn: () => Promise.resolve() },
    // Ports that run tools are absent: no answer here asks for a tool.
  } as unknown as LoopDeps;
  return {
    root,
    ports,
    asked: () => asked,
    answerBy: (next: Answer) => {
      current = next;
    },
    newChild: (): Promise<Session> =>
      create(newSession({ tree: { root: root.id, parent: root.id }, project: root.project })),
    newSliced: async (): Promise<Session> => {
      const { id, ...session } = newSession({ project: root.project });
      const position = { root: root.id, parent: root.id, slices: [id] };
      const child = await create({ ...session, id, tree: position });
      await trees.addSlice(root.id, { session: id, usdMax: 4, tokensMax: 1_000_000 });
      return child;
    },
    say: async (id: SessionId, messageId: string) =>
      inbox.accept(await read(id), message(messageId, Date.now()), inboxLimits),
    run: (sessionId: SessionId, remainingMs = 900_000) =>
      runTurn(ports, {
        sessionId,
        hops: 0,
        deadlineAt: Date.now() + remainingMs,
        settings,
      }),
    tree: async () => {
      const tree = await trees.read(root.id);
      if (tree === undefined) throw new Error('the tree is gone');
      const { spentUsd, reserved } = tree;
      return { spentUsd, reserved };
    },
    ends: async (id: SessionId): Promise<readonly string[]> =>
      (await eventLog.read(id, { since: -1, eventsMax: 1000 })).events.flatMap((event) =>
        event.type === 'completion' ? [event.data.stopReason] : [],
      ),
  };
};

const acting: Omit<Acting, 'calls'> = {
  ...{ kind: 'acting', turnId: 't' as TurnId, messageId: 'a' as MessageId, step: 1, spentUsd: 0 },
  ...{ usage: { inputTokens: 0, outputTokens: 0 }, policy: { mode: 'auto', grants: [] } },
};
const nothingSaid = { log: [], history: [], release: false, wakes: false, dueAt: 1 };

/** A turn with one approved call of the tool `session`. */
const approve = async (
  { sessions, turns }: Deps<'sessions' | 'turns'>,
  id: SessionId,
  args: JsonObject,
): Promise<void> => {
  const session = await sessions.get(id);
  if (session === undefined) throw new Error('the session is gone');
  const route = { kind: 'platform', tool: 'session' } as const;
  const asked = { callId: 'call' as CallId, name: 'session', args, askedHuman: false, route } as const;
  const call = { ...asked, digest: 'd', askedAt: 'then' };
  const state: Acting = { ...acting, calls: [{ ...call, status: 'approved' }] };
  const { turn } = await turns.loadWork(id);
  await turns.commit({ ...turn, session, state, at: 1, ...nothingSaid });
};

test('ten concurrent sessions spend at most their limit, and report it', async () => {
  const { root, newChild, say, run, tree, ends, asked } = await open(saying(75));
  const children = await atOnce(9, newChild);
  const all = [root, ...children];
  await Promise.all(
    all.map(async ({ id }) => {
      for (const messageId of ['a', 'b', 'c']) await say(id, messageId);
      await run(id);
    }),
  );
  const { spentUsd, reserved } = await tree();
  // A sixth could cost more than the quarter that is left.
  expect([spentUsd, reserved]).toEqual([3.75, {}]);
  expect(asked()).toBe(5);
  const reasons = (await Promise.all(all.map(({ id }) => ends(id)))).flat();
  expect(tally(reasons)).toEqual({ end_turn: 5, budget_exceeded: 25 });
});

test('a turn whose tree has spent everything ends without a model call, though its own session has spent nothing', async () => {
  const { newChild, say, run, ends, asked } = await open(saying(75), { spentUsd: 4 });
  const { id } = await newChild();
  await say(id, 'a');
  await run(id);
  expect([await ends(id), asked()]).toEqual([['budget_exceeded'], 0]);
});

test('the reservation of a cancelled call is available to the next at once', async () => {
  const { ports, newChild, say, run, tree, asked } = await open(speechless);
  const { id } = await newChild();
  await say(id, 'a');
  const running = run(id);
  await expect.poll(asked, { timeout: 50_000 }).toBe(1);
  expect((await tree()).reserved[id]?.usd).toBe(1);
  await cancelTurn(ports, id);
  await running;
  expect(await tree()).toEqual({ reserved: {}, spentUsd: 0 });
});

test('the reservation of an answer that came too late to be written is released', async () => {
  const { ports, newChild, say, run, tree, ends, answerBy } = await open(speechless);
  const { id } = await newChild();
  answerBy(async function* (signal) {
    await cancelTurn(ports, id);
    yield* saying(50)(signal);
  });
  await say(id, 'a');
  await run(id);
  expect(await ends(id)).toEqual(['cancelled']);
  expect(await tree()).toEqual({ reserved: {}, spentUsd: 0 });
});

test('a call that its provider refused costs nothing, and reserves nothing', async () => {
  const { newChild, say, run, tree, ends } = await open(refusing);
  const { id } = await newChild();
  await say(id, 'a');
  await run(id);
  expect(await ends(id)).toEqual(['refused']);
  expect(await tree()).toEqual({ reserved: {}, spentUsd: 0 });
});

test('the reservation of a function that fails before its model call is released', async () => {
  const { ports, newChild, say, run, tree, asked } = await open(saying(50));
  const { reserve } = ports.trees;
  const { id } = await newChild();
  await say(id, 'a');
  const answerLost: typeof reserve = async (...options) => {
    await reserve(...options);
    throw new Error('the answer was lost');
  };
  Object.assign(ports, { trees: { ...ports.trees, reserve: answerLost } });
  await expect(run(id)).rejects.toThrow('the answer was lost');
  expect(asked()).toBe(0);
  expect(await tree()).toEqual({ reserved: {}, spentUsd: 0 });
});

test('a call that waits for money hands over near its deadline, and continues when others have answered', async () => {
  const answers = Promise.withResolvers<void>();
  const held: Answer = async function* (signal) {
    await answers.promise;
    yield* saying(10)(signal);
  };
  const { newChild, say, run, tree, ends, asked, answerBy } = await open(held, { spentUsd: 2.5 });
  const [first, second] = [await newChild(), await newChild()];
  await say(first.id, 'a');
  const running = run(first.id);
  await expect.poll(asked, { timeout: 50_000 }).toBe(1);
  answerBy(saying(10));
  await say(second.id, 'b');
  await run(second.id, 21_000);
  expect([asked(), await ends(second.id)]).toEqual([1, []]);
  expect(Object.keys((await tree()).reserved)).toEqual([first.id]);
  const waiting = run(second.id);
  answers.resolve();
  await Promise.all([running, waiting]);
  expect([asked(), await ends(second.id)]).toEqual([2, ['end_turn']]);
  expect(await tree()).toEqual({ reserved: {}, spentUsd: 2.7 });
});

test('a call that is cancelled while its model is asked stays counted, so that its bill is paid for (TM7)', async () => {
  const { root, ports, newChild, say, run, tree, ends, asked } = await open(speechless, { spentUsd: 3 });
  const [first, second] = [await newChild(), await newChild()];
  await say(first.id, 'a');
  const running = run(first.id);
  await expect.poll(asked, { timeout: 50_000 }).toBe(1);
  await cancelTurn(ports, first.id);
  await running;
  expect(await tree()).toEqual({ reserved: {}, spentUsd: 3 });
  expect(await ports.trees.read(root.id)).toMatchObject({ unsettledUsd: 1 });
  await say(second.id, 'b');
  await run(second.id);
  expect([asked(), await ends(second.id)]).toEqual([1, ['budget_exceeded']]);
});

test('a call that is cancelled has spent what was reported of it, and the rest stays counted (TM4, TM7)', async () => {
  const { root, ports, newChild, say, run, tree, ends, asked } = await open(halfway);
  const { id } = await newChild();
  await say(id, 'a');
  const running = run(id);
  await expect.poll(asked, { timeout: 50_000 }).toBe(1);
  await cancelTurn(ports, id);
  await running;
  expect(await ends(id)).toEqual(['cancelled']);
  expect(await tree()).toEqual({ reserved: {}, spentUsd: 0.25 });
  expect(await ports.trees.read(root.id)).toMatchObject({ unsettledUsd: 0.75 });
  expect(await ports.sessions.get(id)).toMatchObject({ usage: quarter, costUsd: 0.25 });
});

test('a call that breaks off has spent what was reported of it, and the rest stays counted (TM4, TM7)', async () => {
  const { root, ports, newChild, say, run, tree, ends } = await open(broken);
  const { id } = await newChild();
  await say(id, 'a');
  await run(id);
  expect(await ends(id)).toEqual(['error']);
  expect(await tree()).toEqual({ reserved: {}, spentUsd: 0.25 });
  expect(await ports.trees.read(root.id)).toMatchObject({ unsettledUsd: 0.75 });
  expect(await ports.sessions.get(id)).toMatchObject({ usage: quarter, costUsd: 0.25 });
});

test('a try before the answer has spent what was reported of it: so much less of it is unsettled (TM4, TM7, TM8)', async () => {
  const { root, ports, say, run, tree, ends, answerBy, newSliced } = await open(thoughtless);
  const { id } = await newSliced();
  await say(id, 'a');
  answerBy(async function* (signal, caller) {
    answerBy(saying(50));
    yield* thoughtless(signal, caller);
  });
  await run(id);
  expect(await ends(id)).toEqual(['end_turn']);
  expect(await tree()).toEqual({ reserved: {}, spentUsd: 0.75 });
  const { unsettledUsd, slices = {} } = (await ports.trees.read(root.id)) ?? {};
  expect(unsettledUsd).toBe(0.75);
  expect(slices[id]).toMatchObject({ spentUsd: 0.75, unsettledUsd: 0.75, tokens: 32 + 51 });
  // A reservation has at least the 2000 tokens that a provider may add.
  expect(slices[id]?.unsettledTokens).toBeGreaterThan(2000 - 32);
  const usage = { inputTokens: 8, outputTokens: 75 };
  expect(await ports.sessions.get(id)).toMatchObject({ usage, costUsd: 0.75 });
});

test('the reservation of a session’s next holder is not released by the one before', async () => {
  const { root, ports, newChild, say, run, tree, asked } = await open(speechless);
  const { id } = await newChild();
  await say(id, 'a');
  const running = run(id);
  await expect.poll(asked, { timeout: 50_000 }).toBe(1);
  const later = Date.now() + 60_000;
  const next = await ports.turns.takeLease(id, { holder: 'b', at: later, until: later + 60_000 });
  const fence = next?.lease.fence ?? 0;
  const options = { session: id, fence, usd: 2, usdMin: 2, usdMax: 4, at: Date.now(), until: later };
  expect(await ports.trees.reserve(root.id, options)).toEqual({ grantedUsd: 2 });
  await cancelTurn(ports, id);
  await running;
  expect((await tree()).reserved).toEqual({ [id]: { usd: 2, fence, until: later } });
});

test('a parent with a pending call also reads a child that answered before', async () => {
  const { root, ports, newChild, say, run, ends } = await open(saying(1));
  const { sessions, turns } = ports;
  const child = await newChild();
  await say(child.id, 'asked');
  await run(child.id);
  await say(root.id, 'a');
  const session = await sessions.get(root.id);
  if (session === undefined) throw new Error('the root is gone');
  const call = { name: 'x', args: {}, askedHuman: false, digest: 'd', askedAt: 'then' } as const;
  const wait = { id: 'w', since: 1, child: { session: child.id, message: 'asked' as MessageId } };
  const state: Acting = {
    ...acting,
    calls: [
      {
        ...call,
        callId: 'left' as CallId,
        status: 'approved',
        route: { kind: 'caller', caller: 'c', tool: 'x' },
      },
      { ...call, callId: 'asked' as CallId, status: 'executing', generation: 0, wait },
    ],
  };
  const { turn } = await turns.loadWork(root.id);
  await turns.commit({ ...turn, session, state, at: 1, ...nothingSaid });
  await run(root.id);
  expect(await ends(root.id)).toEqual(['end_turn']);
});

test('a child that is messaged while its parent is being cancelled is cancelled with it', async () => {
  const { root, ports, say, run, ends } = await open(saying(1));
  const { sessions } = ports;
  await say(root.id, 'a');
  await approve(ports, root.id, { action: 'spawn', prompt: 'do it' });
  const made: SessionId[] = [];
  const create: typeof sessions.create = async (child, ...rest) => {
    const created = await sessions.create(child, ...rest);
    made.push(child.id);
    await cancelTree(ports, root.id);
    return created;
  };
  Object.assign(ports, { sessions: { ...sessions, create } });
  await run(root.id);
  expect(await ends(root.id)).toEqual(['cancelled']);
  expect(await Promise.all(made.map(ends))).toEqual([['cancelled']]);
});

test('a cancel that arrives after an unseen turn keeps the cost of that turn', async () => {
  const { ports, newChild, say, run, ends } = await open(saying(50));
  const { sessions, turns } = ports;
  const { id } = await newChild();
  await say(id, 'a');
  let isLate = false;
  const loadWork: typeof turns.loadWork = async (session) => {
    if (!isLate) {
      isLate = true;
      await run(id);
      await say(id, 'b');
    }
    return turns.loadWork(session);
  };
  await cancelTurn({ ...ports, turns: { ...turns, loadWork } }, id);
  expect(await ends(id)).toEqual(['end_turn', 'cancelled']);
  const { costUsd, usage } = (await sessions.get(id)) ?? {};
  expect([costUsd, usage?.outputTokens]).toEqual([0.5, 50]);
});

test('an invocation without work does not postpone the session’s idle time', async () => {
  const { ports, newChild, say, run } = await open(saying(1));
  const { id } = await newChild();
  await say(id, 'a');
  await run(id);
  await sleep(5);
  await run(id);
  const { lastActiveAt = 0, dueAt } = (await ports.sessions.get(id)) ?? {};
  expect(dueAt).toBe(lastActiveAt + settings.limits.idleMs);
});
