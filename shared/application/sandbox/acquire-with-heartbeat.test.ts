/** The status of a session whose request starts its sandbox. */
import { expect, test } from 'vitest';
import { farAway, newExecution, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { acquireSandbox } from './acquire-sandbox.ts';
import { acquireWithHeartbeat } from './acquire-with-heartbeat.ts';
import { startedFor } from './sandbox-request.ts';

const open = async () => {
  const quiet = openQuietPorts();
  const { ports, clock } = quiet;
  const session = newExecution({ status: 'ready', createdAt: clock.now, lastActiveAt: clock.now });
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const acquire = (read = session) => acquireWithHeartbeat(ports, read, { lifetimes: ports.lifetimes });
  /** The sandbox gives way while a request has the session as it was. */
  const giveWay = async () => {
    const { workspace } = session;
    const read = (await ports.sessions.get(session.id)) ?? session;
    const before = (await ports.workspaces.get(workspace)) ?? workspaceOf(session);
    const stop = { reason: 'its slot', at: clock.now, dueAt: clock.now, pausedUntil: () => farAway };
    await ports.workspaces.markIdle(before, [read], stop);
    await ports.workspaces.recordStopRequest(workspace, 1, { at: clock.now });
    await ports.workspaces.markStopped(workspace, 1, { reason: 'its slot', at: clock.now });
    expect((await ports.sessions.get(session.id))?.status).toBe('paused');
    return read;
  };
  return { ...quiet, session, acquire, giveWay };
};

test('a session whose sandbox gave way while its request was under way is ready with the next one', async () => {
  const { ports, clock, session, acquire, giveWay } = await open();
  await acquire();
  expect((await acquire(await giveWay())).sandbox.generation).toBe(2);
  expect(await ports.sessions.get(session.id)).toMatchObject({
    status: 'ready',
    dueAt: clock.now + ports.lifetimes.executionIdleMs,
  });
});

test('so is one whose next sandbox another request has started', async () => {
  const { ports, session, acquire, giveWay } = await open();
  await acquire();
  const read = await giveWay();
  await acquireSandbox(ports, startedFor(session));
  expect((await ports.sessions.get(session.id))?.status).toBe('paused');
  const { sandbox, start } = await acquire(read);
  expect([sandbox.generation, start]).toEqual([2, undefined]);
  expect((await ports.sessions.get(session.id))?.status).toBe('ready');
});

test('the first sandbox of a session costs no write of its status', async () => {
  const { hooks, acquire } = await open();
  const written: string[] = [];
  hooks.before = async ({ input }) => void written.push(JSON.stringify(input));
  await acquire();
  expect(written.filter((input) => input.includes('SET #status = :ready'))).toEqual([]);
  expect(written.length).toBeGreaterThan(0);
});
