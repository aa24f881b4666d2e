/** A result that is known at the deadline of its function, when no time is left to save the workspace. */

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
import type { UnsavedFiles } from '../../../domain/turn/saved-files.ts';
import type { Acting } from '../../../domain/turn/turn.ts';
import type { LoopDeps } from '../../deps.ts';
import { loadTurn } from '../holder/turn-context.ts';
import { commitResult } from './collect-tool-results.ts';
import type { LazySandbox } from './lazy-sandbox.ts';

const limits = {
  turn: { stepsMax: 1, callsMax: 8, usdMax: 10 },
  history: { tokensMax: 1000, messagesMax: 50 },
  tree: { recursionDepthMax: 3, agentsPerSessionMax: 50, costUsdMax: 10 },
  ...{ idleMs: 60_000, waitStopMs: 60_000 },
};

const losses = { generation: 1, notice: '[lost]' };

/** Of the last call of a turn, begun in that generation: the log after its result, and who has not heard of the losses it tells. */
const afterResult = async (generation: number, unsaved?: UnsavedFiles) => {
  const { ports } = openQuietPorts();
  const session = newSession();
  const { id } = session;
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  await ports.workspaces.claimStart(session.workspace, newSandbox());
  await ports.workspaces.markReady(session.workspace, 1, { at: 1, losses });
  await ports.inbox.accept(session, message('m', 1), inboxLimits);
  const held = await ports.turns.takeLease(id, { holder: 'me', at: 2, until: 1e15 });
  if (held === undefined) throw new Error('the lease was not free');
  const callId = 'call' as CallId;
  const state: Acting = {
    ...{ kind: 'acting', turnId: 'turn' as TurnId, messageId: 'm' as MessageId, step: 1, spentUsd: 0 },
    ...{ usage: noUsage, policy: { mode: 'auto', grants: [] } },
    ...(unsaved === undefined ? {} : { unsaved }),
    calls: [
      {
        ...{ callId, name: 's_pay', args: {}, status: 'executing', askedHuman: false, digest: 'd' },
        ...{ askedAt: 'then', generation, route: { kind: 'remote', server: 's', tool: 'pay' } },
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
  context.monitor.interrupt('deadline');
  const lazySandbox = { current: () => undefined, takeLog: () => [] } as unknown as LazySandbox;
  const event = { type: 'call-finished', at: 5, callId, content: [], text: 'paid', durationMs: 1 } as const;
  await commitResult(ports as unknown as LoopDeps, { context, lazySandbox }, { event, others: [], losses });
  const { events } = await ports.eventLog.read(id, { since: -1, eventsMax: 20 });
  const { unaware } = (await ports.workspaces.get(session.workspace)) ?? {};
  return { log: events.map(({ type, data }) => ({ type, ...data })), unaware };
};

const logAfter = async (generation: number, unsaved?: UnsavedFiles) =>
  (await afterResult(generation, unsaved)).log;

test('is written where its call ends with the function', async () => {
  const log = await logAfter(0);
  expect(log.map(({ type }) => type)).toEqual(['tool:output', 'completion']);
  expect(log[1]).not.toHaveProperty('workspace');
});

test('is written with the word that files are not saved, where the turn left some (L11)', async () => {
  const log = await logAfter(0, { generation: 1, isUntried: true });
  expect(log).toMatchObject([
    { type: 'system', kind: 'workspace_not_saved' },
    { type: 'tool:output' },
    { type: 'completion', workspace: { lost: true } },
  ]);
});

test('is left to the next function where the sandbox has it', async () => {
  expect(await logAfter(1)).toEqual([]);
});

test('tells of losses once it is written, and no sooner (L15)', async () => {
  expect((await afterResult(0)).unaware).toBeUndefined();
  expect((await afterResult(1)).unaware).toHaveLength(1);
});
