/** A cancel says what it did: it is no error where nothing runs. */
import { expect, test } from 'vitest';
import { deploymentOwner } from '#shared/domain/principal.ts';
import { inboxLimits, message, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { CallContext } from '../define-tool.ts';
import { session as tool } from './session.ts';

const open = async () => {
  const { ports, clock } = openQuietPorts();
  const session = newSession({ owner: deploymentOwner, createdAt: clock.now, lastActiveAt: clock.now });
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const principal = { owner: deploymentOwner, scope: 'admin', tokenHash: '' };
  const context = { ports, principal } as unknown as CallContext;
  return {
    say: () => ports.inbox.accept(session, message('one', clock.now), inboxLimits),
    cancel: () => tool.run({ action: 'cancel', session_id: session.id }, context),
  };
};

test('a cancel of a session that has nothing to do says so', async () => {
  const { cancel } = await open();
  expect(await cancel()).toMatchObject({ status: 'created', message: 'it had no turn to cancel' });
});

test('a cancel of a session that has work says that this is cancelled, and only once', async () => {
  const { say, cancel } = await open();
  await say();
  expect(await cancel()).toMatchObject({ status: 'idle', message: 'its turn is cancelled' });
  expect(await cancel()).toMatchObject({ status: 'idle', message: 'it had no turn to cancel' });
});
