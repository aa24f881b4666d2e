/** A cancel beside steps of the turn's holder: what it leaves to the session is of the turn that it ended, and its programs are killed. */
import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newSession,
  workspaceOf,
} from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { CallId, MessageId, SessionId, TurnId } from '../../../domain/ids.ts';
import type { ToolCall } from '../../../domain/turn/tool-call.ts';
import type { Acting, Deciding, Thinking, TurnState } from '../../../domain/turn/turn.ts';
import type { SessionPatch } from '../../../ports/turn-store.ts';
import { cancelTree, cancelTurn } from './cancel-turn.ts';
import { failTurn } from './fail-turn.ts';

const running = {
  ...{ turnId: 't' as TurnId, messageId: 'one' as MessageId, step: 1, spentUsd: 0 },
  ...{ usage: { inputTokens: 0, outputTokens: 0 }, policy: { mode: 'ask' as const, grants: [] } },
};
const call: ToolCall = {
  ...{ callId: 'c' as CallId, name: 'execute_command', args: {}, askedHuman: true, status: 'executing' },
  ...{ digest: 'd', askedAt: '2026-01-01T00:00:00.000Z', generation: 1 },
};
const key = 'tool:t:1:c';
const endsBy = 9_000_000;
const acting: Acting = { kind: 'acting', ...running, calls: [call] };
const detached: Acting = { ...acting, calls: [{ ...call, wait: { id: key, since: 1, endsBy } }] };
const { generation: _, ...unstarted } = call;
const deciding: Deciding = { kind: 'deciding', ...running, calls: [{ ...unstarted, status: 'pending' }] };

/** A session whose turn is acting, and the commit that brings it into another state without an event. */
const open = async () => {
  const quiet = openQuietPorts();
  const { ports, clock, hooks } = quiet;
  const made = newSession({ createdAt: clock.now, lastActiveAt: clock.now });
  const { id } = made;
  await ports.sessions.create(made, { workspace: workspaceOf(made) });
  await ports.inbox.accept(made, message('one', clock.now), inboxLimits);
  const kills: (readonly string[])[] = [];
  const invoker = {
    ...ports.invoker,
    runTurn: async (_id: SessionId, { kills: asked }: { readonly kills?: readonly string[] } = {}) => {
      if (asked !== undefined) kills.push(asked);
    },
  };
  const read = async () => (await ports.sessions.get(id)) ?? made;
  const move = async (version: number, state: TurnState, patch: SessionPatch = {}) => {
    const session = await read();
    await ports.turns.commit({
      ...{ session, version, state, patch, at: clock.now, log: [], history: [], release: false },
      ...{ historyNext: 0, historyFrom: 0, historyKept: 0, wakes: false, dueAt: clock.now + 15_000 },
    });
  };
  await move(0, acting);
  return {
    ...{ ports: { ...ports, invoker }, id, read, move, kills },
    /** Between the read of the session and that of its turn. */
    between: (step: () => Promise<void>) => {
      hooks.before = async ({ constructor: { name } }) => {
        if (name !== 'QueryCommand') return;
        hooks.before = async () => undefined;
        await step();
      };
    },
  };
};

test.each([
  ['cancel', 1],
  ['cancel', 2],
  ['failure', 2],
] as const)(
  'a %s of a call that was detached (between the reads: %i) leaves none running (L5)',
  async (how, reads) => {
    const { ports, id, read, move, between, kills } = await open();
    const detach = () => move(1, detached, { runningCalls: { [key]: endsBy } });
    if (reads === 1) await detach();
    else between(detach);
    await (how === 'cancel' ? cancelTurn(ports, id) : failTurn(ports, id, { version: 2 }));
    expect((await ports.turns.loadWork(id)).turn.state.kind).toBe('done');
    const { status, runningCalls } = await read();
    expect({ status, runningCalls }).toEqual({ status: 'idle', runningCalls: {} });
    expect(kills).toEqual([[key]]);
  },
);

