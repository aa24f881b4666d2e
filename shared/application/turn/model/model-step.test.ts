/** A model step whose save fails while the money of its call is being reserved. */
import { expect, test } from 'vitest';
import { newSession } from '../../../../tests/conformance/session-fixture.ts';
import { fake } from '../../../../tests/fake.ts';
import type { MessageId, SessionId, TurnId } from '../../../domain/ids.ts';
import type { MoneyAnswer } from '../../../domain/tree-budget.ts';
import type { Thinking } from '../../../domain/turn/turn.ts';
import type { McpServerStore } from '../../../ports/mcp-servers.ts';
import type { TreeStore } from '../../../ports/trees.ts';
import type { WorkspaceStore } from '../../../ports/workspace-store.ts';
import type { LoopDeps } from '../../deps.ts';
import type { TurnContext } from '../holder/turn-context.ts';
import type { TurnMonitor } from '../holder/turn-monitor.ts';
import { runModelStep } from './model-step.ts';

const state: Thinking = {
  kind: 'thinking',
  turnId: 't' as TurnId,
  messageId: 'm' as MessageId,
  step: 2,
  usage: { inputTokens: 0, outputTokens: 0 },
  spentUsd: 0,
  policy: { mode: 'ask', grants: [] },
};
const tree = { root: 'r' as SessionId, parent: 'r' as SessionId };

test('releases its reservation after it was made, and asks no model', async () => {
  const reserved = Promise.withResolvers<MoneyAnswer>();
  const events: string[] = [];
  const ports = fake<LoopDeps>({
    mcpServers: fake<McpServerStore>({ list: async () => [] }),
    recursionDepthMax: 3,
    models: {
      open: async () => {
        events.push('asked');
        throw new Error('it is too late');
      },
    },
    trees: fake<TreeStore>({
      reserve: async () => {
        events.push('reserves');
        await reserved.promise;
        events.push('reserved');
        return { grantedUsd: 1 };
      },
      release: async () => void events.push('released'),
    }),
    workspaces: fake<WorkspaceStore>({
      get: async () => {
        setTimeout(() => reserved.resolve({ grantedUsd: 1 }), 20);
        throw new Error('the table does not answer');
      },
    }),
    costOf: () => 1,
    telemetry: fake<LoopDeps['telemetry']>({ warn: () => undefined, count: () => undefined }),
    world: fake<LoopDeps['world']>({ now: () => 5000, uuid: () => 'u' }),
  });
  const context = fake<TurnContext>({
    session: newSession({ tree }),
    turn: { version: 1, state, historyNext: 0, historyFrom: 0, historyKept: 0 },
    history: [{ role: 'user', messageId: 'm' as MessageId, text: 'hi' }],
    inbox: [],
    callers: [],
    seen: undefined,
    limits: {
      tree: { recursionDepthMax: 3, agentsPerSessionMax: 5, costUsdMax: 10 },
      turn: { stepsMax: 5, callsMax: 5, usdMax: 10 },
      history: { tokensMax: 1000, messagesMax: 100 },
      idleMs: 1,
      waitStopMs: 1,
    },
    monitor: fake<TurnMonitor>({ signal: new AbortController().signal, interruption: () => undefined }),
  });
  const step = runModelStep(ports, context, { state, outputTokensMax: 100, deadlineAt: 900_000 });
  await expect(step).rejects.toThrow('the table does not answer');
  expect(events).toEqual(['reserves', 'reserved', 'released']);
});
