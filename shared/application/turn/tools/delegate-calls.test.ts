/** A client that leaves while its turn's model answers is asked no more, and one that came back is. */

import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newSession,
  workspaceOf,
} from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { CallId, ConnectionId, MessageId, TurnId } from '../../../domain/ids.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { eventBytesMax } from '../../../domain/limits.ts';
import { noUsage } from '../../../domain/model.ts';
import { pendingWork } from '../../../domain/turn/pending-work.ts';
import type { Acting } from '../../../domain/turn/turn.ts';
import { closeConnection } from '../../connection/close-connection.ts';
import type { LoopDeps } from '../../deps.ts';
import { loadTurn } from '../holder/turn-context.ts';
import { delegateCalls, isDelegated } from './delegate-calls.ts';

const limits = {
  turn: { stepsMax: 5, callsMax: 8, usdMax: 10 },
  history: { tokensMax: 1000, messagesMax: 50 },
  tree: { recursionDepthMax: 3, agentsPerSessionMax: 50, costUsdMax: 10 },
  ...{ idleMs: 60_000, waitStopMs: 60_000 },
};

type Asked = { readonly leaves?: boolean; readonly comesBack?: boolean; readonly args?: JsonObject };

/** The log of a call of a client, after its connection has closed and another was opened, and the number of reads. */
const ask = async ({ leaves = false, comesBack = false, args = {} }: Asked) => {
  const { ports, clock, takeRequests } = openQuietPorts();
  const session = newSession();
  const { id } = session;
  const principal = { owner: session.owner, scope: 'admin', tokenHash: 'h' } as const;
  const open = async (connectionId: ConnectionId) => {
    await ports.connections.put({ id: connectionId, sessionId: id, principal, connectedAt: clock.now });
    const tools = [{ name: 'look', description: 'looks', inputSchema: { type: 'object' } }];
    await ports.callers.declare(id, { callerId: 'page', tools, connectionId });
  };
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  await open('c' as ConnectionId);
  await ports.inbox.accept(session, message('m', 1), inboxLimits);
  const held = await ports.turns.takeLease(id, { holder: 'me', at: 2, until: 1e15 });
  if (held === undefined) throw new Error('the lease was not free');
  const state: Acting = {
    ...{ kind: 'acting', turnId: 'turn' as TurnId, messageId: 'm' as MessageId, step: 1, spentUsd: 0 },
    ...{ usage: noUsage, policy: { mode: 'auto', grants: [] } },
    calls: [
      {
        ...{ callId: 'call' as CallId, name: 'page_look', args, status: 'approved', askedHuman: false },
        ...{ digest: 'd', askedAt: 'then', route: { kind: 'caller', caller: 'page', tool: 'look' } },
      },
    ],
  };
  const committed = await ports.turns.commit({
    ...{ session: held, fence: held.lease.fence, version: 0, state, at: 4, log: [], history: [] },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0, release: false, wakes: false, dueAt: 1e15 },
  });
  if (committed.status !== 'committed') throw new Error(`the turn was not written: ${committed.status}`);
  const start = { limits, startedAt: 4, handoverAt: 1e15 };
  const context = await loadTurn(ports, { session: committed.session }, start);
  if (leaves) await closeConnection(ports, { connectionId: 'c' as ConnectionId, sessionId: id }, limits.turn);
  if (comesBack) await open('d' as ConnectionId);
  // As its monitor reads them.
  context.publisher.setSubscribers(await ports.connections.subscribers(id), ports.world.now());
  const calls = pendingWork(state).filter((effect) => effect.type === 'run-tool');
  takeRequests();
  await delegateCalls(
    ports as unknown as LoopDeps,
    { context },
    { calls: calls.filter(isDelegated), running: [] },
  );
  const requests = takeRequests();
  const { events } = await ports.eventLog.read(id, { since: -1, eventsMax: 20 });
  return {
    events,
    said: events.map(({ type }) => type),
    reads: requests.filter((name) => name === 'Query').length,
  };
};

test('a client that is there is asked without a read', async () => {
  expect(await ask({})).toMatchObject({ said: ['caller_tool:request'], reads: 0 });
});

test('the call of a client that has left fails at once', async () => {
  expect((await ask({ leaves: true })).said).toEqual(['agent:error']);
});

test('a client that is back under another connection is asked', async () => {
  expect((await ask({ leaves: true, comesBack: true })).said).toEqual(['caller_tool:request']);
});

test('a client is asked with whole arguments, or its call fails and says why', async () => {
  const name = 'x'.repeat(eventBytesMax - 1000);
  const { events } = await ask({ args: { name } });
  expect(events).toMatchObject([{ type: 'caller_tool:request', data: { args: { name } } }]);
  const tooLong = await ask({ args: { name: 'x'.repeat(eventBytesMax) } });
  expect(tooLong.events).toMatchObject([
    {
      type: 'agent:error',
      data: { code: 'payload_too_large', message: expect.stringContaining('it was not asked') },
    },
  ]);
});
