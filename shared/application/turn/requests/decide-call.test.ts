/**
 * A decision that ends a turn beside a message that arrives or waits, one by a session that was read too early, one about a call
 * that was tried, and one that changes the arguments.
 */
import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newSession,
  workspaceOf,
} from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { CallId, MessageId, SessionId, TurnId, WorkspaceId } from '../../../domain/ids.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { deploymentOwner } from '../../../domain/principal.ts';
import type { Session } from '../../../domain/session.ts';
import type { ToolCall } from '../../../domain/turn/tool-call.ts';
import type { Deciding, TurnState } from '../../../domain/turn/turn.ts';
import type { TurnSlot } from '../../../ports/turn-store.ts';
import type { FoundTurn } from '../commit/commit-without-lease.ts';
import { decideCall } from './decide-call.ts';

type DecideDeps = Parameters<typeof decideCall>[0];
type Quiet = ReturnType<typeof openQuietPorts>['ports'];

/** The turn may take one step: a rejection is its last. */
const limits = { stepsMax: 1, callsMax: 4, usdMax: 10 };
const deciding: Deciding = {
  ...{ kind: 'deciding', turnId: 't' as TurnId, messageId: 'one' as MessageId, step: 1, spentUsd: 0 },
  usage: { inputTokens: 0, outputTokens: 0 },
  policy: { mode: 'ask', grants: [] },
  calls: [
    {
      ...{ callId: 'c' as CallId, name: 'execute_command', args: {}, askedHuman: true, status: 'pending' },
      ...{ digest: 'd', askedAt: '2026-01-01T00:00:00.000Z' },
    },
  ],
};

/** A session with a message. Its turn has a slot until it rests for a call. */
const open = async () => {
  const quiet = openQuietPorts();
  const { ports, clock } = quiet;
  const made = newSession({ createdAt: clock.now, lastActiveAt: clock.now });
  const { id } = made;
  await ports.sessions.create(made, { workspace: workspaceOf(made) });
  await ports.inbox.accept(made, message('one', clock.now), inboxLimits);
  const read = async () => (await ports.sessions.get(id)) ?? made;
  const commit = async (state: TurnState, session: Session, slot?: TurnSlot) => {
    const { turn } = await ports.turns.loadWork(id);
    return ports.turns.commit({
      ...{ session, version: turn.version, state, at: clock.now, history: [] },
      ...{ log: [{ type: 'agent:error', data: { code: 'internal_error', message: 'x' } }], slot },
      ...{ historyNext: 0, historyFrom: 0, historyKept: 0 },
      ...{ release: true, wakes: false, dueAt: clock.now + 900_000 },
    });
  };
  return { ...quiet, id, read, commit, rest: (session: Session) => commit(deciding, session) };
};

type Decided = { readonly approved: boolean; readonly effectDigest?: string; readonly args?: JsonObject };

const decide = (ports: Quiet, found: FoundTurn, decided: Decided) =>
  decideCall({ ...ports, auditLog: { append: async () => undefined } } as unknown as DecideDeps, {
    ...{ sessionId: found.session.id, callId: 'c', limits },
    find: () => Promise.resolve(found),
    decisionOf: () => ({ callId: 'c', digest: 'd', ...decided }),
    principal: { owner: deploymentOwner, scope: 'admin', tokenHash: 'h' },
  });

test('a message that arrives while a rejection ends the turn is woken for', async () => {
  const { ports, clock, hooks, invoked, id, read, rest } = await open();
  await rest(await read());
  const seen = await read();
  const { turn } = await ports.turns.loadWork(id);
  let isFirst = true;
  hooks.before = async ({ input }) => {
    if (!isFirst || !JSON.stringify(input).includes('"completion')) return;
    isFirst = false;
    await ports.inbox.accept(seen, message('two', clock.now), inboxLimits);
  };
  await decide(ports, { session: seen, turn }, { approved: false });
  const left = await ports.turns.loadWork(id);
  expect(left.turn.state.kind).toBe('done');
  expect(left.inbox.map(({ messageId }) => messageId)).toEqual(['two']);
  expect(invoked).toEqual([`turn ${id}`]);
});

test('a rejection that ends the turn wakes the session for the message that waits behind it', async () => {
  const { ports, clock, invoked, id, read, rest } = await open();
  await ports.inbox.accept(await read(), message('two', clock.now), inboxLimits);
  await rest(await read());
  const { turn } = await ports.turns.loadWork(id);
  await decide(ports, { session: await read(), turn }, { approved: false });
  const left = await ports.turns.loadWork(id);
  expect(left.turn.state.kind).toBe('done');
  expect(left.inbox.map(({ messageId }) => messageId)).toEqual(['two']);
  expect(invoked).toEqual([`turn ${id}`]);
});

