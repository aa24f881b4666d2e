/** A client that answers a call, and one that leaves: its tools are no longer offered, and the calls that wait for it fail at once. */
import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newSession,
  workspaceOf,
} from '../../../../tests/conformance/session-fixture.ts';
import { fake } from '../../../../tests/fake.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import { callersPerSessionMax } from '../../../domain/caller-tool.ts';
import type { CallId, ConnectionId, MessageId, TurnId } from '../../../domain/ids.ts';
import type { ToolCall } from '../../../domain/turn/tool-call.ts';
import type { Acting } from '../../../domain/turn/turn.ts';
import { closeConnection } from '../../connection/close-connection.ts';
import { loadTurn, type StepLimits } from '../holder/turn-context.ts';
import { answerCall, declareTools } from './caller-tools.ts';

const limits = { stepsMax: 1, callsMax: 4, usdMax: 10 };
const connectionId = 'c' as ConnectionId;

const callOf = (caller: string): ToolCall => ({
  ...{ callId: `call-${caller}` as CallId, name: `${caller}_open`, args: {}, askedHuman: false },
  ...{ status: 'executing', digest: 'd', askedAt: 'then', generation: 0 },
  route: { kind: 'caller', caller, tool: 'open' },
  wait: { id: `wait-${caller}`, since: 1, until: 9_000_000 },
});

/** A child that waits for calls of these clients. */
const waiting = async (...callers: readonly string[]) => {
  const { ports, clock, invoked } = openQuietPorts();
  const parent = newSession();
  await ports.sessions.create(parent, { workspace: workspaceOf(parent) });
  const tree = { root: parent.id, parent: parent.id };
  const made = newSession({ createdAt: clock.now, lastActiveAt: clock.now, depth: 1, tree });
  const { id } = made;
  await ports.sessions.create(made, {
    workspace: workspaceOf(made),
    child: { parent, agentsMax: 9, isUnleased: true },
  });
  for (const callerId of callers) {
    const connection = callerId === callers[0] ? connectionId : ('other' as ConnectionId);
    await ports.callers.declare(id, { callerId, tools: [], connectionId: connection });
  }
  await ports.inbox.accept(made, message('m', clock.now), inboxLimits);
  const session = (await ports.sessions.get(id)) ?? made;
  const state: Acting = {
    ...{ kind: 'acting', turnId: 't' as TurnId, messageId: 'm' as MessageId, step: 1, spentUsd: 0 },
    ...{ usage: { inputTokens: 0, outputTokens: 0 }, policy: { mode: 'auto', grants: [] } },
    calls: callers.map(callOf),
  };
  await ports.turns.commit({
    ...{ session, version: 0, state, at: clock.now, log: [], history: [], release: false, wakes: false },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0, dueAt: clock.now + 60_000 },
  });
  invoked.length = 0;
  return { ports, session, invoked, parent };
};

/** The first of them leaves. */
const leave = async (...callers: readonly string[]) => {
  const { ports, session, invoked, parent } = await waiting(...callers);
  const { id } = session;
  await closeConnection(ports, { connectionId, sessionId: id }, limits);
  const { turn } = await ports.turns.loadWork(id);
  return { turn, left: await ports.callers.list(id), hears: invoked.includes(`turn ${parent.id}`) };
};

test('its calls fail as it leaves, and those of others wait on', async () => {
  const { turn, left, hears } = await leave('ide', 'shell');
  const calls = turn.state.kind === 'acting' ? turn.state.calls : [];
  expect(calls.map(({ callId, status }) => `${callId} ${status}`)).toEqual([
    'call-ide failed',
    'call-shell executing',
  ]);
  expect(left.map(({ callerId }) => callerId)).toEqual(['shell']);
  expect(hears).toBe(false);
});

test('a call that is asked while it leaves fails with the others', async () => {
  const { ports, session } = await waiting('ide', 'shell');
  const { id } = session;
  const withdraw: typeof ports.callers.withdraw = async (...of) => {
    const { turn } = await ports.turns.loadWork(id);
    const now = (await ports.sessions.get(id)) ?? session;
    if (turn.state.kind !== 'acting') throw new Error('the turn is over');
    const [first] = turn.state.calls;
    if (first === undefined) throw new Error('no call waits');
    const late = { ...first, callId: 'call-late' as CallId, wait: { id: 'wait-late', since: 1, until: 9e6 } };
    await ports.turns.commit({
      ...{
        session: now,
        version: turn.version,
        state: { ...turn.state, calls: [...turn.state.calls, late] },
      },
      ...{ at: 2, log: [], history: [], release: false, wakes: false, dueAt: 60_000 },
      ...{ historyNext: 0, historyFrom: 0, historyKept: 0 },
    });
    await ports.callers.withdraw(...of);
  };
  const leaving = { ...ports, callers: { ...ports.callers, withdraw } };
  await closeConnection(leaving, { connectionId, sessionId: id }, limits);
  const { turn } = await ports.turns.loadWork(id);
  const calls = turn.state.kind === 'acting' ? turn.state.calls : [];
  expect(calls.map(({ callId, status }) => `${callId} ${status}`)).toEqual([
    'call-ide failed',
    'call-shell executing',
    'call-late failed',
  ]);
});

