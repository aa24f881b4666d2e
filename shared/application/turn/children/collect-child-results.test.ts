/** A parent reads of its children: all that have answered (CH3) in one hold of its lease, and nothing of those that work. */
import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newSession,
  workspaceOf,
} from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { LogEntry, StopReason } from '../../../domain/event-log.ts';
import type { CallId, MessageId, SessionId, TurnId } from '../../../domain/ids.ts';
import type { Session } from '../../../domain/session.ts';
import type { ToolCall } from '../../../domain/turn/tool-call.ts';
import type { Acting } from '../../../domain/turn/turn.ts';
import { loadTurn, type TurnContext } from '../holder/turn-context.ts';
import { collectChildResults } from './collect-child-results.ts';

const limits = {
  turn: { stepsMax: 5, callsMax: 8, usdMax: 10 },
  history: { tokensMax: 1000, messagesMax: 50 },
  tree: { recursionDepthMax: 3, agentsPerSessionMax: 50, costUsdMax: 10 },
  idleMs: 60_000,
  waitStopMs: 60_000,
};

const answered = (text: string, stopReason: StopReason = 'end_turn'): readonly LogEntry[] => [
  { type: 'message', data: { messageId: 'asked' as MessageId, role: 'user', text: 'do it' } },
  {
    type: 'completion',
    data: {
      turnId: 't' as TurnId,
      stopReason,
      text,
      usage: { inputTokens: 1, outputTokens: 1 },
      sessionCostUsd: 0,
    },
  },
];

const callFor = ({ id }: Session, place: number): ToolCall => ({
  callId: `call-${place}` as CallId,
  name: 'session',
  args: {},
  route: { kind: 'platform', tool: 'session' },
  status: 'executing',
  askedHuman: false,
  digest: 'd',
  askedAt: 'then',
  generation: 0,
  wait: { id: `wait-${place}`, since: 1, child: { session: id, message: 'asked' as MessageId } },
});

/** Runs on in a sandbox while no function waits. */
const detached: ToolCall = {
  ...{ callId: 'call-detached' as CallId, name: 'execute_command', args: { command: 'make' } },
  ...{ status: 'executing', askedHuman: false, digest: 'd', askedAt: 'then', generation: 1 },
  wait: { id: 'tool:turn:1:call-detached', since: 1, endsBy: 1e12 },
};

/** A parent that waits for as many children as are named, each in its status, and for the other calls. */
const open = async (
  children: readonly (Pick<Session, 'status'> & { readonly stopReason?: StopReason })[],
  others: readonly ToolCall[] = [],
) => {
  const { ports } = openQuietPorts();
  const { sessions, inbox, turns, eventLog } = ports;
  const parent = newSession();
  await sessions.create(parent, { workspace: workspaceOf(parent) });
  await inbox.accept(parent, message('m', 1), inboxLimits);
  const held = await turns.takeLease(parent.id, { holder: 'me', at: 2, until: 1e12 });
  if (held === undefined) throw new Error('the lease was not free');
  const tree = { root: parent.id, parent: parent.id };
  const made: Session[] = [];
  for (const [place, { status, stopReason }] of children.entries()) {
    const child = { ...newSession(), status, tree, depth: 1 };
    await sessions.create(child, {
      workspace: workspaceOf(child),
      child: { parent: held, agentsMax: 9 },
    });
    if (status !== 'running') await eventLog.append(child.id, answered(`answer ${place}`, stopReason), 3);
    made.push(child);
  }
  const state: Acting = {
    ...{ kind: 'acting', turnId: 'turn' as TurnId, messageId: 'm' as MessageId, step: 1, spentUsd: 0 },
    ...{ usage: { inputTokens: 0, outputTokens: 0 }, policy: { mode: 'auto', grants: [] } },
    calls: [...made.map(callFor), ...others],
  };
  const committed = await turns.commit({
    ...{ session: held, fence: held.lease.fence, version: 0, state, at: 4, log: [], history: [] },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0, release: false, wakes: false, dueAt: 1e12 },
  });
  if (committed.status !== 'committed') throw new Error(`the turn was not written: ${committed.status}`);
  const context = await loadTurn(
    ports,
    { session: committed.session },
    { limits, startedAt: 4, handoverAt: 1e12 },
  );
  return { ports, context, look: () => collectChildResults(ports, context) };
};

