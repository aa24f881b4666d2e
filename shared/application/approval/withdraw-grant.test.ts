/** A grant of a session that has ended: nothing is written there, and the caller hears why at once. */
import { expect, test } from 'vitest';
import { newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { Principal } from '../../domain/principal.ts';
import { toolIdentity } from '../../domain/requested-call.ts';
import type { Grant } from '../../domain/turn/grant.ts';
import type { AuditDeps, MessageDeps } from '../deps.ts';
import { endSession } from '../turn/requests/end-session.ts';
import { withdrawGrant } from './withdraw-grant.ts';

const limits = { stepsMax: 5, callsMax: 8, usdMax: 10 };
const principal: Principal = { owner: newSession().owner, scope: 'admin', tokenHash: 'h' };
const name = 'execute_command';
const identity = toolIdentity({ name });
const grant: Grant = { id: 'g', tool: name, identity, by: { kind: 'token', id: 't' }, at: 1 };

/** Of a session that has ended, at once or between its read and its write. */
const withdraw = async (isEndedBefore: boolean) => {
  const { ports, takeRequests } = openQuietPorts();
  const session = { ...newSession(), grants: [grant] };
  const { id } = session;
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const used = ports as unknown as MessageDeps & AuditDeps;
  const read = async () => {
    const found = await ports.turns.getWithTurn(id);
    if (found === undefined) throw new Error('the session is gone');
    return found;
  };
  const before = await read();
  await endSession(used, before.session, { reason: 'idle' });
  const found = isEndedBefore ? await read() : before;
  takeRequests();
  const refused = await withdrawGrant(used, found, { grantId: 'g', principal, limits }).catch(
    (error: unknown) => error,
  );
  return { refused, requests: takeRequests().length };
};

test('it is refused, without another read', async () => {
  const { refused, requests } = await withdraw(true);
  expect(refused).toMatchObject({ code: 'invalid_session_state' });
  expect(requests).toBe(0);
});

test('one that ends meanwhile is not tried again and again', async () => {
  const { refused, requests } = await withdraw(false);
  expect(refused).toMatchObject({ code: 'not_found' });
  expect(requests).toBeLessThan(6);
});
