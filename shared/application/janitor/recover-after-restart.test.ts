/** The start after a power cut: leases, claims and calls of the last life hold nothing up. */
import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newExecution,
  newSandbox,
  newSession,
  workspaceOf,
} from '../../../tests/conformance/session-fixture.ts';
import { lifetimes, openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { ConnectionId } from '../../domain/ids.ts';
import { deploymentOwner } from '../../domain/principal.ts';
import { recoverAfterRestart } from './recover-after-restart.ts';
import { sweep } from './sweep-in-rounds.ts';

const open = () => {
  const quiet = openQuietPorts();
  const settings = { lifetimes, poolSize: 0 };
  return {
    ...quiet,
    start: () => recoverAfterRestart(quiet.ports, settings),
    look: () => sweep(quiet.ports, { lifetimes }),
  };
};

test('a turn whose function died is driven by the first sweep, whatever its lease says', async () => {
  const { ports, clock, invoked, start, look } = open();
  const session = newSession({ createdAt: clock.now });
  const { id } = session;
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  await ports.inbox.accept(session, message('m', clock.now), inboxLimits);
  await ports.turns.takeLease(id, { holder: 'dead', at: clock.now, until: clock.now + 300_000 });
  expect(await look()).toMatchObject({ due: 0 });
  expect(await start()).toMatchObject({ sessions: 1, failed: 0 });
  expect(await look()).toMatchObject({ due: 1, failed: 0 });
  expect(invoked).toEqual([`turn ${id}`]);
  expect(await ports.turns.takeLease(id, { holder: 'new', at: clock.now, until: 1 })).toBeDefined();
});

test('a message whose invocation died with the machine is taken up at once', async () => {
  const { ports, clock, invoked, start, look } = open();
  const session = newSession({ createdAt: clock.now });
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  await ports.inbox.accept(session, message('m', clock.now), inboxLimits);
  await start();
  await look();
  expect(invoked).toEqual([`turn ${session.id}`]);
});

test('a session that rests is left alone', async () => {
  const { ports, clock, start, look } = open();
  const session = newSession({ createdAt: clock.now, lastActiveAt: clock.now, dueAt: clock.now + 60_000 });
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  expect(await start()).toMatchObject({ sessions: 0 });
  expect(await look()).toMatchObject({ due: 0 });
});

test('a conversation that only a connection of the last life made is gone a minute after the start', async () => {
  const { ports, clock, start, look } = open();
  const times = { createdAt: clock.now, lastActiveAt: clock.now, dueAt: clock.now + 7_200_000 };
  const session = newSession({ ...times, isFleeting: true });
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'hash' } as const;
  const connection = { id: 'dead' as ConnectionId, sessionId: session.id, principal };
  await ports.connections.put({ ...connection, connectedAt: clock.now });
  expect(await start()).toMatchObject({ sessions: 1, failed: 0 });
  clock.now += 59_999;
  await look();
  expect((await ports.sessions.get(session.id))?.status).toBe('created');
  clock.now += 1;
  await look();
  expect(await ports.sessions.get(session.id)).toBeUndefined();
});

test('a call of a function that died does not keep its session busy', async () => {
  const { ports, clock, start } = open();
  const session = newExecution({ createdAt: clock.now, status: 'ready' });
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const call = { key: 'k', at: clock.now, until: clock.now + 600_000, idleMs: 600_000 };
  expect((await ports.sessions.beginCall(session.id, call))?.status).toBe('running');
  expect(await start()).toMatchObject({ sessions: 1 });
  expect(await ports.sessions.get(session.id)).toMatchObject({ status: 'ready', runningCalls: {} });
});

test('a sandbox that ended with the machine is recorded as stopped, however young', async () => {
  const { ports, clock, start } = open();
  const session = newSession({ createdAt: clock.now });
  const { workspace } = session;
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  await ports.workspaces.claimStart(workspace, newSandbox({ requestedAt: clock.now }));
  await ports.workspaces.recordTask(workspace, 1, 'task');
  await ports.workspaces.markReady(workspace, 1, { at: clock.now });
  expect(await start()).toMatchObject({ lost: 1 });
  expect((await ports.workspaces.get(workspace))?.sandbox).toMatchObject({ state: 'stopped' });
});

test('a last save that died is claimed again at once', async () => {
  const { ports, clock, start, look } = open();
  const session = newSession({ createdAt: clock.now });
  const { workspace } = session;
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  await ports.workspaces.claimStart(workspace, newSandbox({ requestedAt: clock.now }));
  const stop = { reason: 'r', at: clock.now, dueAt: clock.now + 300_000, slot: undefined };
  await ports.workspaces.markStopping(workspace, 1, stop);
  const claim = { at: clock.now, until: clock.now + 300_000 };
  expect(await ports.workspaces.claimLastSave(workspace, 1, claim)).toBe(true);
  expect(await start()).toMatchObject({ workspaces: 1 });
  expect(await look()).toMatchObject({ due: 1, failed: 0 });
});
