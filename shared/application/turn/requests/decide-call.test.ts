/** A decision that ends a turn, beside a message that arrives meanwhile. */
import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newSession,
  workspaceOf,
} from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { CallId, MessageId, TurnId } from '../../../domain/ids.ts';
import { deploymentOwner } from '../../../domain/principal.ts';
import type { Deciding } from '../../../domain/turn/turn.ts';
import { decideCall } from './decide-call.ts';

/** The turn may take one step: a rejection is its last. */
const limits = { stepsMax: 1, callsMax: 4, usdMax: 10 };
const deciding: Deciding = {
  ...{ kind: 'deciding', turnId: 't' as TurnId, messageId: 'one' as MessageId, step: 1, spentUsd: 0 },
  usage: { inputTokens: 0, outputTokens: 0 },
  policy: { mode: 'ask', grants: [] },
  calls: [
    {
      ...{ callId: 'c' as CallId, name: 'execute_command', args: {}, askedHuman: true, status: 'pending' },
      ...{ digest: 'd', askedAt: '2026-01-01T00:00:00.000Z' },
    },
  ],
};

test('a message that arrives while a rejection ends the turn is woken for', async () => {
  const { ports, clock, hooks, invoked } = openQuietPorts();
  const made = newSession({ createdAt: clock.now, lastActiveAt: clock.now });
  const { id } = made;
  await ports.sessions.create(made, { workspace: workspaceOf(made) });
  await ports.inbox.accept(made, message('one', clock.now), inboxLimits);
  const read = async () => (await ports.sessions.get(id)) ?? made;
  await ports.turns.commit({
    ...{ session: await read(), version: 0, state: deciding, at: clock.now, log: [], history: [] },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0 },
    ...{ release: true, wakes: false, dueAt: clock.now + 900_000 },
  });
  const seen = await read();
  const { turn } = await ports.turns.loadWork(id);
  let isFirst = true;
  hooks.before = async ({ input }) => {
    if (!isFirst || !JSON.stringify(input).includes('"completion')) return;
    isFirst = false;
    await ports.inbox.accept(seen, message('two', clock.now), inboxLimits);
  };
  const auditLog = { append: () => Promise.reject(new Error('nothing is refused here')) };
  await decideCall({ ...ports, auditLog } as unknown as Parameters<typeof decideCall>[0], {
    ...{ sessionId: id, callId: 'c', limits },
    find: () => Promise.resolve({ session: seen, turn }),
    decisionOf: () => ({ callId: 'c', approved: false, digest: 'd' }),
    principal: { owner: deploymentOwner, scope: 'admin', tokenHash: 'h' },
  });
  const left = await ports.turns.loadWork(id);
  expect(left.turn.state.kind).toBe('done');
  expect(left.inbox.map(({ messageId }) => messageId)).toEqual(['two']);
  expect(invoked).toEqual([`turn ${id}`]);
});
