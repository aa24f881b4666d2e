/** Starts that go wrong half-way: what ECS has placed lives on, and what is ready is stopped by no start. */
import { expect, test } from 'vitest';
import { newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { AppError } from '../../errors.ts';
import { startedFor } from './sandbox-request.ts';
import { startSandbox } from './start-sandbox.ts';

const open = async () => {
  const { ports, counted } = openQuietPorts();
  const session = newSession();
  const workspace = workspaceOf(session);
  await ports.sessions.create(session, { workspace });
  return {
    ports,
    start: (change: Partial<typeof ports>) =>
      startSandbox({ ...ports, ...change }, workspace, startedFor(session)),
    sandbox: async () => (await ports.workspaces.get(workspace.id))?.sandbox,
    ready: () => ports.workspaces.markReady(workspace.id, 1, { at: 1 }),
    place: () => ports.workspaces.recordTask(workspace.id, 1, 'task-1'),
    counted,
  };
};

const refused = () => Promise.reject(new Error('it was refused'));

test('a task that was placed and could not be recorded goes on starting', async () => {
  const { ports, start, sandbox } = await open();
  await expect(start({ workspaces: { ...ports.workspaces, recordTask: refused } })).rejects.toThrow();
  expect(await sandbox()).toMatchObject({ state: 'starting', generation: 1 });
});

test('a start that ECS refuses has ended', async () => {
  const { ports, start, sandbox } = await open();
  await expect(start({ host: { ...ports.host, start: refused } })).rejects.toThrow();
  expect(await sandbox()).toMatchObject({ state: 'stopped', stoppedReason: 'the start was refused' });
});

test('a start whose answer was lost leaves the sandbox alone that another caller made ready', async () => {
  const { ports, start, sandbox, ready } = await open();
  const { host } = ports;
  const unheard = async (...given: Parameters<typeof host.start>): Promise<string> => {
    await host.start(...given);
    await ready();
    return refused();
  };
  await expect(start({ host: { ...host, start: unheard } })).rejects.toThrow();
  expect(await sandbox()).toMatchObject({ state: 'ready', generation: 1 });
});

const full = () => Promise.reject(new AppError('sandbox_unavailable', 'there is no capacity'));

test.each([
  ['without capacity', full],
  ['that is refused', refused],
])('a start %s ends nothing whose task another caller has got meanwhile', async (_, answer) => {
  const { ports, start, sandbox, place, counted } = await open();
  const late = async () => {
    await place();
    return answer();
  };
  const started = start({ host: { ...ports.host, start: late } });
  if (answer === full) expect(await started).toBe('requested');
  else await expect(started).rejects.toThrow('it was refused');
  expect(await sandbox()).toMatchObject({ state: 'starting', taskArn: 'task-1' });
  expect(counted.SandboxStartsFailed).toBeUndefined();
});

test('a start that is given up while its task is placed ends nothing', async () => {
  const { ports, start, sandbox, place, counted } = await open();
  const { markStopped } = ports.workspaces;
  const workspaces = {
    ...ports.workspaces,
    markStopped: async (...given: Parameters<typeof markStopped>) => {
      await place();
      return markStopped(...given);
    },
  };
  await expect(start({ host: { ...ports.host, start: full }, workspaces })).rejects.toMatchObject({
    code: 'sandbox_unavailable',
  });
  expect(await sandbox()).toMatchObject({ state: 'starting', taskArn: 'task-1' });
  expect(counted.SandboxStartsFailed).toBeUndefined();
});

const wide = { allow: ['a.org', 'b.org'] };
const narrow = { allow: ['b.org'] };

/** A session whose network was read before somebody narrowed it; `before` runs once before the claim of its sandbox. */
const startOutdated = async (before: (narrowSession: () => Promise<unknown>) => Promise<unknown>) => {
  const { ports } = openQuietPorts();
  const session = newSession({ network: wide });
  const workspace = workspaceOf(session);
  await ports.sessions.create(session, { workspace });
  const { claimStart } = ports.workspaces;
  let left = 1;
  const workspaces = {
    ...ports.workspaces,
    claimStart: async (...given: Parameters<typeof claimStart>) => {
      if (left-- > 0) await before(() => ports.sessions.change(session.id, { network: narrow }));
      return claimStart(...given);
    },
  };
  return {
    ports,
    narrowSession: () => ports.sessions.change(session.id, { network: narrow }),
    start: () => startSandbox({ ...ports, workspaces }, workspace, startedFor(session)),
    network: async () => (await ports.workspaces.get(workspace.id))?.sandbox?.network,
  };
};

test('a sandbox has the network that its session has when it starts, not when it was read (EG1)', async () => {
  const { narrowSession, start, network } = await startOutdated(async () => undefined);
  await narrowSession();
  await start();
  expect(await network()).toEqual(narrow);
});

test('a sandbox whose session was narrowed while it was claimed has the narrow network (EG1)', async () => {
  const { start, network } = await startOutdated((narrowSession) => narrowSession());
  await start();
  expect(await network()).toEqual(narrow);
});

test('a sandbox has the lifetime that its session has when it starts, not when it was read', async () => {
  const { ports } = openQuietPorts();
  for (const [read, chosen] of [
    [60_000, 90_000],
    [undefined, 90_000],
    [60_000, undefined],
  ]) {
    const session = newSession(read === undefined ? {} : { lifetimeMs: read });
    const workspace = workspaceOf(session);
    await ports.sessions.create(session, { workspace });
    await ports.sessions.change(session.id, { lifetimeMs: chosen });
    await startSandbox(ports, workspace, startedFor(session));
    expect((await ports.workspaces.get(workspace.id))?.sandbox?.lifetimeMs).toBe(chosen);
  }
});
