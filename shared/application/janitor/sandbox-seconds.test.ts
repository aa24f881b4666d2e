/** A sandbox that a slice pays for: looked at with each sweep, and stopped when its slice has no time left (TM10). */
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { newSandbox, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { lifetimes, openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { startedFor } from '../sandbox/sandbox-request.ts';
import { startSandbox } from '../sandbox/start-sandbox.ts';
import { sweep } from './sweep-in-rounds.ts';

/** A child with a slice of 120 s, whose sandbox is ready. */
const open = async () => {
  const { ports, clock, invoked } = openQuietPorts();
  const begunAt = clock.now;
  const parent = newSession({ lastActiveAt: begunAt });
  await ports.sessions.create(parent, { workspace: workspaceOf(parent) });
  const base = newSession({ lastActiveAt: begunAt, depth: 1 });
  const tree = { root: parent.id, parent: parent.id, slices: [base.id] };
  const child = { ...base, tree };
  await ports.sessions.create(child, {
    workspace: workspaceOf(child),
    child: { parent, agentsMax: 9, isUnleased: true },
  });
  await ports.trees.addSlice(parent.id, { session: child.id, sandboxMsMax: 120_000 });
  const { payers, slot } = startedFor(child);
  const claim = { known: {}, slotsMax: 10, payers };
  const held = { holder: slot.holder, session: slot.session };
  const start = async (generation: number) => {
    const sandbox = newSandbox({ requestedAt: clock.now, generation, slot: held });
    const claimed = await ports.workspaces.claimStart(child.workspace, sandbox, claim);
    await ports.workspaces.markReady(child.workspace, generation, { at: clock.now, lookMs: 30_000 });
    return claimed;
  };
  const look = async (milliseconds: number) => {
    clock.now = begunAt + milliseconds;
    await sweep(ports, { lifetimes });
    return (await ports.workspaces.get(child.workspace))?.sandbox;
  };
  return { ports, clock, child, parent, start, look, invoked };
};

test('it goes on while time is left, and is then saved and stopped with a reason', async () => {
  const { child, start, look, invoked } = await open();
  expect(await start(1)).toBe('claimed');
  for (const ms of [60_000, 119_999]) expect((await look(ms))?.state).toBe('ready');
  expect(await look(120_000)).toMatchObject({
    ...{ state: 'stopping', stoppedReason: 'its sandbox seconds are used up' },
  });
  expect(invoked.some((what) => what.includes(child.workspace))).toBe(true);
});

test('no other is started then, and the agent reads why', async () => {
  const { ports, child, start, look } = await open();
  await start(1);
  await look(120_000);
  const stop = { reason: 'exit code 0', at: ports.world.now() };
  await ports.workspaces.markStopped(child.workspace, 1, stop);
  expect(await start(2)).toBe('spent');
  const workspace = await ports.workspaces.get(child.workspace);
  if (workspace === undefined) throw new Error('no workspace');
  await expect(startSandbox(ports, workspace, startedFor(child))).rejects.toMatchObject({
    code: 'resource_limit_exceeded',
    message: 'the sandbox seconds of this session are used up',
  });
});

test('a sandbox whose tree is deleted is left to its other bounds', async () => {
  const { ports, parent, start, look } = await open();
  await start(1);
  await ports.sessions.end(parent, { status: 'stopped', at: 0, dueAt: 0 });
  expect(await ports.sessions.forget(parent.id, ports.world.now())).toBe(true);
  expect((await look(120_000))?.state).toBe('ready');
});

test('a start of a session without a slice asks the table for nothing more', async () => {
  const { ports, hooks } = openQuietPorts();
  const session = newSession();
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const sent: string[] = [];
  hooks.before = async (command) => void sent.push(command.constructor.name);
  const { payers, slot } = startedFor(session);
  const sandbox = newSandbox({ slot: { holder: slot.holder, session: slot.session } });
  await ports.workspaces.claimStart(session.workspace, sandbox, { known: {}, slotsMax: 9, payers });
  expect(sent).toEqual([TransactWriteCommand.name]);
  await ports.workspaces.markStopped(session.workspace, 1, { reason: 'gone', at: 9 });
  // The stop finds the slot that its caller did not name, and reads the workspace after it.
  expect(sent).toHaveLength(4);
});
