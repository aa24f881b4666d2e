/** The calls of a queue: which are begun, and which end with their function or their turn. */

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
import { remoteCallMsMax } from '../../../domain/limits.ts';
import { noUsage } from '../../../domain/model.ts';
import { pendingWork } from '../../../domain/turn/pending-work.ts';
import type { Acting, ToolEffect } from '../../../domain/turn/turn.ts';
import type { SandboxTools } from '../../../ports/sandbox.ts';
import type { TurnCommit } from '../../../ports/turn-store.ts';
import type { LoopDeps } from '../../deps.ts';
import { loadTurn, type TurnContext } from '../holder/turn-context.ts';
import { cancelTurn } from '../requests/cancel-turn.ts';
import { runTools } from './run-tools.ts';

test('a remote call that may outlast its function is not begun by it (T13)', async () => {
  const { ports, takeRequests } = openQuietPorts();
  let why: string | undefined;
  const monitor = {
    hasTimeFor: (ms: number) => ms < remoteCallMsMax,
    interrupt: (reason: string) => {
      why = reason;
    },
    interruption: () => why,
    signal: new AbortController().signal,
  };
  const turn = { version: 1, state: { kind: 'idle' } };
  const context = { session: newSession(), turn, monitor } as unknown as TurnContext;
  const route = { kind: 'remote', server: 's', tool: 'pay' };
  const call = { type: 'run-tool', key: 'k', callId: 'c', name: 's_pay', args: {}, route };
  const outcome = await runTools(ports as unknown as LoopDeps, context, {
    calls: [call as unknown as ToolEffect],
    toolTimes: { waitMs: 1000, secondsMax: 60 },
  });
  expect(outcome).toEqual({ status: 'current', context });
  expect(why).toBe('deadline');
  expect(takeRequests()).toEqual([]);
});

test('a cancel that the holder meets as it asks a client kills what runs beside', async () => {
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
  const asked = { args: {}, askedHuman: false, digest: 'd', askedAt: 'then' };
  const state: Acting = {
    ...{ kind: 'acting', turnId: 'turn' as TurnId, messageId: 'm' as MessageId, step: 1, spentUsd: 0 },
    ...{ usage: noUsage, policy: { mode: 'auto', grants: [] } },
    calls: [
      {
        ...{ ...asked, callId: 'long' as CallId, name: 'execute_command', args: { command: 'make' } },
        ...{ status: 'executing', generation: 1 },
      },
      {
        ...{ ...asked, callId: 'ask' as CallId, name: 'look', status: 'approved' },
        route: { kind: 'caller', caller: 'page', tool: 'look' },
      },
    ],
  };
  const committed = await ports.turns.commit({
    ...{ session: held, fence: held.lease.fence, version: 0, state, at: 4, log: [], history: [] },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0, release: false, wakes: false, dueAt: 1e15 },
  });
  if (committed.status !== 'committed') throw new Error(`the turn was not written: ${committed.status}`);
  const limits = {
    turn: { stepsMax: 5, callsMax: 8, usdMax: 10 },
    history: { tokensMax: 1000, messagesMax: 50 },
    tree: { recursionDepthMax: 3, agentsPerSessionMax: 50, costUsdMax: 10 },
    ...{ idleMs: 60_000, waitStopMs: 60_000 },
  };
  const start = { limits, startedAt: 4, handoverAt: 1e15 };
  const context = await loadTurn(ports, { session: committed.session }, start);
  const calls = pendingWork(state).filter((effect) => effect.type === 'run-tool');
  const killed: string[] = [];
  const { promise: called, resolve: isCalled } = Promise.withResolvers<void>();
  const callFor: SandboxTools['callFor'] = ({ callKey, signal }) => {
    signal?.addEventListener('abort', () => killed.push(callKey));
    isCalled();
    return new Promise(() => undefined);
  };
  const commit = async (step: TurnCommit) => {
    await called;
    await cancelTurn(ports as unknown as LoopDeps, id);
    return ports.turns.commit(step);
  };
  const cancelling = { ...ports, tools: { ...ports.tools, callFor }, turns: { ...ports.turns, commit } };
  const outcome = await runTools(cancelling as unknown as LoopDeps, context, {
    calls,
    toolTimes: { waitMs: 1000, secondsMax: 60 },
  });
  expect(outcome).toMatchObject({ status: 'moved', context: { turn: { state: { kind: 'done' } } } });
  expect(killed).toEqual(calls.slice(0, 1).map(({ key }) => key));
});
