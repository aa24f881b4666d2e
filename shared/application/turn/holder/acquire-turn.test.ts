/** Work that was read beside the acquisition of the lease counts only while nothing else has come. */
import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newSession,
  workspaceOf,
} from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import { markOf } from '../../../domain/turn/session-mark.ts';
import { acquireTurn } from './turn-context.ts';

const lease = { holder: 'me', at: 2, until: 1e12 };

/** A session that has just accepted its first message. */
const open = async () => {
  const { ports } = openQuietPorts();
  const session = newSession();
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  await ports.inbox.accept(session, message('m1', 1), inboxLimits);
  const { id } = session;
  return { ports, id, acquire: () => acquireTurn(ports, id, { lease, mark: markOf(session) }) };
};

test('with nothing but its message, the work is read beside the acquisition', async () => {
  const { acquire } = await open();
  const { session, work } = (await acquire()) ?? {};
  expect(session?.lease.holder).toBe('me');
  expect(work?.inbox.map(({ messageId }) => messageId)).toEqual(['m1']);
});

test('a further message that comes behind the read is not taken for seen', async () => {
  const { ports, id } = await open();
  const now = await ports.sessions.get(id);
  const mark = now && { ...markOf(now), workSeq: now.workSeq - 1 };
  const loadWork: typeof ports.turns.loadWork = async (of) => {
    const work = await ports.turns.loadWork(of);
    if (now !== undefined) await ports.inbox.accept(now, message('m2', 2), inboxLimits);
    return work;
  };
  const takeLease: typeof ports.turns.takeLease = async (...asked) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return ports.turns.takeLease(...asked);
  };
  const turns = { ...ports.turns, loadWork, takeLease };
  const acquired = await acquireTurn({ turns }, id, { lease, mark });
  expect(acquired?.session.workSeq).toBe(2);
  expect(acquired?.work).toBeUndefined();
});

test.each([
  ['event', 'lastSeq'],
  ['holder', 'fence'],
] as const)('another %s in between has the work read under the lease', async (_what, field) => {
  const { ports, id } = await open();
  const now = await ports.sessions.get(id);
  if (now === undefined) throw new Error('there is no session');
  const mark = { ...markOf(now), workSeq: now.workSeq - 1 };
  const older = { ...mark, [field]: mark[field] - 1 };
  expect((await acquireTurn(ports, id, { lease, mark: older }))?.work).toBeUndefined();
});

test('a read that fails is left to be made under the lease', async () => {
  const { ports, id } = await open();
  const now = await ports.sessions.get(id);
  if (now === undefined) throw new Error('there is no session');
  const mark = { ...markOf(now), workSeq: now.workSeq - 1 };
  const turns = { ...ports.turns, loadWork: () => Promise.reject(new Error('throttled')) };
  const acquired = await acquireTurn({ turns }, id, { lease, mark });
  expect(acquired?.session.lease.holder).toBe('me');
  expect(acquired?.work).toBeUndefined();
});
