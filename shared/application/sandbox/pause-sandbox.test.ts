/** A pause: the files are saved before the sandbox is marked, what runs is never cut off, and what begins meanwhile keeps it. */

import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newExecution,
  newSandbox,
  newSession,
  workspaceOf,
} from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { Session } from '../../domain/session.ts';
import { slotHolderOf } from '../../domain/slot-holder.ts';
import type { SandboxLink } from '../../ports/sandbox.ts';
import type { WorkspaceArchive } from '../../ports/workspace-archive.ts';
import { enterSandbox } from './acquire-with-heartbeat.ts';
import { pauseSandbox } from './pause-sandbox.ts';

const running = {
  ...{ processId: crypto.randomUUID(), command: 'sleep 60', state: 'running', pid: 7, startedAt: 1 },
  ...{ isPty: false, attached: 0 },
};

type Quiet = Pick<ReturnType<typeof openQuietPorts>, 'ports' | 'clock'> & { readonly session: Session };
type Options = {
  readonly kind?: 'agent' | 'execution';
  /** Calls at each look; the last one is repeated. */
  readonly calls?: readonly number[];
  readonly onSave?: (opened: Quiet) => Promise<unknown>;
  readonly save?: WorkspaceArchive['save'];
};

/** A session with a sandbox that is ready, in which a background process runs. */
const open = async ({ kind = 'execution', calls = [0], onSave, save }: Options = {}) => {
  const quiet = openQuietPorts();
  const { clock } = quiet;
  let look = 0;
  const saves: number[] = [];
  const link: SandboxLink = {
    fetch: async () => Response.json({ processes: [running], calls: calls[look++] ?? calls.at(-1) }),
  };
  const archive: WorkspaceArchive = {
    ...quiet.ports.archive,
    save: async (...args) => {
      saves.push(clock.now);
      await onSave?.({ ...quiet, session });
      return (save ?? quiet.ports.archive.save)(...args);
    },
  };
  const ports = { ...quiet.ports, link, archive };
  const options = { createdAt: clock.now, lastActiveAt: clock.now };
  const session =
    kind === 'agent'
      ? newSession({ ...options, status: 'idle' })
      : newExecution({ ...options, status: 'ready' });
  const { id, workspace } = session;
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const slot = { holder: slotHolderOf(session), session: id };
  await ports.workspaces.claimStart(workspace, newSandbox({ requestedAt: clock.now, slot }), {
    known: {},
    slotsMax: 2,
  });
  await ports.workspaces.recordAddress(workspace, 1, { taskArn: 'task', address: 'http://10.42.0.9:8080' });
  await ports.workspaces.markReady(workspace, 1, { at: clock.now });
  await ports.workspaces.recordProcesses(workspace, 1);
  clock.now += 1000;
  const sandbox = async () => (await ports.workspaces.get(workspace))?.sandbox;
  const read = async () => (await ports.sessions.get(id)) as Session;
  const pause = async () => pauseSandbox(ports, await read());
  return { ...quiet, ports, session, saves, sandbox, read, pause };
};

test.each([
  ['execution', 'paused'],
  ['agent', 'idle'],
] as const)(
  'the sandbox of an %s session is saved and marked to stop, with its processes',
  async (kind, status) => {
    const { pause, sandbox, read, saves, invoked, session } = await open({ kind });
    await pause();
    expect(await sandbox()).toMatchObject({ state: 'stopping', stoppedReason: 'paused' });
    expect(await sandbox()).not.toHaveProperty('slot');
    expect((await read()).status).toBe(status);
    expect(saves).toHaveLength(1);
    expect(invoked.filter((one) => one.startsWith('stop'))).toEqual([`stop ${session.workspace}`]);
  },
);

test('a second pause, before and after the sandbox has stopped, changes nothing', async () => {
  const { pause, sandbox, ports, session, invoked, saves, clock } = await open();
  await pause();
  await pause();
  await ports.workspaces.markStopped(session.workspace, 1, { reason: 'stopped', at: clock.now });
  await pause();
  expect(await sandbox()).toMatchObject({ state: 'stopped', stoppedReason: 'paused' });
  expect([saves.length, invoked.filter((one) => one.startsWith('stop')).length]).toEqual([1, 1]);
});

test('of pauses at once one stops the sandbox, and none is refused', async () => {
  const { pause, sandbox, invoked } = await open();
  await Promise.all([pause(), pause(), pause()]);
  expect((await sandbox())?.state).toBe('stopping');
  expect(invoked.filter((one) => one.startsWith('stop'))).toHaveLength(1);
});

test('a session without a sandbox stays as it is', async () => {
  const { ports, clock } = openQuietPorts();
  const session = newExecution({ status: 'ready', createdAt: clock.now, lastActiveAt: clock.now });
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  await pauseSandbox(ports, session);
  expect((await ports.sessions.get(session.id))?.status).toBe('ready');
});

