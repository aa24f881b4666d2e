/** A look at a call that runs on while no function waits. */

import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newSandbox,
  newSession,
  workspaceOf,
} from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { CallId, MessageId, TurnId } from '../../../domain/ids.ts';
import { noUsage } from '../../../domain/model.ts';
import type { Acting } from '../../../domain/turn/turn.ts';
import type { LoopDeps } from '../../deps.ts';
import { loadTurn } from '../holder/turn-context.ts';
import { collectDetachedResults } from './detached-calls.ts';

const limits = {
  turn: { stepsMax: 5, callsMax: 8, usdMax: 10 },
  history: { tokensMax: 1000, messagesMax: 50 },
  tree: { recursionDepthMax: 3, agentsPerSessionMax: 50, costUsdMax: 10 },
  ...{ idleMs: 60_000, waitStopMs: 60_000 },
};

test('saves what the call has written, since nobody else does (L11)', async () => {
  const { ports } = openQuietPorts();
  const session = newSession();
  const { id, workspace } = session;
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  await ports.workspaces.claimStart(workspace, newSandbox());
  await ports.workspaces.recordAddress(workspace, 1, { taskArn: 't', address: 'http://127.0.0.1:1' });
  await ports.workspaces.markReady(workspace, 1, { at: 1 });
  await ports.inbox.accept(session, message('m', 1), inboxLimits);
  const held = await ports.turns.takeLease(id, { holder: 'me', at: 2, until: 1e15 });
  if (held === undefined) throw new Error('the lease was not free');
  const state: Acting = {
    ...{ kind: 'acting', turnId: 'turn' as TurnId, messageId: 'm' as MessageId, step: 1, spentUsd: 0 },
    ...{ usage: noUsage, policy: { mode: 'auto', grants: [] } },
    calls: [
      {
        ...{ callId: 'call' as CallId, name: 'execute_command', args: { command: 'make' } },
        ...{ status: 'executing', askedHuman: false, digest: 'd', askedAt: 'then', generation: 1 },
        wait: { id: 'tool:turn:1:call', since: 1, endsBy: 1e15 },
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
  const saved: string[] = [];
  const looking = {
    ...ports,
    tools: { callFor: async () => ({ status: 'running' }) },
    archive: {
      save: async ({ workspaceId }: { readonly workspaceId: string }) => {
        saved.push(workspaceId);
        return { status: 'unchanged', leftOut: [], logs: [] };
      },
    },
  } as unknown as LoopDeps;
  expect(await collectDetachedResults(looking, context)).toBeUndefined();
  expect(saved).toEqual([workspace]);
});
