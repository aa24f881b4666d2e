/** A cancel says what it did: it is no error where nothing runs. */
import { expect, test } from 'vitest';
import { deploymentOwner } from '#shared/domain/principal.ts';
import type { Session } from '#shared/domain/session.ts';
import { inboxLimits, message, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { CallContext } from '../define-tool.ts';
import { session as tool } from './session.ts';

const open = async (fields: Partial<Session> = {}) => {
  const { ports, clock } = openQuietPorts();
  const times = { createdAt: clock.now, lastActiveAt: clock.now };
  const session = newSession({ owner: deploymentOwner, ...times, ...fields });
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

test('a cancel of an execution session whose program runs is refused, and not of one without', async () => {
  const running = await open({ kind: 'execution', status: 'running', runningCalls: { call: 1e15 } });
  await expect(running.cancel()).rejects.toMatchObject({
    code: 'invalid_session_state',
    details: { suggestions: ['Cancel the request that runs the program, or end the session.'] },
  });
  // By then its function has died.
  for (const runningCalls of [{}, { call: 1 }]) {
    const { cancel } = await open({ kind: 'execution', status: 'ready', runningCalls });
    expect(await cancel()).toMatchObject({ message: 'it had no turn to cancel' });
  }
});
