/** Ending a session: what waits is completed first, and one that came back to life since it was read is left alone. */
import { expect, test } from 'vitest';
import {
  activeAt,
  inboxLimits,
  message,
  newSession,
  note,
  workspaceOf,
} from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { Session } from '../../../domain/session.ts';
import { cancelTurn } from './cancel-turn.ts';
import { endSession } from './end-session.ts';

const open = async (change: Partial<Session> = {}) => {
  const quiet = openQuietPorts();
  const { ports, clock } = quiet;
  const session = newSession({ createdAt: clock.now, lastActiveAt: clock.now, ...change });
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const ending = { reason: 'idle' };
  const read = async (): Promise<Session> => (await ports.sessions.get(session.id)) ?? session;
  const said = async () => {
    const { events } = await ports.eventLog.read(session.id, { since: -1, eventsMax: 100 });
    return events.map(({ type, data }) => (type === 'system' ? data['kind'] : type));
  };
  return {
    ...{ ...quiet, session, read, said },
    end: (seen: Session, unlessMoved: boolean) => endSession(ports, seen, { ...ending, unlessMoved }),
  };
};

test('a session that got its first message since it was read keeps it and stays active', async () => {
  const { ports, session, end, read, said } = await open();
  await ports.inbox.accept(session, message('m', 1_000_500), inboxLimits);
  expect(await end(session, true)).toBe(false);
  expect((await read()).status).toBe('running');
  expect((await ports.turns.loadWork(session.id)).inbox).toHaveLength(1);
  expect(await said()).toEqual([]);
});

test('a session with activity since it was read is left alone', async () => {
  const { ports, session, end, read } = await open();
  await ports.sessions.touch(session, activeAt(1_000_500, 1_000_000));
  expect(await end(session, true)).toBe(false);
  expect((await read()).status).toBe('created');
});

test('a message that arrives while another is cancelled is kept on request, and completed otherwise', async () => {
  for (const unlessMoved of [true, false]) {
    const { ports, session, end, read, said, hooks } = await open();
    await ports.inbox.accept(session, message('one', 1_000_500), inboxLimits);
    const seen = await read();
    let isFirst = true;
    hooks.before = async ({ input }) => {
      if (!isFirst || !JSON.stringify(input).includes('"completion')) return;
      isFirst = false;
      await ports.inbox.accept(seen, message('two', 1_000_600), inboxLimits);
    };
    expect(await end(seen, unlessMoved)).toBe(!unlessMoved);
    expect((await ports.turns.loadWork(session.id)).inbox).toHaveLength(unlessMoved ? 2 : 0);
    expect((await said()).filter((kind) => kind === 'completion')).toHaveLength(unlessMoved ? 0 : 2);
  }
});

test('an idle session is ended with six requests before its sandbox is released', async () => {
  const { session, end, takeRequests, said } = await open({ status: 'idle' });
  takeRequests();
  expect(await end(session, true)).toBe(true);
  expect(takeRequests()).toEqual(['Get', 'Query', 'TransactWrite', 'Query', 'TransactWrite', 'Get']);
  expect(await said()).toEqual(['session_status']);
});

test('a cancel that loses every race is a conflict', async () => {
  const { ports, session, hooks, read } = await open();
  await ports.inbox.accept(session, message('one', 1_000_500), inboxLimits);
  let isOwn = false;
  hooks.before = async ({ input }) => {
    if (isOwn || !JSON.stringify(input).includes('"completion')) return;
    isOwn = true;
    const now = await read();
    const { turn } = await ports.turns.loadWork(session.id);
    await ports.turns.commit({
      ...{ session: now, version: turn.version, state: turn.state, at: 1_000_600 },
      ...{ historyNext: 0, historyFrom: 0, historyKept: 0, history: [], log: [note('moved')] },
      ...{ release: false, wakes: false, dueAt: 0 },
    });
    isOwn = false;
  };
  await expect(cancelTurn(ports, session.id)).rejects.toMatchObject({ code: 'conflict' });
});

test('a message that arrives while a waiting turn is cancelled is woken for', async () => {
  const { ports, session, hooks, invoked } = await open();
  await ports.inbox.accept(session, message('one', 1_000_500), inboxLimits);
  const seen = await ports.sessions.get(session.id);
  let isFirst = true;
  hooks.before = async ({ input }) => {
    if (!isFirst || !JSON.stringify(input).includes('"completion')) return;
    isFirst = false;
    await ports.inbox.accept(seen ?? session, message('two', 1_000_600), inboxLimits);
  };
  await cancelTurn(ports, session.id);
  expect((await ports.turns.loadWork(session.id)).inbox.map(({ messageId }) => messageId)).toEqual(['two']);
  expect(invoked).toEqual([`turn ${session.id}`]);
});

test('an end that comes late leaves the children of a resumed session alone', async () => {
  const { ports, clock, session, end, read, hooks } = await open({ status: 'idle' });
  const newChild = async () => {
    const child = newSession({ tree: { root: session.id, parent: session.id }, depth: 1 });
    const under = { parent: await read(), agentsMax: 9, isUnleased: true as const };
    await ports.sessions.create(child, { workspace: workspaceOf(child), child: under });
    return child;
  };
  await newChild();
  const made: Session[] = [];
  hooks.before = async ({ input }) => {
    if (!JSON.stringify(input).includes('"CHILD#"')) return;
    hooks.before = async () => undefined;
    const resuming = { at: clock.now, dueAt: clock.now, conversationsMax: 9, log: [], audits: [] };
    expect((await ports.sessions.resume(await read(), resuming)).status).toBe('resumed');
    made.push(await newChild());
  };
  expect(await end(await read(), false)).toBe(true);
  const now = await ports.sessions.getMany(made.map(({ id }) => id));
  expect(now.map(({ status }) => status)).toEqual(['created']);
});

test('the children of a session that stays ended end with it', async () => {
  const { ports, session, end, read } = await open({ status: 'idle' });
  const child = newSession({ tree: { root: session.id, parent: session.id }, depth: 1 });
  const under = { parent: await read(), agentsMax: 9, isUnleased: true as const };
  await ports.sessions.create(child, { workspace: workspaceOf(child), child: under });
  expect(await end(await read(), false)).toBe(true);
  expect((await ports.sessions.get(child.id))?.status).toBe('completed');
});