/** The first it waits for. */
const childOf = ({ turn: { state } }: TurnContext): SessionId => {
  const [call] = state.kind === 'acting' ? state.calls : [];
  if (call?.wait === undefined || !('child' in call.wait)) throw new Error('it waits for no child');
  return call.wait.child.session;
};

test('all that have answered are read under one lease, in the order of the calls', async () => {
  const { look } = await open([{ status: 'idle' }, { status: 'idle' }, { status: 'idle' }]);
  const after = (await look())?.context;
  expect(after?.turn.state.kind).toBe('thinking');
  expect(after?.history.map((said) => (said.role === 'tool' ? said.text : said.role))).toEqual([
    expect.stringMatching(/^session_id: .*\nanswer 0$/),
    expect.stringMatching(/^session_id: .*\nanswer 1$/),
    expect.stringMatching(/^session_id: .*\nanswer 2$/),
  ]);
});

test('the others are waited for, with the lease released', async () => {
  const { ports, context, look } = await open([
    { status: 'idle' },
    { status: 'running' },
    { status: 'idle' },
  ]);
  const outcome = await look();
  const after = outcome?.context;
  expect(outcome).toMatchObject({ status: 'released', context: { turn: { state: { kind: 'acting' } } } });
  const statuses =
    after?.turn.state.kind === 'acting' ? after.turn.state.calls.map(({ status }) => status) : [];
  expect(statuses).toEqual(['completed', 'executing', 'completed']);
  expect((await ports.sessions.get(context.session.id))?.lease.until).toBe(0);
});

test('a call that runs on in a sandbox keeps the lease: it is looked at in the same hold, and its look is not put off', async () => {
  const { look } = await open([{ status: 'idle' }, { status: 'idle' }], [detached]);
  expect((await look())?.status).toBe('current');
});

test('no result is written while all work', async () => {
  const { look } = await open([{ status: 'running' }]);
  expect(await look()).toBeUndefined();
});

test('a child whose turn ends while a message waits that its holder has not seen runs on, and is waited for', async () => {
  const { ports, context, look } = await open([{ status: 'running' }]);
  const id = childOf(context);
  const session = await ports.sessions.get(id);
  if (session === undefined) throw new Error('the child is not there');
  await ports.inbox.accept(session, message('asked', 5), inboxLimits);
  // The turn before it ends.
  const { turn } = await ports.turns.loadWork(id);
  await ports.turns.commit({
    ...{ ...turn, session, at: 6, log: [], history: [], patch: { status: 'idle' } },
    ...{ fence: session.lease.fence, release: false, wakes: false, dueAt: 1e12 },
  });
  expect((await ports.sessions.get(id))?.status).toBe('running');
  expect(await look()).toBeUndefined();
});

test('one that ended without an answer fails its call', async () => {
  const { ports, context, look } = await open([{ status: 'running' }]);
  const session = await ports.sessions.get(childOf(context));
  if (session === undefined) throw new Error('the child is not there');
  await ports.sessions.end(session, { status: 'completed', at: 5, dueAt: 9 });
  const after = (await look())?.context;
  expect(after?.history.at(-1)).toMatchObject({
    outcome: 'failed',
    text: expect.stringContaining('before it answered'),
  });
});

test.each<[StopReason, string]>([
  ['budget_exceeded', 'resource_limit_exceeded'],
  ['cancelled', 'invalid_session_state'],
  ['refused', 'internal_error'],
])('a child that stopped with %s has failed the call with %s', async (stopReason, code) => {
  const { ports, context, look } = await open([{ status: 'idle', stopReason }]);
  await look();
  const { events } = await ports.eventLog.read(context.session.id, { since: -1, eventsMax: 9 });
  const failed = events.find(({ type }) => type === 'agent:error');
  expect(failed?.data).toMatchObject({ code, message: expect.stringContaining(stopReason) });
});
