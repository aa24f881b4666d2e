/** When a session that was resumed is looked at: after its own idle time, as that is when it is reopened. */
import { expect, test } from 'vitest';
import { newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { defaultProject, type Principal } from '../../domain/principal.ts';
import { resumeSession } from './resume-session.ts';

const person: Principal = { owner: newSession().owner, scope: 'admin', tokenHash: 'hash' };

/** An ended session, as it was read before its idle time was changed. */
const open = async (idleMs: number | undefined, changedTo = idleMs) => {
  const { ports } = openQuietPorts();
  const session = newSession({ project: defaultProject, ...(idleMs === undefined ? {} : { idleMs }) });
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const at = ports.world.now();
  const ended = await ports.sessions.end(session, { status: 'completed', at, dueAt: at + 1 });
  if (ended === undefined) throw new Error('the session was not ended');
  await ports.sessions.change(session.id, { idleMs: changedTo });
  const resumed = await resumeSession(ports as never, ended.session, person);
  const stored = await ports.sessions.get(session.id);
  expect(stored).toEqual(resumed);
  const { dueAt = 0, lastActiveAt } = resumed;
  return { waitedMs: dueAt - lastActiveAt, usualMs: ports.lifetimes.idleMs };
};

test('the idle time of a deployment holds for a session without its own', async () => {
  const { waitedMs, usualMs } = await open(undefined);
  expect(waitedMs).toBe(usualMs);
});

test.each([
  [60_000, 60_000],
  [60_000, 90_000],
  [undefined, 90_000],
])('of a session whose idle time was %s ms, and is %s ms by now', async (idleMs, now) => {
  expect((await open(idleMs, now)).waitedMs).toBe(now);
});
