/** Conversations that cannot be reset, and the errors that say so. */
import { expect, test } from 'vitest';
import { inboxLimits, message, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { lifetimes, openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { MessageId, SessionId, TurnId } from '../../domain/ids.ts';
import { deploymentOwner } from '../../domain/principal.ts';
import { startedBy } from '../../domain/turn/begin-turn.ts';
import { reduce } from '../../domain/turn/reduce.ts';
import { endSession } from '../turn/requests/end-session.ts';
import { retryTurn } from '../turn/requests/retry-turn.ts';
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
      lifetimes,
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

test.each(['before', 'after'])(
  'a failed turn whose message is forgotten just %s it is to be repeated asks no model',
  async (when) => {
    const { ports, clock } = openQuietPorts();
    const at = clock.now;
    const made = newSession({ createdAt: at, lastActiveAt: at });
    const { id } = made;
    await ports.sessions.create(made, { workspace: workspaceOf(made) });
    await ports.inbox.accept(made, message('m', at), inboxLimits);
    const found = async () => {
      const both = await ports.turns.getWithTurn(id);
      if (both === undefined) throw new Error('the session is gone');
      return both;
    };
    const { session } = await found();
    const messageId = 'm' as MessageId;
    await ports.turns.commit({
      ...{ session, version: 0, at, log: [], completed: (await ports.turns.loadWork(id)).inbox[0] },
      state: { kind: 'done', turnId: 't' as TurnId, stopReason: 'error', failed: { messageId } },
      history: [{ role: 'user', messageId, text: 'hello' }],
      ...{ historyNext: 0, historyFrom: 0, historyKept: 0, patch: { status: 'idle' } },
      ...{ release: false, wakes: false, dueAt: at },
    });
    const failed = await found();
    const retry = () => retryTurn(ports, failed);
    const reset = async () => resetHistory(ports, await found());
    for (const request of when === 'before' ? [reset, retry] : [retry, reset]) await request();
    const { turn, inbox } = await ports.turns.loadWork(id);
    const [next] = inbox;
    if (next === undefined) throw new Error('nothing is to be repeated');
    const beginning = {
      at,
      turnId: 'u' as TurnId,
      policy: { mode: 'auto' as const, grants: [] },
      spentUsd: 0,
    };
    const limits = { stepsMax: 5, callsMax: 5, usdMax: 1 };
    const { state, log } = reduce(turn.state, startedBy(next, beginning), limits);
    expect(state).toMatchObject({ kind: 'done', stopReason: 'cancelled' });
    expect(log.map(({ type }) => type)).toEqual(['system', 'completion']);
  },
);