test.each<[string, Options]>([
  ['runs', { calls: [1] }],
  ['reached the sandbox while that was saved', { calls: [0, 1] }],
])('L5: a call that %s refuses the pause', async (_when, options) => {
  const { pause, sandbox, read } = await open(options);
  await expect(pause()).rejects.toMatchObject({
    code: 'conflict',
    details: { recoveryActions: ['wait_and_retry'] },
  });
  expect((await sandbox())?.state).toBe('ready');
  expect((await read()).status).toBe('ready');
});

test.each([
  [1500, 'stopping'],
  [60_000, 'ready'],
])('a pause waits for the function of a turn that is over, and not long: one of %i ms', async (ms, state) => {
  const { pause, ports, session, clock, sandbox } = await open({ kind: 'agent' });
  await ports.turns.takeLease(session.id, { holder: 'me', at: clock.now, until: clock.now + ms });
  const [paused] = await Promise.allSettled([pause()]);
  expect([paused?.status, (await sandbox())?.state]).toEqual([
    state === 'ready' ? 'rejected' : 'fulfilled',
    state,
  ]);
});

test('L5: a use that begins during the pause keeps the sandbox', async () => {
  const { pause, sandbox } = await open({
    onSave: ({ ports, session }) => enterSandbox(ports, session, { lifetimes: ports.lifetimes }),
  });
  await expect(pause()).rejects.toMatchObject({ code: 'conflict' });
  expect((await sandbox())?.state).toBe('ready');
});

test('L5: a call of an execution session that has not reached the sandbox refuses the pause', async () => {
  const { pause, ports, session, clock, sandbox } = await open();
  const call = { key: 'k', at: clock.now, until: clock.now + 60_000, idleMs: 900_000 };
  await ports.sessions.beginCall(session.id, call);
  await expect(pause()).rejects.toMatchObject({ code: 'conflict' });
  expect((await sandbox())?.state).toBe('ready');
});

test('L5: a message that no function has taken up refuses the pause, also one that comes during it', async () => {
  const before = await open({ kind: 'agent' });
  await before.ports.inbox.accept(before.session, message('one', before.clock.now), inboxLimits);
  await expect(before.pause()).rejects.toMatchObject({ code: 'conflict' });
  const during = await open({
    kind: 'agent',
    onSave: ({ ports, clock, session }) =>
      ports.inbox.accept(session, message('one', clock.now), inboxLimits),
  });
  await expect(during.pause()).rejects.toMatchObject({ code: 'conflict' });
  expect((await during.sandbox())?.state).toBe('ready');
});

test('a sandbox that starts is not paused', async () => {
  const { ports, clock } = openQuietPorts();
  const session = newExecution({ status: 'ready', createdAt: clock.now, lastActiveAt: clock.now });
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  await ports.workspaces.claimStart(session.workspace, newSandbox({ requestedAt: clock.now }));
  await expect(pauseSandbox(ports, session)).rejects.toMatchObject({ code: 'conflict' });
});

test('a workspace that cannot be saved keeps its sandbox', async () => {
  const { pause, sandbox } = await open({
    save: async () => ({
      status: 'refused',
      code: 'resource_limit_exceeded',
      message: 'too many files',
    }),
  });
  await expect(pause()).rejects.toMatchObject({ code: 'resource_limit_exceeded' });
  expect((await sandbox())?.state).toBe('ready');
});

test('another session of the workspace is paused as well, and refuses the pause while a call of it runs', async () => {
  const { pause, ports, session, clock, sandbox } = await open();
  const { workspace, owner, project } = session;
  const other = newExecution({
    ...{ workspace, owner, project, status: 'ready', createdAt: clock.now, lastActiveAt: clock.now },
  });
  await ports.sessions.create(other, { enters: {} });
  const call = { key: 'k', at: clock.now, until: clock.now + 60_000, idleMs: 900_000 };
  await ports.sessions.beginCall(other.id, call);
  await expect(pause()).rejects.toMatchObject({ code: 'conflict' });
  await ports.sessions.endCall(other.id, {
    key: 'k',
    at: clock.now,
    idleMs: 900_000,
    isWithoutSandbox: false,
  });
  await pause();
  expect((await sandbox())?.state).toBe('stopping');
  expect((await ports.sessions.get(other.id))?.status).toBe('paused');
});

test.each(['stopped', 'error'] as const)('a session that is %s is refused', async (status) => {
  const { ports } = openQuietPorts();
  await expect(pauseSandbox(ports, newExecution({ status }))).rejects.toMatchObject({
    code: 'invalid_session_state',
  });
});
