/** A turn that its holder did not end: cancelled between two pages of its read, too large to be stored, or without its sandbox. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import type { Table } from '#shared/adapters/aws/dynamo/table.ts';
import { makeTurnStore } from '#shared/adapters/aws/dynamo/turn-store.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import type { LoopDeps } from '#shared/application/deps.ts';
import { cancelTurn } from '#shared/application/turn/requests/cancel-turn.ts';
import { runTurn } from '#shared/application/turn/turn-loop.ts';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { CallId, MessageId, SessionId, TurnId } from '#shared/domain/ids.ts';
import type { ModelChunk } from '#shared/domain/model.ts';
import type { Deciding } from '#shared/domain/turn/turn.ts';
import { inboxLimits, message, newSession, onTable } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();
const ignore = (): void => undefined;
const silent = { info: ignore, warn: ignore, error: ignore, count: ignore, duration: ignore };

const hello: readonly ModelChunk[] = [
  { type: 'text', text: 'hello' },
  { type: 'end', end: 'end_turn', usage: { inputTokens: 1, outputTokens: 1 } },
];

/** A session with one message, and a model that always gives the same answer. */
const open = async (answer: readonly ModelChunk[]) => {
  const stores = onTable(fixture.table);
  const { id } = await stores.create(newSession());
  let asked = 0;
  const ports = {
    ...stores,
    connections: makeConnectionStore(fixture.table),
    webhooks: makeWebhookStore(fixture.table),
    sockets: { post: () => Promise.resolve('sent') },
    models: {
      open: () =>
        Promise.resolve({
          stream: async function* () {
            asked += 1;
            yield* answer;
          },
        }),
    },
    costOf: () => 5,
    mcpServers: { list: () => Promise.resolve([]) },
    slotLimits: { executionMax: 10, agentMax: 10, conversationsMax: 100, evictsIdle: true },
    lifetimes: { idleMs: 900_000, waitStopMs: 900_000 },
    correlation: { id: () => 'c', follow: () => undefined },
    ...{ telemetry: silent, world: systemWorld, invoker: { runTurn: () => Promise.resolve() } },
    // Ports that run tools are absent: no tool runs here.
  } as unknown as LoopDeps;
  await stores.inbox.accept(await stores.read(id), message('A', Date.now()), inboxLimits);
  const said = async (): Promise<readonly string[]> => {
    const { events } = await stores.eventLog.read(id, { since: -1, eventsMax: 1000 });
    return events.flatMap(({ type, data }) => {
      if (type === 'completion') return [`completion ${data.stopReason}`];
      return type === 'message' && data.role === 'user' ? [`begins ${data.messageId}`] : [];
    });
  };
  return { ...stores, id, ports, said, asked: () => asked };
};

type Opened = Awaited<ReturnType<typeof open>>;

const run = (ports: LoopDeps, sessionId: SessionId): Promise<void> =>
  runTurn(ports, {
    ...{ sessionId, hops: 0, deadlineAt: Date.now() + 900_000 },
    settings: {
      outputTokensMax: 100,
      leaseMs: 30_000,
      toolTimes: { waitMs: 60_000, secondsMax: 3600 },
      limits: {
        turn: { stepsMax: 5, callsMax: 4, usdMax: 10 },
        history: { tokensMax: 1_000_000, messagesMax: 1000 },
        tree: { recursionDepthMax: 3, agentsPerSessionMax: 50, costUsdMax: 10 },
        ...{ idleMs: 60_000, waitStopMs: 60_000 },
      },
    },
  });

const deciding: Deciding = {
  ...{ kind: 'deciding', turnId: 't' as TurnId, messageId: 'A' as MessageId, step: 1, spentUsd: 0 },
  usage: { inputTokens: 0, outputTokens: 0 },
  policy: { mode: 'ask', grants: [] },
  calls: [
    {
      ...{ callId: 'c' as CallId, name: 'execute_command', args: {}, askedHuman: true, status: 'pending' },
      ...{ digest: 'd', askedAt: '2026-01-01T00:00:00.000Z' },
    },
  ],
};

/** Answers of 55,000 characters before the call that waits: more than a page of a query. */
const longAnswers = 24;

