/** Conversations that cannot be reset, and the errors that say so. */
import { expect, test } from 'vitest';
import { inboxLimits, message, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { SessionId } from '../../domain/ids.ts';
import { deploymentOwner } from '../../domain/principal.ts';
import { endSession } from '../turn/requests/end-session.ts';
import { createSession } from './create-session.ts';
import { resetHistory } from './reset-history.ts';

test('resetting an ended session is refused', async () => {
  const { ports } = openQuietPorts();
  const session = await createSession(ports, {
    id: crypto.randomUUID() as SessionId,
    principal: { owner: deploymentOwner, scope: 'admin', tokenHash: 'a' },
    options: {},
    defaults: {
      ...{ provider: 'demo', flavor: 'small', template: 'python' },
      lifetimes: {
        idleMs: 1000,
        executionIdleMs: 1000,
        historyMs: 100_000,
        pausedMs: 604_800_000,
        waitStopMs: 900_000,
      },
    },
  });
  if (session === undefined) throw new Error('no session was made');
  await endSession(ports, session, { reason: 'a test' });
  const found = await ports.turns.getWithTurn(session.id);
  if (found === undefined) throw new Error('the session is gone');
  await expect(resetHistory(ports, found)).rejects.toMatchObject({ code: 'invalid_session_state' });
});

test('L4: resetting a session leaves the slot to a message that waits', async () => {
  const { ports } = openQuietPorts();
  const session = newSession();
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  await ports.inbox.accept(session, message('m'), inboxLimits);
  const found = await ports.turns.getWithTurn(session.id);
  if (found === undefined) throw new Error('the session is gone');
  await resetHistory(ports, found);
  expect((await ports.sessions.get(session.id))?.slot).toEqual({ turn: true });
});
