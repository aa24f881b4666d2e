/** A changed idle limit and a changed lifetime of a session whose sandbox runs. */
import { expect, test } from 'vitest';
import { newSandbox, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { lifetimes, openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { sandboxLookMs } from '../../domain/limits.ts';
import { sweep } from '../janitor/sweep-in-rounds.ts';
import { changeSession } from './change-session.ts';

const startedAt = 1_000_000;

/** An agent session with a ready sandbox. */
const open = async () => {
  const quiet = openQuietPorts();
  const { ports, clock } = quiet;
  const session = newSession({
    createdAt: startedAt,
    lastActiveAt: startedAt,
    dueAt: startedAt + lifetimes.idleMs,
  });
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  await ports.workspaces.claimStart(session.workspace, newSandbox({ requestedAt: startedAt }));
  await ports.workspaces.recordTask(session.workspace, 1, 'task');
  await ports.workspaces.markReady(session.workspace, 1, { at: startedAt });
  const stateAfter = async (milliseconds: number) => {
    clock.now = startedAt + milliseconds;
    await sweep(ports, { lifetimes });
    return (await ports.workspaces.get(session.workspace))?.sandbox?.state;
  };
  return { ...quiet, session, stateAfter };
};

test('a shorter idle limit counts from the change on', async () => {
  const { ports, clock, session, stateAfter } = await open();
  clock.now = startedAt + 100_000;
  await changeSession(ports, session, { change: { idleMs: 10_000 }, lifetimes });
  expect(await stateAfter(109_999)).toBe('ready');
  expect(await stateAfter(110_000)).toBe('stopping');
});

test('a changed idle limit is a sign of life, but not of a session that has ended', async () => {
  const { ports, clock, session } = await open();
  clock.now = startedAt + 100_000;
  const alive = await changeSession(ports, session, { change: { idleMs: 10_000 }, lifetimes });
  expect(alive).toMatchObject({ idleMs: 10_000, lastActiveAt: clock.now });
  await ports.sessions.end(alive, { status: 'completed', at: clock.now, dueAt: clock.now + 1 });
  const ended = await ports.sessions.get(session.id);
  clock.now += 100_000;
  const changed = await changeSession(ports, alive, { change: { idleMs: 20_000 }, lifetimes });
  expect(changed).toEqual({ ...ended, idleMs: 20_000 });
  expect(await ports.sessions.get(session.id)).toEqual(changed);
});

test('a longer idle limit keeps the sandbox, until it is removed again', async () => {
  const { ports, session, stateAfter } = await open();
  await changeSession(ports, session, { change: { idleMs: 3_000_000 }, lifetimes });
  expect(await stateAfter(2_999_999)).toBe('ready');
  const now = (await ports.sessions.get(session.id)) ?? session;
  await changeSession(ports, now, { change: { idleMs: undefined }, lifetimes });
  expect(await stateAfter(2_999_999 + lifetimes.idleMs)).toBe('stopping');
});

test('a lifetime ends a sandbox that is busy, counted from its readiness', async () => {
  const { ports, clock, session, stateAfter } = await open();
  clock.now = startedAt + 20_000;
  await changeSession(ports, session, { change: { lifetimeMs: 60_000 }, lifetimes });
  await ports.sessions.touch(session, { at: startedAt + 59_000, lifetimes });
  expect(await stateAfter(59_999)).toBe('ready');
  expect(await stateAfter(60_000)).toBe('stopping');
  const { sandbox } = (await ports.workspaces.get(session.workspace)) ?? {};
  expect(sandbox?.stoppedReason).toBe('its lifetime is over');
});

test('a lifetime that is given while the janitor looks at the sandbox ends it in time', async () => {
  const { ports, clock, hooks, session, stateAfter } = await open();
  clock.now = startedAt + sandboxLookMs;
  await ports.sessions.touch(session, { at: clock.now, lifetimes });
  const lifetimeMs = sandboxLookMs + 60_000;
  hooks.before = async ({ constructor: { name }, input }) => {
    if (name !== 'UpdateCommand' || !JSON.stringify(input).includes('WORKSPACE#')) return;
    hooks.before = async () => undefined;
    await changeSession(ports, session, { change: { lifetimeMs }, lifetimes });
  };
  expect(await stateAfter(sandboxLookMs)).toBe('ready');
  await ports.sessions.touch(session, { at: startedAt + lifetimeMs, lifetimes });
  expect(await stateAfter(lifetimeMs)).toBe('stopping');
  const { sandbox } = (await ports.workspaces.get(session.workspace)) ?? {};
  expect(sandbox?.stoppedReason).toBe('its lifetime is over');
});

test('a lifetime that is made longer while the janitor finds it over ends nothing', async () => {
  const { ports, hooks, session, stateAfter } = await open();
  await changeSession(ports, session, { change: { lifetimeMs: 60_000 }, lifetimes });
  await ports.sessions.touch(session, { at: startedAt + 59_000, lifetimes });
  hooks.before = async ({ input }) => {
    if (!JSON.stringify(input).includes('stopRequestedAt')) return;
    hooks.before = async () => undefined;
    const now = (await ports.sessions.get(session.id)) ?? session;
    await changeSession(ports, now, { change: { lifetimeMs: 120_000 }, lifetimes });
  };
  expect(await stateAfter(60_000)).toBe('ready');
  expect(await stateAfter(120_000)).toBe('stopping');
});

test('a lifetime that is removed ends nothing', async () => {
  const { ports, session, stateAfter } = await open();
  await changeSession(ports, session, { change: { lifetimeMs: 60_000 }, lifetimes });
  await changeSession(ports, session, { change: { lifetimeMs: undefined }, lifetimes });
  expect(await stateAfter(60_000)).toBe('ready');
});

test('a title and labels change nothing else', async () => {
  const { ports, session } = await open();
  const changed = await changeSession(ports, session, {
    change: { title: 'mine', labels: { a: 'b' } },
    lifetimes,
  });
  expect(changed).toEqual({ ...session, title: 'mine', labels: { a: 'b' } });
});