test('a cancel of a turn that began to wait for a person between the reads leaves a session that does not wait', async () => {
  const { ports, id, read, move, between } = await open();
  between(() => move(1, deciding, { waits: true }));
  await cancelTurn(ports, id);
  expect(await read()).toMatchObject({ status: 'idle', waits: false });
});

test('a turn that no function continues ends with the work of its children', async () => {
  const { ports, id, read } = await open();
  const tree = { root: id, parent: id };
  const child = newSession({ depth: 1, tree });
  await ports.sessions.create(child, {
    workspace: workspaceOf(child),
    child: { parent: await read(), agentsMax: 9, isUnleased: true },
  });
  await ports.inbox.accept(child, message('asked', 2), inboxLimits);
  await failTurn(ports, id, { version: 1 });
  expect((await ports.turns.loadWork(id)).turn.state).toMatchObject({ kind: 'done', stopReason: 'error' });
  const left = await ports.turns.loadWork(child.id);
  expect(left.turn.state).toMatchObject({ kind: 'done', stopReason: 'cancelled' });
  expect(left.inbox).toEqual([]);
});

test('a cancel that loses to the last step of its turn leaves the turn of the next message', async () => {
  const { ports, id, read, move } = await open();
  await ports.inbox.accept(await read(), message('two', 2), inboxLimits);
  const next: Thinking = {
    kind: 'thinking',
    ...running,
    turnId: 'u' as TurnId,
    messageId: 'two' as MessageId,
  };
  let isFirst = true;
  const commit: typeof ports.turns.commit = async (step) => {
    if (isFirst) {
      isFirst = false;
      await move(1, next);
    }
    return ports.turns.commit(step);
  };
  await cancelTurn({ ...ports, turns: { ...ports.turns, commit } }, id);
  expect((await ports.turns.loadWork(id)).turn.state).toEqual(next);
});

/** The children of the cancelled turn and of the next, which begins as soon as the cancel is written, and a message for each. */
const openTree = async () => {
  const { ports, id, read } = await open();
  const newChild = async (name: string) => {
    const parent = await read();
    const child = newSession({ tree: { root: id, parent: id }, depth: 1 });
    const under = { parent, agentsMax: 9, isUnleased: true as const };
    await ports.sessions.create(child, { workspace: workspaceOf(child), child: under });
    await ports.inbox.accept(child, message(name, 1_000_500), inboxLimits);
    return child.id;
  };
  const made = [await newChild('of one')];
  await ports.inbox.accept(await read(), message('two', 1_000_500), inboxLimits);
  const runTurn = async () => {
    if (made.length === 1) made.push(await newChild('of two'));
  };
  const waiting = () =>
    Promise.all(made.map(async (child) => (await ports.turns.loadWork(child)).inbox.length));
  return { ports: { ...ports, invoker: { ...ports.invoker, runTurn } }, id, waiting };
};

test('a cancel leaves the children of the next message alone', async () => {
  const { ports, id, waiting } = await openTree();
  await cancelTree(ports, id);
  expect(await waiting()).toEqual([0, 1]);
});

test('a turn that stalled ends without the children of the next message', async () => {
  const { ports, id, waiting } = await openTree();
  const { version } = (await ports.turns.loadWork(id)).turn;
  await failTurn(ports, id, { version });
  expect(await waiting()).toEqual([0, 1]);
});

test.each([
  ['cancel', 2_000_000, []],
  ['cancel', 0, [[key]]],
  ['failure', 0, [[key]]],
] as const)(
  'a %s kills a call that a function waits for only where none holds the turn (until %i)',
  async (...[how, until, expected]) => {
    const { ports, id, kills } = await open();
    if (until > 0) await ports.turns.takeLease(id, { holder: 'h', at: 1_000_000, until });
    await (how === 'cancel' ? cancelTurn(ports, id) : failTurn(ports, id, { version: 1 }));
    expect(kills).toEqual(expected);
  },
);
