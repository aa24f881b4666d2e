/** Task state events: a running task is recorded in one write; a second task under the same name changes nothing. */
import { expect, test } from 'vitest';
import { newSandbox, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { poolEntryId } from '../../domain/pool.ts';
import { taskGroup } from '../../domain/sandbox.ts';
import { recordTaskEvent } from './record-task-event.ts';

const address = 'http://10.42.0.9:8080';

const open = async () => {
  const quiet = openQuietPorts();
  const { workspaces } = quiet.ports;
  const workspace = workspaceOf(newSession());
  const { id } = workspace;
  await workspaces.create(workspace);
  await workspaces.claimStart(id, newSandbox());
  const say = (taskArn: string, lastStatus: string, more: object = {}) => {
    const event = { taskArn, group: taskGroup(id, 1), lastStatus, desiredStatus: 'RUNNING', ...more };
    return recordTaskEvent(quiet.ports, event);
  };
  const read = async () => (await workspaces.get(id))?.sandbox;
  quiet.takeRequests();
  return { ...quiet, id, say, read };
};

test('a running task costs one request, and a starting one none', async () => {
  const { say, read, takeRequests } = await open();
  await say('task-1', 'PENDING');
  expect(takeRequests()).toEqual([]);
  await say('task-1', 'RUNNING', { address });
  expect(takeRequests()).toEqual(['Update']);
  expect(await read()).toMatchObject({ taskArn: 'task-1', address });
});

test('a second task of the same name neither runs nor stops for the first', async () => {
  const { say, read } = await open();
  await say('task-1', 'RUNNING', { address });
  const before = await read();
  await say('task-2', 'RUNNING', { address: 'http://10.42.0.1:8080' });
  await say('task-2', 'RUNNING', { address, desiredStatus: 'STOPPED' });
  await say('task-2', 'STOPPED', { desiredStatus: 'STOPPED' });
  expect(await read()).toEqual(before);
});

test('the task of a sandbox that must stop is recorded, so that it can be stopped', async () => {
  const { ports, id, say, read } = await open();
  await ports.workspaces.markStopping(id, 1, { reason: 'idle', at: 1, dueAt: 2 });
  await say('task-1', 'RUNNING', { address });
  expect(await read()).toMatchObject({ state: 'stopping', taskArn: 'task-1' });
});

test.each([
  ['stops', 'RUNNING', 'stopping'],
  ['has stopped', 'STOPPED', 'stopped'],
])(
  'a warm task that %s while a workspace claims it stops for that workspace',
  async (_, lastStatus, state) => {
    const { ports } = openQuietPorts();
    const { workspaces } = ports;
    const [workspace, entry] = [workspaceOf(newSession()), poolEntryId(0)];
    await workspaces.create(workspace);
    await workspaces.create({ ...workspaceOf(newSession()), id: entry, users: [] });
    await workspaces.claimStart(entry, newSandbox());
    await workspaces.recordAddress(entry, 1, { taskArn: 'task-1', address });
    await workspaces.markReady(entry, 1, { at: 1 });
    const warm = await workspaces.get(entry);
    if (warm === undefined) throw new Error('there is no pool entry');
    const sandbox = newSandbox({ taskArn: 'task-1', address, source: 'pool' });
    const claimantOf: typeof workspaces.claimantOf = async (name) => {
      const claimant = await workspaces.claimantOf(name);
      await workspaces.claimWarm(workspace.id, warm, { generation: 1, at: 2, sandbox });
      return claimant;
    };
    await recordTaskEvent(
      { ...ports, workspaces: { ...workspaces, claimantOf } },
      { taskArn: 'task-1', group: taskGroup(entry, 1), lastStatus, desiredStatus: 'STOPPED' },
    );
    expect((await workspaces.get(workspace.id))?.sandbox?.state).toBe(state);
  },
);

test('one that ECS stops is marked, and one that has stopped is final', async () => {
  const { say, read, invoked } = await open();
  await say('task-1', 'RUNNING', { address });
  await say('task-1', 'RUNNING', { address, desiredStatus: 'STOPPED', stoppedReason: 'maintenance' });
  expect(await read()).toMatchObject({ state: 'stopping', stoppedReason: 'maintenance' });
  expect(invoked).toHaveLength(1);
  await say('task-1', 'STOPPED', { desiredStatus: 'STOPPED' });
  expect(await read()).toMatchObject({ state: 'stopped', stoppedReason: 'maintenance' });
});
