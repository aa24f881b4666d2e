/** A turn's holder over the table: a slow audience, a cancel, a handover, and what each leaves behind. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeCallerStore } from '#shared/adapters/aws/dynamo/caller-store.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import type { LoopDeps } from '#shared/application/deps.ts';
import { resetHistory } from '#shared/application/session/reset-history.ts';
import { cancelTurn } from '#shared/application/turn/requests/cancel-turn.ts';
import { endSession } from '#shared/application/turn/requests/end-session.ts';
import { failTurn } from '#shared/application/turn/requests/fail-turn.ts';
import { retryTurn } from '#shared/application/turn/requests/retry-turn.ts';
import { runTurn } from '#shared/application/turn/turn-loop.ts';
import type { LogEvent } from '#shared/domain/event-log.ts';
import { type FeaturesSeen, seenMsMax } from '#shared/domain/features.ts';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import type { ModelChunk, ModelRequest } from '#shared/domain/model.ts';
import { deploymentOwner } from '#shared/domain/principal.ts';
import type { Session } from '#shared/domain/session.ts';
import { AppError } from '#shared/errors.ts';
import type { ModelCaller } from '#shared/ports/models.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import type { World } from '#shared/ports/world.ts';
import { inboxLimits, message, newSession, onTable } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

type Answer = (signal: AbortSignal, caller?: ModelCaller) => AsyncIterable<ModelChunk>;

const silent: Telemetry = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  count: () => undefined,
  duration: () => undefined,
};

async function* spoken(signal: AbortSignal): AsyncGenerator<ModelChunk> {
  signal.throwIfAborted();
  yield { type: 'text', text: 'hello' };
  yield { type: 'end', end: 'end_turn', usage: { inputTokens: 1, outputTokens: 1 } };
}

/** Speaks after any test is over, unless its connection is closed before. */
async function* speechless(signal: AbortSignal): AsyncGenerator<ModelChunk> {
  await sleep(600_000, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
  yield* spoken(signal);
}

const ofHalf = { inputTokens: 7, outputTokens: 1 };

/** Says a half, then fails. */
async function* broken(): AsyncGenerator<ModelChunk> {
  yield { type: 'text', text: 'half' };
  throw new AppError('provider_unavailable', 'no model');
}

/** Says a half, then waits; its provider reports what that took. */
async function* halfway(signal: AbortSignal, caller?: ModelCaller): AsyncGenerator<ModelChunk> {
  caller?.onUsage?.(ofHalf);
  yield { type: 'text', text: 'half' };
  yield* speechless(signal);
}

const open = async (answers: readonly Answer[], change: Partial<Session> = {}) => {
  const { sessions, turns, inbox, eventLog, create, read } = onTable(fixture.table);
  const { id } = await create(newSession(change));
  const connections = makeConnectionStore(fixture.table);
  const principal = { owner: deploymentOwner, scope: 'admin' as const, tokenHash: 'h' };
  const subscriber = crypto.randomUUID() as ConnectionId;
  await connections.put({ id: subscriber, sessionId: id, principal, connectedAt: 1 });
  const woken: number[] = [];
  const asks: string[] = [];
  const webhooks = makeWebhookStore(fixture.table);
  const audience = { postMs: 0 };
  let asked = 0;
  let said = '';
  const histories: (readonly HistoryMessage[])[] = [];
  const ports = {
    ...{ sessions, turns, inbox, eventLog },
    connections,
    webhooks: {
      ...webhooks,
      list: () => {
        asks.push('webhooks');
        return webhooks.list();
      },
    },
    sockets: {
      post: async () => {
        await sleep(audience.postMs);
        return 'sent' as const;
      },
    },
    models: {
      open: () =>
        Promise.resolve({
          count: () => {
            asks.push('count');
            return Promise.resolve(1);
          },
          stream: async function* ({ history }: ModelRequest, signal: AbortSignal, caller?: ModelCaller) {
            histories.push(history);
            const answer = answers[asked] ?? spoken;
            asked += 1;
            for await (const chunk of answer(signal, caller)) {
              yield chunk;
              said += chunk.type === 'text' ? chunk.text : '';
            }
          },
        }),
    },
    costOf: () => 0,
    modelPrices: {},
    mcpServers: {
      list: () => {
        asks.push('servers');
        return Promise.resolve([]);
      },
    },
    recursionDepthMax: 3,
    slotLimits: { executionMax: 10, agentMax: 10, conversationsMax: 100, evictsIdle: true },
    lifetimes: { idleMs: 900_000, waitStopMs: 900_000 },
    correlation: { id: () => 'c', follow: () => undefined },
    telemetry: silent,
    world: systemWorld,
    invoker: {
      runTurn: (_id: SessionId, { hops = 0 } = {}) => {
        woken.push(hops);
        return Promise.resolve();
      },
    },
    // Ports that run tools are absent: no answer here asks for a tool.
  } as unknown as LoopDeps;
  return {
    id,
    ports,
    read,
    woken,
    asks,
    audience,
    asked: () => asked,
    said: () => said,
    histories,
    say: async (messageId: string, text = 'hello') =>
      inbox.accept(await read(id), { ...message(messageId, Date.now()), text }, inboxLimits),
    run: (remainingMs = 900_000, hops = 0, seen?: FeaturesSeen) =>
      runTurn(ports, {
        sessionId: id,
        hops,
        seen,
        deadlineAt: Date.now() + remainingMs,
        settings: {
          outputTokensMax: 100,
          leaseMs: 30_000,
          toolTimes: { waitMs: 60_000, secondsMax: 3600 },
          limits: {
            turn: { stepsMax: 5, callsMax: 4, usdMax: 10 },
            history: { tokensMax: 1000, messagesMax: 50 },
            tree: { recursionDepthMax: 3, agentsPerSessionMax: 50, costUsdMax: 10 },
            idleMs: 60_000,
            waitStopMs: 60_000,
          },
        },
      }),
    log: async (): Promise<readonly LogEvent[]> =>
      (await eventLog.read(id, { since: -1, eventsMax: 1000 })).events,
  };
};

test('the client of the model is loaded while the table is waited for', async () => {
  const { id, ports, say, run, log } = await open([]);
  const { models, turns } = ports;
  const atFirst = Promise.withResolvers<number>();
  const opening: LoopDeps['models']['open'] = async (provider) => {
    atFirst.resolve((await turns.readVersion(id)).version);
    return models.open(provider);
  };
  const loadWork: LoopDeps['turns']['loadWork'] = async (of) => {
    // Without the client the turn waits here.
    expect(await atFirst.promise).toBe(0);
    return turns.loadWork(of);
  };
  await say('m1');
  Object.assign(ports, { models: { open: opening }, turns: { ...turns, loadWork } });
  await run();
  expect(completions(await log())).toEqual(['end_turn']);
});

const completions = (events: readonly LogEvent[]): readonly unknown[] =>
  events.flatMap((event) => (event.type === 'completion' ? [event.data.stopReason] : []));

test.each([
  ['was seen just now to use none', { agoMs: 0, isUsed: false }, []],
  ['was seen just now to use both', { agoMs: 0, isUsed: true }, ['servers', 'webhooks']],
  ['was seen too long ago', { agoMs: seenMsMax + 1, isUsed: false }, ['servers', 'webhooks']],
  ['was not seen', undefined, ['servers', 'webhooks']],
])('servers and webhooks of a deployment that %s', async (_, seen, expected) => {
  const { say, run, asks, log } = await open([]);
  await say('m1');
  const { agoMs = 0, isUsed = false } = seen ?? {};
  const features = { webhooks: isUsed, mcpServers: isUsed, approversUntil: 0, at: Date.now() - agoMs };
  await run(900_000, 0, seen && features);
  expect(completions(await log())).toEqual(['end_turn']);
  expect(asks).toEqual(expected);
});

test('the tokens of a long conversation are counted by its answers: the provider is not asked, however often another holder goes on', async () => {
  const { say, run, asks, log } = await open([]);
  for (const messageId of ['m1', 'm2', 'm3', 'm4']) {
    await say(messageId, 'x'.repeat(1200));
    await run();
  }
  expect(completions(await log())).toEqual(Array(4).fill('end_turn'));
  expect(asks.filter((ask) => ask === 'count')).toEqual([]);
});

test('a message that arrived after the features were read is answered without that read', async () => {
  const { say, run, asks } = await open([]);
  const at = Date.now() - 1;
  await say('m1');
  await run(900_000, 0, { webhooks: false, mcpServers: false, approversUntil: 0, at });
  expect(asks).toEqual(['servers', 'webhooks']);
});

test('slow subscribers are not mistaken for a cancel: the model is called once', async () => {
  const { audience, say, run, asked, log } = await open([]);
  audience.postMs = 1300;
  await say('m1');
  await run();
  expect(asked()).toBe(1);
  expect(completions(await log())).toEqual(['end_turn']);
});

test('a cancel closes the model call, and the holder continues with the next message', async () => {
  const { id, ports, say, run, asked, log, read, woken } = await open([speechless]);
  await say('m1');
  const running = run();
  await expect.poll(asked, { timeout: 50_000 }).toBe(1);
  await say('m2');
  await cancelTurn(ports, id);
  expect(completions(await log())[0]).toBe('cancelled');
  await running;
  expect(completions(await log())).toEqual(['cancelled', 'end_turn']);
  expect((await log()).map(({ type }) => type)).toEqual([
    'message',
    'completion',
    'message',
    'message',
    'completion',
  ]);
  expect([asked(), woken]).toEqual([2, []]);
  expect(await read(id)).toMatchObject({ status: 'idle', lease: { until: 0 } });
});

test('text that had come stays when its turn is cancelled, and the model reads it with the next message', async () => {
  const { id, ports, say, run, said, log, read } = await open([halfway]);
  await say('m1');
  const running = run();
  await expect.poll(said, { timeout: 5000 }).toBe('half');
  await cancelTurn(ports, id);
  await running;
  const partial = { role: 'assistant', text: 'half', partial: true };
  expect(await log()).toMatchObject([
    { type: 'message', data: { role: 'user' } },
    { type: 'message', data: partial },
    { type: 'completion', data: { stopReason: 'cancelled', text: '', usage: ofHalf } },
  ]);
  expect(await read(id)).toMatchObject({ usage: ofHalf });
  expect(await ports.turns.history(id)).toMatchObject([
    { role: 'user' },
    { role: 'assistant', text: 'half' },
  ]);
});

test('the end of a session keeps the text that had come', async () => {
  const { id, ports, say, run, said, log, read } = await open([halfway]);
  await say('m1');
  const running = run();
  await expect.poll(said, { timeout: 5000 }).toBe('half');
  const workspaces = { leave: () => Promise.resolve(undefined) } as unknown as LoopDeps['workspaces'];
  await endSession({ ...ports, workspaces }, await read(id), { reason: 'stopped' });
  await running;
  expect((await log()).map(({ data }) => 'partial' in data && data.partial)).toContain(true);
  expect(completions(await log())).toEqual(['cancelled']);
});

test('a holder that does not hear of a cancel is passed over, and its text is not written', async () => {
  const { id, ports, say, run, said, log } = await open([halfway]);
  await say('m1');
  const deaf = { ...ports.turns, askToCancel: () => Promise.resolve(true) };
  const running = run();
  await expect.poll(said, { timeout: 5000 }).toBe('half');
  await cancelTurn({ ...ports, turns: deaf }, id);
  await running;
  expect((await log()).map(({ type }) => type)).toEqual(['message', 'completion']);
});

test('a request to cancel belongs to one version of the turn: the next one does not have it', async () => {
  const { id, ports, say, run } = await open([]);
  const { turns } = ports;
  await say('m1');
  await run();
  const { version } = await turns.readVersion(id);
  expect(await turns.askToCancel(id, version - 1)).toBe(false);
  expect(await turns.askToCancel(id, version)).toBe(true);
  expect(await turns.readVersion(id)).toMatchObject({ version, isCancelAsked: true });
  await say('m2');
  await run();
  expect(await turns.readVersion(id)).not.toHaveProperty('isCancelAsked');
});

test('a failed turn is repeated once, however often it is asked for, and the message is said once', async () => {
  const { id, ports, say, run, log, asked, histories } = await open([broken]);
  await say('m1');
  await run();
  expect(completions(await log())).toEqual(['error']);
  const found = async () => {
    const both = await ports.turns.getWithTurn(id);
    if (both === undefined) throw new Error('the session is gone');
    return both;
  };
  const failed = await found();
  const ids = await Promise.all([retryTurn(ports, failed), retryTurn(ports, failed)]);
  expect(ids).toEqual(['m1', 'm1']);
  await run();
  expect([completions(await log()), asked()]).toEqual([['error', 'end_turn'], 2]);
  const said = (await log()).filter(({ type, data }) => type === 'message' && 'role' in data);
  expect(said.map(({ data }) => ('partial' in data ? 'partial' : 'role' in data && data.role))).toEqual([
    'user',
    'partial',
    'assistant',
  ]);
  expect((await log()).filter(({ data }) => 'kind' in data && data.kind === 'turn_retried')).toHaveLength(1);
  // The half answer is not shown to the model that answers again.
  expect(histories[1]).toMatchObject([{ role: 'user', text: 'hello' }]);
  await expect(retryTurn(ports, await found())).rejects.toMatchObject({ code: 'invalid_session_state' });
  await expect(retryTurn(ports, failed)).resolves.toBe('m1');
  await run();
  expect(asked()).toBe(2);
});

test('a turn is not repeated when another message came, or when its message was forgotten', async () => {
  const { id, ports, say, run } = await open([broken, broken]);
  const found = async () => {
    const both = await ports.turns.getWithTurn(id);
    if (both === undefined) throw new Error('the session is gone');
    return both;
  };
  await say('m1');
  await run();
  const failed = await found();
  await say('m2');
  await expect(retryTurn(ports, failed)).rejects.toMatchObject({ code: 'invalid_session_state' });
  await run();
  await resetHistory(ports, await found());
  await expect(retryTurn(ports, await found())).rejects.toMatchObject({ code: 'invalid_session_state' });
});

test('a cancel of a waiting message completes it, with the session’s cost so far', async () => {
  const { id, ports, say, log, read, woken } = await open([], { costUsd: 0.75 });
  await say('m1');
  await cancelTurn(ports, id);
  const [question, completion] = await log();
  expect(question).toMatchObject({ type: 'message', data: { messageId: 'm1' } });
  expect(completion).toMatchObject({
    type: 'completion',
    data: { stopReason: 'cancelled', text: '', sessionCostUsd: 0.75 },
  });
  await cancelTurn(ports, id);
  expect(await log()).toHaveLength(2);
  expect([(await read(id)).status, woken]).toEqual(['idle', []]);
});

test('a turn that its holder fails leaves the session running where a message came since the inbox was read', async () => {
  const { id, ports, say, read } = await open([]);
  await say('m1');
  const lease = { holder: 'h', at: Date.now(), until: Date.now() + 30_000 };
  await ports.turns.takeLease(id, lease);
  const { fence } = (await read(id)).lease;
  const loadWork: LoopDeps['turns']['loadWork'] = async (of) => {
    const work = await ports.turns.loadWork(of);
    await say('m2');
    return work;
  };
  const failing = { version: 0, fence, failure: { code: 'resource_exhausted', message: 'no slot is free' } };
  await failTurn({ ...ports, turns: { ...ports.turns, loadWork } }, id, failing);
  expect(await read(id)).toMatchObject({ status: 'running' });
  expect((await ports.turns.loadWork(id)).inbox.map(({ messageId }) => messageId)).toEqual(['m2']);
});

test('near its timeout a holder hands over: the next one finds the lease free, and one answer is given', async () => {
  const { id, say, run, asked, log, read, woken } = await open([speechless]);
  await say('m1');
  await run(20_900, 3);
  expect([asked(), woken]).toEqual([1, [4]]);
  expect(await read(id)).toMatchObject({ status: 'running', lease: { holder: '', until: 0 } });
  await run(900_000, 4);
  expect(completions(await log())).toEqual(['end_turn']);
});

test('work that comes during a handover does not keep the lease from the next one', async () => {
  const { id, say, run, read, asked, woken } = await open([speechless]);
  await say('m1');
  const running = run(21_500);
  await expect.poll(asked, { timeout: 50_000 }).toBe(1);
  await say('m2');
  await running;
  expect(woken).toEqual([1]);
  expect((await read(id)).lease).toMatchObject({ holder: '', until: 0 });
});

test('after too many hops the janitor continues the turn soon', async () => {
  const { id, say, run, read, woken } = await open([speechless]);
  await say('m1');
  const from = Date.now();
  await run(20_000, 200);
  expect(woken).toEqual([]);
  const { dueAt = 0 } = await read(id);
  expect(dueAt - from).toBeGreaterThan(10_000);
  expect(dueAt - from).toBeLessThan(20_000);
});

test('a holder whose lease is taken over closes its model call and writes nothing', async () => {
  const { id, ports, say, run, asked, log } = await open([speechless]);
  await say('m1');
  const running = run();
  await expect.poll(asked, { timeout: 50_000 }).toBe(1);
  const later = Date.now() + 60_000;
  expect(await ports.turns.takeLease(id, { holder: 'b', at: later, until: later + 60_000 })).toBeDefined();
  await cancelTurn(ports, id);
  await running;
  expect([asked(), completions(await log())]).toEqual([1, ['cancelled']]);
});

test('a reset between turns clears the history, and one that races with a turn is a conflict', async () => {
  const { id, ports, say, run, read, asked } = await open([spoken, speechless]);
  await say('m1');
  await run();
  const found = async () => {
    const both = await ports.turns.getWithTurn(id);
    if (both === undefined) throw new Error('the session is gone');
    return both;
  };
  const stale = await found();
  expect(await ports.turns.history(id)).toHaveLength(2);
  await resetHistory(ports, stale);
  expect(await ports.turns.history(id)).toEqual([]);
  await say('m2');
  const running = run();
  await expect.poll(asked, { timeout: 50_000 }).toBe(2);
  await expect(resetHistory(ports, stale)).rejects.toMatchObject({ code: 'conflict' });
  await cancelTurn(ports, id);
  await running;
  expect((await ports.turns.history(id)).map(({ role }) => role)).toEqual(['user']);
  expect((await read(id)).status).toBe('idle');
});

/** A clock that a sleep moves on at once; only the renewals of a lease, which can be stopped, wait for the system's. */
const movedClock = () => {
  const slept: number[] = [];
  const sum = (): number => slept.reduce((total, ms) => total + ms, 0);
  const world: World = {
    ...systemWorld,
    now: () => Date.now() + sum(),
    sleep: async (ms, signal) => {
      if (signal !== undefined) return systemWorld.sleep(ms, signal);
      slept.push(ms);
    },
  };
  return { world, slept };
};

async function* calling(): AsyncGenerator<ModelChunk> {
  yield { type: 'call', name: 'ide_open', args: {} };
  yield { type: 'end', end: 'tool_use', usage: { inputTokens: 1, outputTokens: 1 } };
}

test.each([
  { remainingMs: 900_000, comesBack: true },
  { remainingMs: 79_000, comesBack: false },
])(
  'a call of a client has sixty seconds, and a holder with $remainingMs ms left comes back: $comesBack',
  async ({ remainingMs, comesBack }) => {
    const { id, ports, say, run, log, read } = await open([calling], { approvals: 'auto' });
    const tools = [{ name: 'open', description: '', inputSchema: { type: 'object' } }];
    await makeCallerStore(fixture.table).declare(id, { callerId: 'ide', tools });
    const { world, slept } = movedClock();
    Object.assign(ports, { world, workspaces: { get: () => Promise.resolve(undefined) } });
    await say('m1');
    const from = Date.now();
    await run(remainingMs);
    const events = await log();
    const asked = events.find(({ type }) => type === 'caller_tool:request')?.at ?? 0;
    const { dueAt = 0 } = await read(id);
    if (!comesBack) {
      expect([slept, completions(events)]).toEqual([[], []]);
      // The janitor comes instead.
      expect(dueAt - asked).toBe(60_000);
      return;
    }
    const [wait = 0] = slept;
    expect(slept).toHaveLength(1);
    expect(wait).toBeLessThanOrEqual(60_000);
    expect(wait).toBeGreaterThan(60_000 - (Date.now() - from) - 1);
    const failed = events.find(({ type }) => type === 'agent:error');
    expect(failed?.data).toMatchObject({
      code: 'execution_timeout',
      message: 'Tool ide_open failed: no answer within 60 s',
    });
    expect((failed?.at ?? 0) - asked).toBeGreaterThanOrEqual(60_000);
    expect(completions(events)).toEqual(['end_turn']);
  },
);