test.each([
  ['failed', true],
  ['completed', false],
] as const)('a call is %s by a result of MCP whose `isError` is %s', async (status, isError) => {
  const { ports, session } = await waiting('ide', 'shell');
  const found = await ports.turns.getWithTurn(session.id);
  if (found === undefined) throw new Error('the session is gone');
  const result = { content: [{ type: 'text', text: 'disk full' }], isError };
  await answerCall(ports, found, { requestId: 'wait-ide', result, limits });
  const { turn } = await ports.turns.loadWork(session.id);
  const calls = turn.state.kind === 'acting' ? turn.state.calls : [];
  expect(calls.map((call) => call.status)).toEqual([status, 'executing']);
});

test('where that was the last step of a child, its parent hears of the end', async () => {
  const { turn, hears } = await leave('ide');
  expect(turn.state).toMatchObject({ kind: 'done', stopReason: 'steps_exceeded' });
  expect(hears).toBe(true);
});

test('the tools of a client whose end was told to nobody are not offered', async () => {
  const { ports, session } = await waiting('ide', 'shell');
  const principal = { owner: session.owner, scope: 'admin', tokenHash: 'h' } as const;
  const here = { id: 'other' as ConnectionId, sessionId: session.id, principal, connectedAt: 1 };
  await ports.connections.put(here);
  const hold = { limits: fake<StepLimits>({}), startedAt: 0, handoverAt: 1 };
  const context = await loadTurn(ports, { session }, hold);
  expect(context.callers.map(({ callerId }) => callerId)).toEqual(['shell']);
});

/** As many clients as a session may have, each with a tool of its own, of which these are gone. */
const crowd = async (...gone: readonly string[]) => {
  const { ports } = openQuietPorts();
  const session = newSession();
  await ports.sessions.create(session, {});
  const principal = { owner: session.owner, scope: 'admin', tokenHash: 'h' } as const;
  for (let client = 0; client < callersPerSessionMax; client += 1) {
    const id = `c${client}` as ConnectionId;
    await ports.connections.put({ id, sessionId: session.id, principal, connectedAt: 1 });
    await ports.callers.declare(session.id, { ...offer(`client${client}`), connectionId: id });
  }
  const posted: string[] = [];
  const sockets: typeof ports.sockets = {
    ...ports.sockets,
    post: async (id) => {
      posted.push(id);
      if (gone.includes('broken')) throw new Error('the gateway fails');
      return gone.includes(id) ? 'gone' : 'sent';
    },
  };
  return {
    posted,
    declare: (callerId: string) => declareTools({ ...ports, sockets }, session, offer(callerId)),
    callers: async () => (await ports.callers.list(session.id)).map(({ callerId }) => callerId),
    subscribers: async () => (await ports.connections.subscribers(session.id)).map(({ id }) => id),
  };
};

const offer = (callerId: string) => ({
  callerId,
  tools: [{ name: 'open', description: '', inputSchema: {} }],
});

test('a client takes the place of one whose connection is gone, which was told to nobody', async () => {
  const { declare, callers, subscribers } = await crowd('c2');
  await declare('new');
  const rest = [0, 1, 3, 4, 5, 6, 7];
  expect(await callers()).toEqual([...rest.map((client) => `client${client}`), 'new']);
  expect(await subscribers()).toEqual(rest.map((client) => `c${client}`));
});

test('a program withdraws its tools though the session is full, under any id', async () => {
  const { ports } = openQuietPorts();
  const session = newSession();
  await ports.sessions.create(session, {});
  for (let run = 0; run < 2 * callersPerSessionMax; run += 1) {
    await declareTools(ports, session, offer(`run${run}`));
    await declareTools(ports, session, { callerId: `run${run}`, tools: [] });
  }
  expect(await ports.callers.list(session.id)).toEqual([]);
});

test('a post that fails says nothing: the client keeps its place, and the offer is refused', async () => {
  const { declare } = await crowd('broken');
  await expect(declare('new')).rejects.toMatchObject({ code: 'resource_limit_exceeded' });
});

test('and the name of its tool', async () => {
  const { ports } = openQuietPorts();
  const session = newSession();
  await ports.sessions.create(session, {});
  const tools = [{ name: 'b_open', description: '', inputSchema: {} }];
  await ports.callers.declare(session.id, { callerId: 'a', tools, connectionId });
  const named = { callerId: 'a_b', tools: [{ name: 'open', description: '', inputSchema: {} }] };
  await expect(declareTools(ports, session, named)).rejects.toMatchObject({ code: 'conflict' });
  const sockets: typeof ports.sockets = { ...ports.sockets, post: async () => 'gone' };
  await declareTools({ ...ports, sockets }, session, named);
  expect((await ports.callers.list(session.id)).map(({ callerId }) => callerId)).toEqual(['a_b']);
});

test('while all are there, a further client is refused, and one of them may declare again', async () => {
  const { declare, callers, posted } = await crowd();
  await expect(declare('new')).rejects.toMatchObject({ code: 'resource_limit_exceeded' });
  posted.length = 0;
  await declare('client3');
  expect(posted).toEqual([]);
  expect(await callers()).toHaveLength(callersPerSessionMax);
});
