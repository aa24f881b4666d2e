/** The end of a carried turn that the platform brings about: its files are saved, and its program is stopped. */

import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newSandbox,
  newSession,
  workspaceOf,
} from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { MessageId, TurnId } from '../../../domain/ids.ts';
import { noUsage } from '../../../domain/model.ts';
import type { Thinking } from '../../../domain/turn/turn.ts';
import type { LoopDeps } from '../../deps.ts';
import { loadTurn } from '../holder/turn-context.ts';
import { runRuntimeStep } from './run-runtime-step.ts';

const limits = {
  turn: { stepsMax: 1, callsMax: 8, usdMax: 10 },
  history: { tokensMax: 1000, messagesMax: 50 },
  tree: { recursionDepthMax: 3, agentsPerSessionMax: 50, costUsdMax: 10 },
  ...{ idleMs: 60_000, waitStopMs: 60_000 },
};

/** Of a turn whose program gives these events: its completion, and what was done in the sandbox, in order. */
const endOf = async (page: unknown) => {
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
  const state: Thinking = {
    ...{ kind: 'thinking', turnId: 'turn' as TurnId, messageId: 'm' as MessageId, step: 1, spentUsd: 0 },
    ...{ usage: noUsage, policy: { mode: 'auto', grants: [] } },
    runtime: { name: 'opencode', starts: 1, generation: 1, taken: 0, replies: [] },
  };
  const committed = await ports.turns.commit({
    ...{ session: held, fence: held.lease.fence, version: 0, state, at: 4, log: [], history: [] },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0, release: false, wakes: false, dueAt: 1e15 },
  });
  if (committed.status !== 'committed') throw new Error(`the turn was not written: ${committed.status}`);
  const context = await loadTurn(
    ports,
    { session: committed.session },
    { limits, startedAt: 4, handoverAt: 1e15 },
  );
  const done: string[] = [];
  const fetch: LoopDeps['link']['fetch'] = async (_sandbox, { path }) => {
    if (path.endsWith('/abort')) done.push(path);
    return path.includes('/events?') ? Response.json(page) : new Response('{}');
  };
  const archive = {
    ...ports.archive,
    save: async () => {
      done.push('saved');
      return { status: 'refused', code: 'sandbox_unavailable', message: 'it is silent' };
    },
  };
  await runRuntimeStep({ ...ports, archive, link: { fetch } } as unknown as LoopDeps, context);
  const { events } = await ports.eventLog.read(id, { since: -1, eventsMax: 20 });
  return { done, completion: events.find(({ type }) => type === 'completion')?.data };
};

const step = { type: 'step', usage: { inputTokens: 1, outputTokens: 1 } };
const over = { deltas: [], events: [1, 2].map((number) => ({ number, fact: step })) };

test.each([
  ['is over its limit of steps', over, 'steps_exceeded'],
  ['says what cannot be read', { events: 'none' }, 'error'],
])(
  'a turn whose program %s is saved before it ends, and the program is stopped',
  async (...[, page, reason]) => {
    const { done, completion } = await endOf(page);
    expect(done).toEqual(['saved', '/agent/turns/turn.1/abort']);
    expect(completion).toMatchObject({ stopReason: reason, workspace: { lost: true } });
  },
);
