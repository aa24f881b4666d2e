/** The status of a session whose request starts its sandbox. */
import { expect, test } from 'vitest';
import { farAway, newExecution, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { acquireWithHeartbeat } from './acquire-with-heartbeat.ts';

const open = async () => {
  const quiet = openQuietPorts();
  const { ports, clock } = quiet;
  const session = newExecution({ status: 'ready', createdAt: clock.now, lastActiveAt: clock.now });
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const acquire = (read = session) => acquireWithHeartbeat(ports, read, { lifetimes: ports.lifetimes });
  return { ...quiet, session, acquire };
};

test('a session whose sandbox gave way while its request was under way is ready with the next one', async () => {
  const { ports, clock, session, acquire } = await open();
  const { id, workspace } = session;
  await acquire();
  const read = (await ports.sessions.get(id)) ?? session;
  const before = (await ports.workspaces.get(workspace)) ?? workspaceOf(session);
  const stop = { reason: 'its slot', at: clock.now, dueAt: clock.now, pausedUntil: () => farAway };
  await ports.workspaces.markIdle(before, [read], stop);
  await ports.workspaces.recordStopRequest(workspace, 1, { at: clock.now });
  await ports.workspaces.markStopped(workspace, 1, { reason: 'its slot', at: clock.now });
  expect((await ports.sessions.get(id))?.status).toBe('paused');
  expect((await acquire(read)).sandbox.generation).toBe(2);
  expect(await ports.sessions.get(id)).toMatchObject({
    status: 'ready',
    dueAt: clock.now + ports.lifetimes.executionIdleMs,
  });
});

test('the first sandbox of a session costs no write of its status', async () => {
  const { hooks, acquire } = await open();
  const written: string[] = [];
  hooks.before = async ({ input }) => void written.push(JSON.stringify(input));
  await acquire();
  expect(written.filter((input) => input.includes('SET #status = :ready'))).toEqual([]);
  expect(written.length).toBeGreaterThan(0);
});
