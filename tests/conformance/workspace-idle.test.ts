/** Taking an idle sandbox against a real DynamoDB engine: nobody loses one that came back to life meanwhile. */
import { describe, expect, test } from 'vitest';
import type { SessionId } from '#shared/domain/ids.ts';
import { idleCheckUsersMax } from '#shared/domain/limits.ts';
import type { Workspace } from '#shared/domain/sandbox.ts';
import type { Session } from '#shared/domain/session.ts';
import {
  activeAt,
  atOnce,
  farAway,
  inboxLimits,
  message,
  newExecution,
  newSandbox,
  newSession,
  onTable,
  tally,
  workspaceOf,
} from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const stores = () => onTable(fixture.table);
const stop = { reason: 'idle', at: 70_000, dueAt: 70_500, pausedUntil: () => 900_000 };

/** An agent session and an execution session in one workspace with a ready sandbox, all as read. */
const idle = async () => {
  const { sessions, workspaces, readWorkspace, read } = stores();
  const agent = newSession();
  const execution = newExecution({ workspace: agent.workspace, status: 'ready' });
  await workspaces.create({ ...workspaceOf(agent), users: [agent.id, execution.id].sort() });
  await sessions.create(agent, {});
  await sessions.create(execution, {});
  await workspaces.claimStart(agent.workspace, newSandbox());
  await workspaces.markReady(agent.workspace, 1, { at: 6000 });
  return {
    workspace: await readWorkspace(agent.workspace),
    agent: await read(agent.id),
    execution: await read(execution.id),
  };
};

type Idle = Awaited<ReturnType<typeof idle>>;

const take = ({ workspace, agent, execution }: Idle): Promise<Workspace | undefined> =>
  stores().workspaces.markIdle(workspace, [agent, execution], stop);

/** The answer of a child arrives in a turn that only waited for it. */
const takeStep = async (agent: Session): Promise<void> => {
  const { turns } = stores();
  const { turn } = await turns.loadWork(agent.id);
  const { status } = await turns.commit({
    ...{ session: agent, version: turn.version, state: turn.state, at: agent.lastActiveAt, history: [] },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0 },
    log: [{ type: 'agent:error', data: { code: 'internal_error', message: 'x' } }],
    patch: { lastActiveAt: agent.lastActiveAt },
    ...{ release: false, wakes: false, dueAt: farAway },
  });
  expect(status).toBe('committed');
};

test('an idle sandbox is marked to stop, as by any other stop', async () => {
  const { readWorkspace, isWorkspaceDue } = stores();
  const found = await idle();
  const marked = await take(found);
  expect(marked).toEqual({
    ...found.workspace,
    sandbox: {
      ...found.workspace.sandbox,
      state: 'stopping',
      stopRequestedAt: 70_000,
      stoppedReason: 'idle',
    },
  });
  expect(await readWorkspace(found.workspace.id)).toEqual(marked);
  expect(await isWorkspaceDue(found.workspace.id, 70_499)).toBe(false);
  expect(await isWorkspaceDue(found.workspace.id, 70_500)).toBe(true);
});

test('a workspace without sessions is idle', async () => {
  const { workspaces } = stores();
  const { workspace } = await idle();
  expect((await workspaces.markIdle(workspace, [], stop))?.sandbox?.state).toBe('stopping');
});

describe('an idle sandbox stays when, since it was read,', () => {
  const changes: [string, (found: Idle) => Promise<unknown>][] = [
    ['a session was touched', ({ agent }) => stores().sessions.touch(agent, activeAt(69_999, farAway))],
    [
      'a session got a lease',
      ({ agent }) => stores().turns.takeLease(agent.id, { holder: 'a', at: 69_999, until: 99_999 }),
    ],
    [
      'a session entered its workspace',
      async ({ agent, workspace }) => {
        const { owner, project } = agent;
        const entering = newExecution({ owner, project, workspace: workspace.id });
        expect(await stores().sessions.create(entering, { enters: {} })).toBe('created');
      },
    ],
    // At the very moment of its last sign of life: only the count of its work tells.
    [
      'a session got a message in the same millisecond',
      ({ agent }) => stores().inbox.accept(agent, message('m', agent.lastActiveAt), inboxLimits),
    ],
    // A function stood still past the end of its lease, and writes what it did by the time that it had read before.
    ['a holder without a lease took a step of its turn', ({ agent }) => takeStep(agent)],
    ['a session got a message', ({ agent }) => stores().inbox.accept(agent, message('m'), inboxLimits)],
    [
      'a call began',
      ({ execution }) =>
        stores().sessions.beginCall(execution.id, { key: 'a', at: 69_999, until: 99_999, idleMs: farAway }),
    ],
    [
      'a session ended',
      ({ agent }) => stores().sessions.end(agent, { status: 'completed', at: 69_999, dueAt: farAway }),
    ],
    ['a session was forgotten', ({ agent }) => stores().remove(agent.id)],
    ['a process was begun in it', ({ workspace }) => stores().workspaces.recordProcesses(workspace.id, 1)],
    [
      'the sandbox stopped',
      ({ workspace }) => stores().workspaces.markStopped(workspace.id, 1, { reason: 'x', at: 1 }),
    ],
  ];

  test.each(changes)('%s', async (_what, change) => {
    const { workspaces } = stores();
    const found = await idle();
    await change(found);
    const before = await workspaces.get(found.workspace.id);
    expect(await take(found)).toBeUndefined();
    expect(await workspaces.get(found.workspace.id)).toEqual(before);
  });
});

