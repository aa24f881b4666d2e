/** Ends of tasks in the events that ECS sends of them, which name the end twice: DEPROVISIONING, then STOPPED. */
import { expect, test } from 'vitest';
import { recordTaskEvent } from '#shared/application/sandbox/record-task-event.ts';
import { newSandbox, newSession, workspaceOf } from '../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../tests/simulation/quiet-ports.ts';
import { type TaskStateChange, taskEvent } from './task-state-change.ts';

const open = async ({ isReady }: { readonly isReady: boolean }) => {
  const { ports, clock, counted } = openQuietPorts();
  const workspace = workspaceOf(newSession());
  const { id } = workspace;
  await ports.workspaces.create(workspace);
  await ports.workspaces.claimStart(id, newSandbox({ requestedAt: clock.now }));
  await ports.workspaces.recordAddress(id, 1, { taskArn: 'task-1', address: 'http://10.42.0.9:8080' });
  if (isReady) await ports.workspaces.markReady(id, 1, { at: clock.now });
  const tell = async (change: Partial<TaskStateChange>): Promise<void> => {
    const task = { taskArn: 'task-1', group: `workspace/${id}/1`, desiredStatus: 'STOPPED' };
    const told = taskEvent({ ...task, lastStatus: 'DEPROVISIONING', ...change });
    if (told !== undefined) await recordTaskEvent(ports, told);
  };
  return { tell, counted, read: async () => (await ports.workspaces.get(id))?.sandbox };
};

const exited = {
  stopCode: 'EssentialContainerExited',
  stoppedReason: 'Essential container in task exited',
  containers: [{ lastStatus: 'STOPPED', exitCode: 137, reason: 'OutOfMemoryError: Container killed' }],
};
const failedStart = {
  stopCode: 'TaskFailedToStart',
  stoppedReason: 'CannotPullContainerError: pull image manifest has been retried 5 time(s)',
  containers: [{ lastStatus: 'STOPPED' }],
};

test('a sandbox whose container exited is lost at once, and counted once', async () => {
  const { tell, counted, read } = await open({ isReady: true });
  await tell(exited);
  expect(await read()).toMatchObject({
    state: 'stopped',
    stoppedReason: expect.stringContaining('exit code 137'),
  });
  await tell({ ...exited, lastStatus: 'STOPPED' });
  expect([counted.SandboxesLost, counted.SandboxStartsFailed]).toEqual([1, undefined]);
});

test('a task that could not start is a failed start, and counted once', async () => {
  const { tell, counted, read } = await open({ isReady: false });
  for (const lastStatus of ['DEPROVISIONING', 'STOPPED']) await tell({ ...failedStart, lastStatus });
  expect((await read())?.state).toBe('stopped');
  expect([counted.SandboxesLost, counted.SandboxStartsFailed]).toEqual([undefined, 1]);
});

test('an end whose container is not reported yet waits for the next event', async () => {
  const { tell, counted, read } = await open({ isReady: true });
  const running = [{ lastStatus: 'RUNNING' }];
  await tell({ ...exited, containers: running });
  expect((await read())?.state).toBe('ready');
  await tell({ ...exited, lastStatus: 'STOPPED' });
  expect([(await read())?.state, counted.SandboxesLost]).toEqual(['stopped', 1]);
});

test('a sandbox that ECS stops while it runs is marked, so that its files are saved', async () => {
  const { tell, counted, read } = await open({ isReady: true });
  const stopped = { stopCode: 'TerminationNotice', stoppedReason: 'Task retirement' };
  await tell({ ...stopped, lastStatus: 'RUNNING', containers: [{ lastStatus: 'RUNNING' }] });
  expect((await read())?.state).toBe('stopping');
  expect(counted.SandboxesLost).toBe(undefined);
});
