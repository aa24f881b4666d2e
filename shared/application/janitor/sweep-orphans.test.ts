/** The orphan sweep beside sessions that claim or enter what it looks at. */
import { describe, expect, test } from 'vitest';
import {
  newExecution,
  newSandbox,
  newSession,
  workspaceOf,
} from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { orphanAgeMs } from '../../domain/limits.ts';
import { poolEntries } from '../../domain/pool.ts';
import type { Session } from '../../domain/session.ts';
import type { SandboxHost } from '../../ports/sandbox.ts';
import { startedFor } from '../sandbox/sandbox-request.ts';
import { startSandbox } from '../sandbox/start-sandbox.ts';
import { sweepOrphans } from './sweep-orphans.ts';

const [entry] = poolEntries(1);

const open = async () => {
  const { ports, clock, hooks, counted, warned } = openQuietPorts();
  if (entry === undefined) throw new Error('the pool has no entry');
  await ports.workspaces.create({ ...workspaceOf(newSession()), id: entry, users: [] });
  await ports.workspaces.claimStart(entry, newSandbox({ requestedAt: clock.now }));
  await ports.workspaces.recordAddress(entry, 1, { taskArn: 'warm', address: 'http://127.0.0.1:1' });
  await ports.workspaces.markReady(entry, 1, { at: clock.now });
  const stopped: string[] = [];
  const running = {
    ...{ taskArn: 'warm', group: `workspace/${entry}/1`, createdAt: clock.now, lastStatus: 'RUNNING' },
  };
  const host: SandboxHost = {
    ...ports.host,
    stop: async (taskArn: string) => void stopped.push(taskArn),
    running: async function* () {
      yield [running];
    },
  };
  clock.now += orphanAgeMs + 1;
  const made = newSession({ createdAt: clock.now, lastActiveAt: clock.now });
  await ports.sessions.create(made, { workspace: workspaceOf(made) });
  const claim = async (): Promise<void> => {
    const workspace = await ports.workspaces.get(made.workspace);
    if (workspace === undefined) throw new Error('the workspace is not there');
    await startSandbox({ ...ports, host, poolSize: 1 }, workspace, {
      ...startedFor(made),
    });
  };
  const sweep = (poolSize: number) => sweepOrphans({ ...ports, host }, { poolSize });
  const taskOf = async () => (await ports.workspaces.get(made.workspace))?.sandbox?.taskArn;
  return { ...{ hooks, counted, warned, host }, stopped, claim, sweep, taskOf };
};

test('a warm sandbox is left alone that is claimed between the read of its claim and that of its record', async () => {
  const { hooks, stopped, claim, sweep, taskOf } = await open();
  hooks.before = async ({ constructor: { name } }) => {
    if (name !== 'BatchGetCommand') return;
    hooks.before = async () => undefined;
    await claim();
  };
  await sweep(1);
  expect([await taskOf(), stopped]).toEqual(['warm', []]);
});

test('one of a pool that has become smaller is stopped', async () => {
  const { stopped, sweep } = await open();
  expect(await sweep(0)).toMatchObject({ stopped: 1 });
  expect(stopped).toEqual(['warm']);
});

test('a second task under the name of one that has a record is stopped', async () => {
  const { ports, clock } = openQuietPorts();
  const session = newSession({ createdAt: clock.now, lastActiveAt: clock.now });
  const { workspace } = session;
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  await ports.workspaces.claimStart(workspace, newSandbox({ requestedAt: clock.now }));
  await ports.workspaces.recordAddress(workspace, 1, { taskArn: 'task', address: 'http://127.0.0.1:1' });
  await ports.workspaces.markReady(workspace, 1, { at: clock.now });
  const task = { group: `workspace/${workspace}/1`, createdAt: clock.now, lastStatus: 'RUNNING' };
  const stopped: string[] = [];
  const host = {
    ...ports.host,
    stop: async (taskArn: string) => void stopped.push(taskArn),
    running: async function* () {
      yield ['task', 'second'].map((taskArn) => ({ ...task, taskArn }));
    },
  };
  clock.now += orphanAgeMs + 1;
  expect(await sweepOrphans({ ...ports, host }, { poolSize: 0 })).toMatchObject({ stopped: 1 });
  expect(stopped).toEqual(['second']);
});

