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
import { startedFor } from '../sandbox/sandbox-request.ts';
import { startSandbox } from '../sandbox/start-sandbox.ts';
import { sweepOrphans } from './sweep-orphans.ts';

const [entry] = poolEntries(1);

const open = async () => {
  const { ports, clock, hooks } = openQuietPorts();
  if (entry === undefined) throw new Error('the pool has no entry');
  await ports.workspaces.create({ ...workspaceOf(newSession()), id: entry, users: [] });
  await ports.workspaces.claimStart(entry, newSandbox({ requestedAt: clock.now }));
  await ports.workspaces.recordAddress(entry, 1, { taskArn: 'warm', address: 'http://127.0.0.1:1' });
  await ports.workspaces.markReady(entry, 1, { at: clock.now });
  const stopped: string[] = [];
  const running = {
    ...{ taskArn: 'warm', group: `workspace/${entry}/1`, createdAt: clock.now, lastStatus: 'RUNNING' },
  };
  const host = {
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
  return { hooks, stopped, claim, sweep, taskOf };
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