const makeLong = async ({ id, read, turns }: Opened): Promise<void> => {
  const assistant = (n: number): HistoryMessage => ({
    ...{ role: 'assistant', messageId: `a${n}` as MessageId, calls: [] },
    text: randomBytes(27_500).toString('hex'),
  });
  const history: readonly HistoryMessage[] = [
    { role: 'user', messageId: 'A' as MessageId, text: 'please' },
    ...Array.from({ length: longAnswers }, (_, n) => assistant(n)),
  ];
  const begins = [
    { type: 'message', data: { messageId: 'A' as MessageId, role: 'user', text: 'please' } },
  ] as const;
  for (const [version, said] of history.entries())
    await turns.commit({
      ...{ session: await read(id), version, state: deciding, at: Date.now(), history: [said] },
      ...{ log: version === 0 ? begins : [], historyNext: version, historyFrom: 0, historyKept: 0 },
      ...{ release: version === longAnswers, wakes: false, dueAt: Date.now() + 900_000 },
    });
};

/** The table of the file, in which something happens once, between two pages of a query. */
const tornBy = (act: () => Promise<unknown>): { readonly table: Table; readonly happened: () => boolean } => {
  let happened = false;
  const send = async (command: Parameters<Table['client']['send']>[0]): Promise<unknown> => {
    const answer = (await fixture.table.client.send(command)) as { readonly LastEvaluatedKey?: unknown };
    if (answer.LastEvaluatedKey === undefined || happened) return answer;
    happened = true;
    await act();
    return answer;
  };
  const client = { send } as unknown as Table['client'];
  return { table: { ...fixture.table, client }, happened: () => happened };
};

test('a message whose turn is cancelled between two pages of its read is not run again', async () => {
  const opened = await open(hello);
  const { id, ports, said, asked } = opened;
  await makeLong(opened);
  const torn = tornBy(() => cancelTurn(ports, id));
  await run({ ...ports, turns: makeTurnStore(torn.table) }, id);
  expect(torn.happened()).toBe(true);
  expect(asked()).toBe(0);
  expect(await said()).toEqual(['begins A', 'completion cancelled']);
});

test('an answer that is larger than an item is paid for once, and its turn ends', async () => {
  const echo = { reasoning: randomBytes(450_000).toString('base64') };
  const answer = hello.map((chunk) => (chunk.type === 'end' ? { ...chunk, echo } : chunk));
  const { id, ports, said, asked, read } = await open(answer);
  for (let invocation = 0; invocation < 3; invocation += 1) await run(ports, id);
  expect(asked()).toBe(1);
  expect((await read(id)).costUsd).toBe(5);
  expect(await said()).toEqual(['begins A', expect.stringMatching(/^completion /)]);
});

test('a call whose sandbox is gone is told at once, and no other is started for that', async () => {
  const { id, ports, read, turns, eventLog, workspaces } = await open(hello);
  const session = await read(id);
  const [call] = deciding.calls;
  const begun = { ...call, status: 'executing', generation: 1, key: 'k' } as const;
  await turns.commit({
    ...{ session, version: 0, state: { ...deciding, kind: 'acting', calls: [begun] }, at: Date.now() },
    history: [
      { role: 'user', messageId: 'A' as MessageId, text: 'please' },
      {
        ...{ role: 'assistant', messageId: 'a' as MessageId, text: '' },
        calls: [{ callId: 'c' as CallId, name: 'execute_command', args: {} }],
      },
    ],
    ...{ log: [], historyNext: 0, historyFrom: 0, historyKept: 0 },
    ...{ release: true, wakes: false, dueAt: Date.now() + 900_000 },
  } as unknown as Parameters<typeof turns.commit>[0]);
  // No host is there to start one.
  await run(ports, id);
  const { events } = await eventLog.read(id, { since: -1, eventsMax: 100 });
  const codes = events.flatMap(({ type, data }) => (type === 'agent:error' ? [data.code] : []));
  expect(codes).toEqual(['tool_outcome_unknown']);
  expect(events.at(-1)).toMatchObject({ type: 'completion', data: { stopReason: 'end_turn' } });
  expect((await workspaces.get(session.workspace))?.sandbox).toBeUndefined();
});
