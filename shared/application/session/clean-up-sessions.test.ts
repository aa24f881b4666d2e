/** A clean-up of ended sessions goes after what their ends left undone: children that live on, answers that nobody has read. */
import { expect, test } from 'vitest';
import { inboxLimits, message, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { CallId, MessageId } from '../../domain/ids.ts';
import { deploymentOwner, type Principal } from '../../domain/principal.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import type { TurnState } from '../../domain/turn/turn.ts';
import { cleanUpSessions } from './clean-up-sessions.ts';

const principal: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'h' };

const open = async () => {
  const quiet = openQuietPorts();
  const { ports, clock } = quiet;
  const at = { owner: deploymentOwner, createdAt: clock.now, lastActiveAt: clock.now, dueAt: clock.now };
  const root = newSession(at);
  await ports.sessions.create(root, { workspace: workspaceOf(root) });
  const tree = { root: root.id, parent: root.id };
  const child = newSession({ ...at, project: root.project, tree, depth: 1 });
  const beside = { parent: root, agentsMax: 9, isUnleased: true as const };
  expect(await ports.sessions.create(child, { workspace: workspaceOf(child), child: beside })).toBe(
    'created',
  );
  await ports.inbox.accept(child, message('m', clock.now), inboxLimits);
  const cleanUp = ({ id }: Session, change: Partial<typeof ports> = {}) => {
    const all = { ...ports, ...change, forgetFiles: async () => undefined };
    return cleanUpSessions(all, { principal, ageMsMin: 0, only: [id] });
  };
  const read = async ({ id }: Session): Promise<Session> => {
    const session = await ports.sessions.get(id);
    if (session === undefined) throw new Error('the session is not there');
    return session;
  };
  /** As a function leaves it that dies next. */
  const end = async (session: Session) =>
    ports.sessions.end(await read(session), { status: 'completed', at: clock.now, dueAt: clock.now });
  return { ...quiet, root, child, cleanUp, read, end };
};

test('CH4: the children of a session are ended before it is forgotten', async () => {
  const { ports, root, child, cleanUp, read, end } = await open();
  expect(await end(root)).toBeDefined();
  expect(await cleanUp(root)).toEqual({ removed: 1, hasMore: false });
  expect(await ports.sessions.get(root.id)).toBeUndefined();
  expect(isEnded((await read(child)).status)).toBe(true);
});

test('CH4: the children of a session that was resumed since it was read go on', async () => {
  const { ports, root, child, cleanUp, read, end, clock } = await open();
  await end(root);
  const sessions: typeof ports.sessions = {
    ...ports.sessions,
    getMany: async (ids) => {
      const found = await ports.sessions.getMany(ids);
      const at = clock.now + 1;
      const resuming = { at, dueAt: at + 900_000, conversationsMax: 9, log: [], audits: [] };
      expect(await ports.sessions.resume(await read(root), resuming)).toMatchObject({ status: 'resumed' });
      return found;
    },
  };
  expect(await cleanUp(root, { sessions })).toEqual({ removed: 0, hasMore: true });
  expect([isEnded((await read(root)).status), isEnded((await read(child)).status)]).toEqual([false, false]);
});

test('CH3: a child whose answer its parent has not read stays, and its parent reads it', async () => {
  const { ports, invoked, root, child, cleanUp, read, end } = await open();
  await end(child);
  const wait = { child: { session: child.id, message: 'm' as MessageId } };
  const call = { callId: 'c' as CallId, status: 'executing', wait };
  const waiting = { kind: 'acting', calls: [call] } as unknown as TurnState;
  const turns: typeof ports.turns = {
    ...ports.turns,
    loadWork: async (id) => {
      const work = await ports.turns.loadWork(id);
      return id === root.id ? { ...work, turn: { ...work.turn, state: waiting } } : work;
    },
  };
  expect(await cleanUp(child, { turns })).toEqual({ removed: 0, hasMore: true });
  expect(invoked).toContain(`turn ${root.id}`);
  expect(isEnded((await read(child)).status)).toBe(true);
});

test.each([
  ['waits for a decision', { kind: 'deciding', status: 'pending', state: 'tried' }],
  ['was approved', { kind: 'acting', status: 'approved', state: 'tried' }],
  ['is still tried', { kind: 'deciding', status: 'pending', state: 'due' }],
] as const)('AP7: the files of a trial stay while its call %s', async (_, { kind, status, state }) => {
  const { ports, root, cleanUp, end, clock } = await open();
  const own = newSession({
    ...{ owner: deploymentOwner, project: root.project, kind: 'execution', status: 'ready' },
    ...{ trialOf: root.id, createdAt: clock.now, lastActiveAt: clock.now },
  });
  await ports.sessions.create(own, { workspace: workspaceOf(own) });
  await end(own);
  const call = { callId: 'c' as CallId, status, trial: { state, session: own.id } };
  let turn = { kind, calls: [call] } as unknown as TurnState;
  const turns: typeof ports.turns = {
    ...ports.turns,
    loadWork: async (id) => {
      const work = await ports.turns.loadWork(id);
      return id === root.id ? { ...work, turn: { ...work.turn, state: turn } } : work;
    },
  };
  expect(await cleanUp(own, { turns })).toEqual({ removed: 0, hasMore: true });
  expect(await ports.workspaces.get(own.workspace)).toBeDefined();
  turn = { kind: 'done' } as TurnState;
  expect(await cleanUp(own, { turns })).toEqual({ removed: 1, hasMore: false });
});