const { kind: _, calls: __, ...turnOf } = deciding;
const thinking: TurnState = { kind: 'thinking', ...turnOf };

test('a call that is approved by what was read as its turn rested works in a slot', async () => {
  const { ports, id, read, commit } = await open();
  await commit(thinking, await read(), { change: 'turn-began', known: {}, slotsMax: 1 });
  const before = await read();
  expect(before.slot).toMatchObject({ turn: true });
  await commit(deciding, before, { change: 'turn-rested', known: { turn: true } });
  const { turn } = await ports.turns.loadWork(id);
  await decide(ports, { session: before, turn }, { approved: true });
  expect((await ports.turns.loadWork(id)).turn.state.kind).toBe('acting');
  expect((await read()).slot).toMatchObject({ turn: true });
});

const effectDigest = 'e'.repeat(64);
const triedOn = (live: string | undefined): TurnState => ({
  ...deciding,
  policy: { mode: 'effect', grants: [] },
  calls: deciding.calls.map((call) => ({
    ...call,
    trial: {
      ...{ state: 'tried', session: 'trial' as SessionId, workspace: 'fork' as WorkspaceId, effectDigest },
      ...(live === undefined ? {} : { live }),
      effect: { files: [], exitCode: 0, output: '', hosts: [], durationMs: 1 },
      outcome: { content: [], text: 'done', durationMs: 1 },
    },
  })),
});
const savedAs = { sha256: 'f'.repeat(64), savedAt: 1, generation: 1, files: 1, bytes: 1, packs: [] };

test.each([
  ['tried', { id: 'tried' }, 'executing'],
  ['tried', { id: 'compacted', sameAs: 'tried' }, 'executing'],
  ['tried', { id: 'moved' }, 'due'],
  ['tried', { id: 'moved', sameAs: 'another' }, 'due'],
  [undefined, { id: 'first' }, 'due'],
] as const)('an effect tried on %s is judged by the files of the checkpoint %j', async (live, now, left) => {
  const { ports, id, read, commit } = await open();
  const workspace = await ports.workspaces.get((await read()).workspace);
  const saved = workspace && { ...workspace, checkpoint: { ...savedAs, ...now } };
  const workspaces = { ...ports.workspaces, get: async () => saved };
  await commit(triedOn(live), await read());
  const { turn } = await ports.turns.loadWork(id);
  const decided = decide(
    { ...ports, workspaces },
    { session: await read(), turn },
    { approved: true, effectDigest },
  );
  if (left === 'due') await expect(decided).rejects.toThrow('the workspace has changed');
  else await expect(decided).resolves.toMatchObject({ approved: true });
});

const waitingFor = (call: Partial<ToolCall>): TurnState => ({
  ...deciding,
  calls: deciding.calls.map((each) => ({ ...each, ...call })),
});
const process = { name: 'process', route: { kind: 'platform', tool: 'process' } } as const;
const session = { name: 'session', route: { kind: 'platform', tool: 'session' } } as const;
const remote = { name: 'process', route: { kind: 'remote', server: 'jobs', tool: 'process' } } as const;

test.each<[string, Partial<ToolCall>, { readonly args: JsonObject; readonly field: string }]>([
  ['a tool of the sandbox', {}, { args: { command: 5 }, field: 'command' }],
  ['the tool process', process, { args: { action: 'kill' }, field: 'process_id' }],
  ['the tool session', session, { args: { action: 'spawn' }, field: 'prompt' }],
])(
  'changed arguments that %s does not take are refused, and the call still waits',
  async (_, call, { args, field }) => {
    const { ports, id, read, commit } = await open();
    await commit(waitingFor(call), await read());
    const { turn } = await ports.turns.loadWork(id);
    const decided = decide(ports, { session: await read(), turn }, { approved: true, args });
    await expect(decided).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(`args: ${field}`),
    });
    const { turn: left } = await ports.turns.loadWork(id);
    expect(left.state).toMatchObject({ kind: 'deciding', calls: [{ status: 'pending' }] });
  },
);

test('changed arguments of a tool of a server are judged by the server', async () => {
  const { ports, id, read, commit } = await open();
  await commit(waitingFor(remote), await read());
  const { turn } = await ports.turns.loadWork(id);
  const decided = { approved: true, args: { action: 'kill' } };
  await expect(decide(ports, { session: await read(), turn }, decided)).resolves.toMatchObject({
    approved: true,
  });
});
