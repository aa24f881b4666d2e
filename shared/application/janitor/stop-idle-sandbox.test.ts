/** The release of a sandbox that hundreds of sessions share: once per sweep, and never from one that uses it. */
import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newSandbox,
  newSession,
  workspaceOf,
} from '../../../tests/conformance/session-fixture.ts';
import { lifetimes, openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { Session } from '../../domain/session.ts';
import { slotHolderOf } from '../../domain/slot-holder.ts';
import { acquireSandbox } from '../sandbox/acquire-sandbox.ts';
import { startedFor } from '../sandbox/sandbox-request.ts';
import { endSession } from '../turn/requests/end-session.ts';
import { sweep } from './sweep-in-rounds.ts';

const dueAt = 1_900_000;

/** As many sessions, idle and due at one moment, in a workspace with a ready sandbox. */
const open = async (count: number, { readyAfterMs = 0 } = {}) => {
  const quiet = openQuietPorts();
  const { ports, clock } = quiet;
  const first = newSession({ status: 'idle', createdAt: clock.now, lastActiveAt: clock.now, dueAt });
  const { workspace } = first;
  const sessions = [first];
  while (sessions.length < count) sessions.push({ ...newSession(), ...first, id: newSession().id });
  await ports.workspaces.create({ ...workspaceOf(first), users: sessions.map(({ id }) => id) });
  for (const session of sessions) await ports.sessions.create(session, {});
  const slot = { holder: slotHolderOf(first), session: first.id };
  const sandbox = newSandbox({ requestedAt: clock.now, slot });
  await ports.workspaces.claimStart(workspace, sandbox, { known: {}, slotsMax: 10 });
  const task = { taskArn: 'task', address: 'http://10.0.0.1' };
  await ports.workspaces.recordAddress(workspace, 1, task);
  await ports.workspaces.markReady(workspace, 1, { at: clock.now + readyAfterMs });
  clock.now = dueAt;
  quiet.takeRequests();
  const look = () => sweep(ports, { lifetimes });
  const state = async () => (await ports.workspaces.get(workspace))?.sandbox?.state;
  return { ...quiet, sessions, workspace, look, state };
};

type Crowd = Awaited<ReturnType<typeof open>>;

/** A message for the first session, which its turn takes up: it uses the sandbox. */
const use = async ({ ports, sessions, clock }: Crowd): Promise<void> => {
  await ports.inbox.accept(sessions[0] as Session, message('m', clock.now), inboxLimits);
  await acquireSandbox(ports, startedFor(sessions[0] as Session));
};

/** Does it once all sessions of the workspace have been read. */
const onceRead = async (crowd: Crowd, act: () => Promise<void>): Promise<void> => {
  const { hooks } = crowd;
  hooks.before = async ({ constructor: { name } }) => {
    if (name !== 'TransactWriteCommand') return;
    hooks.before = async () => undefined;
    await act();
  };
  await crowd.look();
};

test.each([2, 97, 98, 350])('a sandbox of %i idle sessions is released', async (count) => {
  const { look, state, invoked, workspace } = await open(count);
  await look();
  expect(await state()).toBe('stopping');
  expect(invoked).toContain(`stop ${workspace}`);
});

test.each([2, 97, 98, 350])('a session that uses the sandbox of %i keeps it', async (count) => {
  const crowd = await open(count);
  await onceRead(crowd, () => use(crowd));
  expect(await crowd.state()).toBe('ready');
});

test.each([2, 150])(
  'a sandbox of %i that became ready a moment ago is kept for its idle time',
  async (count) => {
    const readyAfterMs = dueAt - 1_000_000 - 1000;
    const { clock, look, state, ports, sessions } = await open(count, { readyAfterMs });
    await look();
    expect(await state()).toBe('ready');
    const readyAt = 1_000_000 + readyAfterMs;
    const again = (await ports.sessions.get((sessions[0] as Session).id))?.dueAt;
    expect(again).toBe(readyAt + lifetimes.idleMs);
    clock.now = readyAt + lifetimes.idleMs - 1;
    await look();
    expect(await state()).toBe('ready');
    clock.now = readyAt + lifetimes.idleMs;
    await look();
    expect(await state()).toBe('stopping');
  },
);

test('one that leaves while the sandbox is marked does not keep it until the others end', async () => {
  const crowd = await open(3);
  const { ports, sessions, workspace, look, state, clock } = crowd;
  const leaving = sessions[2] as Session;
  await ports.sessions.end(leaving, { status: 'completed', at: clock.now, dueAt: clock.now + 1_000_000 });
  await onceRead(crowd, async () => void (await ports.workspaces.leave(workspace, leaving.id)));
  expect(await state()).toBe('ready');
  clock.now += 60_000;
  await look();
  expect(await state()).toBe('stopping');
});

const endings: readonly (readonly [string, number, (crowd: Crowd, session: Session) => Promise<unknown>])[] =
  [
    ['has ended', 0, ({ ports }, session) => endSession(ports, session, { reason: 'a test' })],
    [
      'has left, and its function died',
      3_600_000,
      async ({ ports, workspace, clock }, { id, ...session }) => {
        await ports.sessions.end(
          { ...session, id },
          { status: 'completed', at: clock.now, dueAt: clock.now },
        );
        await ports.workspaces.leave(workspace, id);
      },
    ],
  ];

test.each(endings)(
  'the sandbox of others at rest is released once the one at work %s',
  async (_, afterMs, end) => {
    const crowd = await open(3);
    const { ports, sessions, look, state, clock } = crowd;
    const working = sessions[2] as Session;
    await ports.sessions.touch(working, { at: clock.now, lifetimes });
    await look();
    expect(await state()).toBe('ready');
    await end(crowd, working);
    clock.now += afterMs;
    await look();
    expect(await state()).toBe('stopping');
  },
);

test('a check that is left behind keeps no later one from releasing it', async () => {
  const { ports, workspace, look, state } = await open(150);
  await ports.workspaces.markIdleCheck(workspace, 1, 'of a janitor that died');
  await look();
  expect(await state()).toBe('stopping');
});

test('the sandbox of many is read once per sweep, not once per session', async () => {
  const few = await open(10);
  const reads = async ({ look, takeRequests }: Crowd): Promise<number> => {
    await look();
    return takeRequests().filter((name) => name === 'BatchGetCommand' || name === 'BatchGet').length;
  };
  expect(await reads(few)).toBe(1);
  expect(await reads(await open(90))).toBe(1);
});
