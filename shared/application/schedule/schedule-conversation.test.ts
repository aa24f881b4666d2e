/** J6: the session of a run is made once, also when it was cleaned up before its dispatcher recorded that it had spoken. */
import { expect, test } from 'vitest';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { derivedUuid, type MessageId, type SessionId } from '../../domain/ids.ts';
import { defaultProject, deploymentOwner } from '../../domain/principal.ts';
import type { SessionDeps } from '../deps.ts';
import { makeConverse } from './schedule-conversation.ts';

const open = () => {
  const quiet = openQuietPorts();
  const { lifetimes } = quiet.ports;
  const defaults = { provider: 'demo', flavor: 'small', template: 'python', lifetimes } as const;
  const converse = makeConverse(quiet.ports as unknown as SessionDeps, defaults);
  const id = derivedUuid('ab'.repeat(32)) as SessionId;
  const principal = { owner: deploymentOwner, scope: 'admin' as const, tokenHash: 'h' };
  const run = { id, messageId: 'run-1' as MessageId, principal, text: 'look', project: defaultProject };
  const end = async () => {
    const session = await quiet.ports.sessions.get(id);
    if (session === undefined) throw new Error('the session is not there');
    await quiet.ports.sessions.end(session, {
      ...{ status: 'completed', at: quiet.clock.now, dueAt: quiet.clock.now },
    });
  };
  return { ...quiet, converse, id, run, end };
};

test('a run whose session was deleted since it spoke there does not speak again', async () => {
  const { ports, clock, invoked, converse, id, run, end } = open();
  const spoken = await converse.spawn(run);
  expect(spoken.session).toBe(id);
  await end();
  expect(await ports.sessions.forget(id, clock.now)).toBe(true);
  invoked.length = 0;
  await expect(converse.spawn(run)).rejects.toMatchObject({ code: 'session_not_found' });
  expect([invoked, await ports.sessions.get(id)]).toEqual([[], undefined]);
});

test('an ended session is resumed for a message that it has not had, and not for one that it had', async () => {
  const { ports, converse, id, run, end } = open();
  await converse.spawn(run);
  await end();
  const again = { ...run, session: id };
  expect(await converse.message(again)).toMatchObject({ session: id });
  expect((await ports.sessions.get(id))?.status).toBe('completed');
  expect(await converse.message({ ...again, messageId: 'run-2' as MessageId })).toMatchObject({
    session: id,
  });
  expect(await ports.inbox.wasAccepted(id, 'run-2' as MessageId)).toBe(true);
  expect((await ports.sessions.get(id))?.status).not.toBe('completed');
});

test('one whose history is no longer kept has not heard the message', async () => {
  const { ports, clock, converse, id, run, end } = open();
  await converse.spawn(run);
  await end();
  clock.now += ports.lifetimes.historyMs + 1;
  const next = { ...run, session: id, messageId: 'run-2' as MessageId };
  await expect(converse.message(next)).rejects.toMatchObject({ code: 'invalid_session_state' });
  expect(await ports.inbox.wasAccepted(id, 'run-2' as MessageId)).toBe(false);
});