describe('a sandbox of more sessions than one transaction checks', () => {
  const crowd = async () => {
    const { workspaces, workspaceIn } = stores();
    const users = await atOnce(idleCheckUsersMax + 1, async () => newSession().id);
    const { id } = await workspaceIn('ready', { users: users.sort() });
    return { id, workspaces, marked: await workspaces.markIdleCheck(id, 1, 'a') };
  };
  const takeAs = (marked: Workspace | undefined): Promise<Workspace | undefined> =>
    marked === undefined ? Promise.resolve(undefined) : stores().workspaces.markIdle(marked, [], stop);

  test('is marked to stop while its check lasts', async () => {
    const { marked } = await crowd();
    expect((await takeAs(marked))?.sandbox?.state).toBe('stopping');
  });

  test('stays when a caller has ended the check', async () => {
    const { id, workspaces, marked } = await crowd();
    expect(await workspaces.endIdleCheck(id, 1)).toBe(true);
    expect(await takeAs(marked)).toBeUndefined();
  });

  test('stays when another check began', async () => {
    const { id, workspaces, marked } = await crowd();
    const later = await workspaces.markIdleCheck(id, 1, 'b');
    expect(await takeAs(marked)).toBeUndefined();
    expect((await takeAs(later))?.sandbox?.state).toBe('stopping');
  });

  test('is neither checked nor kept once it stops', async () => {
    const { id, workspaces, marked } = await crowd();
    await takeAs(marked);
    expect(await workspaces.markIdleCheck(id, 1, 'b')).toBeUndefined();
    expect(await workspaces.endIdleCheck(id, 1)).toBe(false);
  });
});

test('a message concurrent with the marking is either seen by it or comes after it', async () => {
  const { inbox, readWorkspace } = stores();
  const outcomes = await atOnce(20, async () => {
    const found = await idle();
    const [marked, accepted] = await Promise.all([
      take(found),
      inbox.accept(found.agent, message('m'), inboxLimits),
    ]);
    const state = (await readWorkspace(found.workspace.id)).sandbox?.state;
    return `${accepted}: ${marked === undefined ? 'left' : 'taken'}, ${state}`;
  });
  const possible = ['accepted: left, ready', 'accepted: taken, stopping'];
  expect(Object.keys(tally(outcomes)).filter((outcome) => !possible.includes(outcome))).toEqual([]);
});

test('of twenty concurrent markings, all report one reason and one time', async () => {
  const { workspaces, readWorkspace } = stores();
  const { workspace, agent, execution } = await idle();
  await atOnce(20, (index) =>
    workspaces.markIdle(workspace, [agent, execution], {
      reason: `idle ${index}`,
      at: 70_000 + index,
      dueAt: 80_000,
      pausedUntil: () => 900_000,
    }),
  );
  const { stoppedReason, stopRequestedAt } = (await readWorkspace(workspace.id)).sandbox ?? {};
  expect(stoppedReason).toBe(`idle ${(stopRequestedAt ?? 0) - 70_000}`);
});

test('a workspace without a sandbox has none to stop', async () => {
  const { workspaces, create, readWorkspace } = stores();
  const session: Session = await create();
  const workspace = await readWorkspace(session.workspace);
  expect(await workspaces.markIdle(workspace, [session], stop)).toBeUndefined();
  expect(await readWorkspace(session.workspace)).toEqual(workspace);
  expect(workspace.users).toEqual<readonly SessionId[]>([session.id]);
});
