/** J6: the session of a run is made once, also when it was cleaned up before its dispatcher recorded that it had spoken. */
import { expect, test } from 'vitest';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { derivedUuid, type MessageId, type SessionId } from '../../domain/ids.ts';
import { defaultProject, deploymentOwner } from '../../domain/principal.ts';
import type { SessionDeps } from '../deps.ts';
import { makeConverse } from './schedule-conversation.ts';

test('a run whose session was deleted since it spoke there does not speak again', async () => {
  const { ports, clock, invoked } = openQuietPorts();
  const { lifetimes } = ports;
  const defaults = { provider: 'demo', flavor: 'small', template: 'python', lifetimes } as const;
  const converse = makeConverse(ports as unknown as SessionDeps, defaults);
  const id = derivedUuid('ab'.repeat(32)) as SessionId;
  const principal = { owner: deploymentOwner, scope: 'admin' as const, tokenHash: 'h' };
  const run = { id, messageId: 'run-1' as MessageId, principal, text: 'look', project: defaultProject };
  const spoken = await converse.spawn(run);
  expect(spoken.session).toBe(id);
  const session = await ports.sessions.get(id);
  if (session === undefined) throw new Error('the session is not there');
  await ports.sessions.end(session, { status: 'completed', at: clock.now, dueAt: clock.now });
  expect(await ports.sessions.forget(id, clock.now)).toBe(true);
  invoked.length = 0;
  await expect(converse.spawn(run)).rejects.toMatchObject({ code: 'session_not_found' });
  expect([invoked, await ports.sessions.get(id)]).toEqual([[], undefined]);
});