test('a stop that ECS refuses is counted as one, and is not said to be done', async () => {
  const { sweep, counted, warned, host } = await open();
  host.stop = () => Promise.reject(new Error('AccessDeniedException'));
  expect(await sweep(0)).toMatchObject({ stopped: 0, failed: 0 });
  expect(counted).toMatchObject({ SandboxStopsFailed: 1 });
  expect(counted).not.toHaveProperty('OrphansStopped');
  expect(warned).toEqual(['a sandbox did not stop, and the stop will be retried']);
});

describe('beside a record that cannot be read, or cannot be written,', () => {
  const address = 'http://127.0.0.1:1';
  /** Ready sandboxes, of a session each. */
  const open = async (count: number) => {
    const quiet = openQuietPorts();
    const { ports, clock, memory } = quiet;
    const made = Array.from({ length: count }, () =>
      newSession({ createdAt: clock.now, lastActiveAt: clock.now }),
    );
    for (const session of made) {
      const { id, workspace } = session;
      await ports.sessions.create(session, { workspace: { ...workspaceOf(session), isNamed: true } });
      await ports.workspaces.claimStart(workspace, newSandbox({ requestedAt: clock.now }));
      await ports.workspaces.recordAddress(workspace, 1, { taskArn: `task of ${id}`, address });
      await ports.workspaces.markReady(workspace, 1, { at: clock.now });
    }
    clock.now += orphanAgeMs + 1;
    const stopped: string[] = [];
    const taskOf = ({ id, workspace }: Session) => ({
      ...{ taskArn: `task of ${id}`, group: `workspace/${workspace}/1`, createdAt: 0, lastStatus: 'RUNNING' },
    });
    const hostOf = (running: readonly Session[]) => ({
      ...ports.host,
      stop: async (taskArn: string) => void stopped.push(taskArn),
      running: async function* () {
        yield running.map(taskOf);
      },
    });
    const spoil = (pk: string, path: string) =>
      memory.execute({
        constructor: { name: 'UpdateCommand' },
        input: {
          Key: { pk, sk: 'META' },
          UpdateExpression: `SET ${path} = :unknown`,
          ExpressionAttributeValues: { ':unknown': { of: 'a later version' } },
        },
      });
    const states = async (sessions: readonly Session[]) => {
      const found = sessions.map(async ({ workspace }) => (await ports.workspaces.get(workspace))?.sandbox);
      return (await Promise.all(found)).map((sandbox) => sandbox?.state);
    };
    const end = (session: Session) =>
      ports.sessions.end(session, { status: 'completed', at: clock.now, dueAt: clock.now + 15_000 });
    return { ...quiet, made, stopped, hostOf, spoil, states, end };
  };

  test('the task of the record stays, and those without one are stopped', async () => {
    const { ports, made, hostOf, stopped, spoil, warned } = await open(1);
    const [known, unknown] = [...made, newSession()];
    if (known === undefined || unknown === undefined) throw new Error('a session is missing');
    spoil(`WORKSPACE#${known.workspace}`, 'project');
    const report = await sweepOrphans({ ...ports, host: hostOf([known, unknown]) }, { poolSize: 0 });
    expect(report).toMatchObject({ stopped: 1 });
    expect(stopped).toEqual([`task of ${unknown.id}`]);
    expect(warned).toContain('the record of a running task cannot be read');
  });

  test('a sandbox whose session cannot be read is in use, and the others are compared', async () => {
    const { ports, made, hostOf, spoil, states, end } = await open(3);
    const [unread, ended, lost] = made;
    if (unread === undefined || ended === undefined || lost === undefined) throw new Error('too few');
    spoil(`SESSION#${unread.id}`, 'approvals');
    await end(ended);
    const report = await sweepOrphans({ ...ports, host: hostOf([unread, ended]) }, { poolSize: 0 });
    expect(report).toMatchObject({ stopped: 1, lost: 1, failed: 0 });
    expect(await states(made)).toEqual(['ready', 'stopping', 'stopped']);
  });

  test.each(['leave', 'markStopping', 'markStopped'] as const)(
    'a write that fails, %s, keeps no other sandbox',
    async (write) => {
      const { ports, made, hostOf, end } = await open(4);
      const [one, other] = made;
      if (one === undefined || other === undefined) throw new Error('too few');
      await Promise.all([end(one), end(other)]);
      let failures = 0;
      const workspaces = {
        ...ports.workspaces,
        [write]: (...given: [never, never, never]) =>
          failures++ === 0
            ? Promise.reject(new Error('throttled'))
            : (ports.workspaces[write] as (...all: [never, never, never]) => Promise<unknown>)(...given),
      };
      const report = await sweepOrphans(
        { ...ports, workspaces, host: hostOf([one, other]) },
        { poolSize: 0 },
      );
      expect({ ...report, sum: report.stopped + report.lost }).toMatchObject({ failed: 1, sum: 3 });
    },
  );
});

describe('a sandbox whose sessions have ended, and have not left yet,', () => {
  const orphan = async () => {
    const { ports, clock, hooks } = openQuietPorts();
    const gone = newSession({ createdAt: clock.now, lastActiveAt: clock.now });
    const { workspace } = gone;
    await ports.sessions.create(gone, { workspace: { ...workspaceOf(gone), isNamed: true } });
    await ports.workspaces.claimStart(workspace, newSandbox({ requestedAt: clock.now }));
    await ports.workspaces.recordAddress(workspace, 1, { taskArn: 'task', address: 'http://127.0.0.1:1' });
    await ports.workspaces.markReady(workspace, 1, { at: clock.now });
    clock.now += orphanAgeMs + 1;
    await ports.sessions.end(gone, { status: 'completed', at: clock.now, dueAt: clock.now + 15_000 });
    const running = {
      taskArn: 'task',
      group: `workspace/${workspace}/1`,
      createdAt: 0,
      lastStatus: 'RUNNING',
    };
    const host = {
      ...ports.host,
      running: async function* () {
        yield [running];
      },
    };
    return {
      ...{ ports, clock, gone },
      sweep: () => sweepOrphans({ ...ports, host }, { poolSize: 0 }),
      state: async () => (await ports.workspaces.get(workspace))?.sandbox?.state,
      /** Behind the second batch, in which the sessions were found ended. */
      meanwhile: (act: () => Promise<unknown>) => {
        let batches = 0;
        hooks.before = async ({ constructor: { name } }) => {
          if (name === 'BatchGetCommand') batches += 1;
          else if (batches === 2) {
            hooks.before = async () => undefined;
            await act();
          }
        };
      },
    };
  };

  test('is stopped', async () => {
    const { sweep, state } = await orphan();
    expect(await sweep()).toMatchObject({ stopped: 1 });
    expect(await state()).toBe('stopping');
  });

  test('L5: stays when another session enters and begins a call', async () => {
    const { ports, clock, gone, sweep, state, meanwhile } = await orphan();
    const { owner, project, workspace } = gone;
    const next = newExecution({ owner, project, workspace, createdAt: clock.now, lastActiveAt: clock.now });
    meanwhile(async () => {
      await ports.sessions.create(next, { enters: {} });
      await ports.sessions.beginCall(next.id, {
        ...{ key: 'k', at: clock.now, until: clock.now + 600_000, idleMs: 900_000 },
      });
    });
    expect(await sweep()).toMatchObject({ stopped: 0 });
    expect((await ports.workspaces.get(workspace))?.users).toEqual([next.id]);
    expect(await state()).toBe('ready');
  });

  test('L5: stays when one of them is resumed', async () => {
    const { ports, clock, gone, sweep, state, meanwhile } = await orphan();
    meanwhile(async () => {
      const ended = await ports.sessions.get(gone.id);
      if (ended === undefined) throw new Error('the session is gone');
      await ports.sessions.resume(ended, {
        ...{ at: clock.now, dueAt: clock.now + 900_000, conversationsMax: 9, log: [], audits: [] },
      });
    });
    expect(await sweep()).toMatchObject({ stopped: 0 });
    expect((await ports.sessions.get(gone.id))?.status).toBe('idle');
    expect(await state()).toBe('ready');
  });
});
