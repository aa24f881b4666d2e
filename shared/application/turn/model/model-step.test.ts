/** A model step that is cut off: by a save that fails while the money of its call is being reserved, or by a cancel. */
import { describe, expect, test } from 'vitest';
import { newSession } from '../../../../tests/conformance/session-fixture.ts';
import { fake } from '../../../../tests/fake.ts';
import type { MessageId, SessionId, TurnId } from '../../../domain/ids.ts';
import type { TokenUsage } from '../../../domain/model.ts';
import type { MoneyAnswer } from '../../../domain/tree-budget.ts';
import type { Thinking } from '../../../domain/turn/turn.ts';
import type { McpServerStore } from '../../../ports/mcp-servers.ts';
import type { TreeStore } from '../../../ports/trees.ts';
import type { CommitResult, TurnCommit, TurnStore } from '../../../ports/turn-store.ts';
import type { WebhookStore } from '../../../ports/webhooks.ts';
import type { WorkspaceStore } from '../../../ports/workspace-store.ts';
import type { LoopDeps } from '../../deps.ts';
import type { Publisher } from '../../events/publisher.ts';
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
const limits = {
  tree: { recursionDepthMax: 3, agentsPerSessionMax: 5, costUsdMax: 10 },
  turn: { stepsMax: 5, callsMax: 5, usdMax: 10 },
  history: { tokensMax: 1000, messagesMax: 100 },
  idleMs: 1,
  waitStopMs: 1,
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
    limits,
    monitor: fake<TurnMonitor>({ signal: new AbortController().signal, interruption: () => undefined }),
  });
  const step = runModelStep(ports, context, { state, outputTokensMax: 100, deadlineAt: 900_000 });
  await expect(step).rejects.toThrow('the table does not answer');
  expect(events).toEqual(['reserves', 'reserved', 'released']);
});

describe('a cancel within a call', () => {
  const usage: TokenUsage = { inputTokens: 50, outputTokens: 2 };

  /** The model says a half after it has reported so much, and waits; then the cancel comes. */
  const cancelled = async (reported: TokenUsage | undefined, result: CommitResult['status']) => {
    const stopping = new AbortController();
    const commits: TurnCommit[] = [];
    const released: object[] = [];
    const ports = fake<LoopDeps>({
      mcpServers: fake<McpServerStore>({ list: async () => [] }),
      webhooks: fake<WebhookStore>({ list: async () => ({ webhooks: [], version: 0 }) }),
      recursionDepthMax: 3,
      models: {
        open: async () => ({
          async *stream(_request, signal, { onUsage } = {}) {
            if (reported !== undefined) onUsage?.(reported);
            yield { type: 'text', text: 'half' };
            stopping.abort(new Error('cancelled'));
            signal.throwIfAborted();
          },
        }),
      },
      trees: fake<TreeStore>({
        reserve: async () => ({ grantedUsd: 100 }),
        release: async (_, of) => void released.push(of),
      }),
      turns: fake<TurnStore>({
        commit: async (commit) => {
          commits.push(commit);
          if (result === 'committed') throw new Error('written');
          return { status: result } as CommitResult;
        },
      }),
      workspaces: fake<WorkspaceStore>({ get: async () => undefined }),
      costOf: (_provider, _model, { inputTokens, outputTokens }) => (inputTokens + outputTokens) / 100,
      telemetry: fake<LoopDeps['telemetry']>({
        warn: () => undefined,
        count: () => undefined,
        duration: () => undefined,
      }),
      world: fake<LoopDeps['world']>({
        now: () => 5000,
        uuid: () => 'u',
        sha256: () => 'h',
        sleep: async () => undefined,
      }),
    });
    const context = fake<TurnContext>({
      session: newSession({ tree }),
      turn: { version: 1, state, historyNext: 1, historyFrom: 0, historyKept: 0 },
      history: [{ role: 'user', messageId: 'm' as MessageId, text: 'hi' }],
      inbox: [],
      callers: [],
      seen: undefined,
      shown: new Map(),
      publisher: fake<Publisher>({ publish: async () => undefined, subscribers: () => [] }),
      limits,
      monitor: fake<TurnMonitor>({
        signal: stopping.signal,
        interruption: () => (stopping.signal.aborted ? 'cancelled' : undefined),
        expectVersion: () => undefined,
      }),
    });
    const step = runModelStep(ports, context, { state, outputTokensMax: 100, deadlineAt: 900_000 });
    const outcome = await step.catch(({ message }: Error) => message);

    return { commit: commits[0], times: commits.length, released, outcome };
  };

  test('counts what was reported in the write of the cancel, and leaves the rest unsettled (TM4, TM7)', async () => {
    const { commit, times, released, outcome } = await cancelled(usage, 'committed');
    expect([outcome, times]).toEqual(['written', 1]);
    expect(commit?.spends).toEqual({ root: 'r', usd: 0.52, unsettledUsd: 99.48 });
    expect(commit?.patch).toMatchObject({ usage, costUsd: 0.52 });
    expect(commit?.log.at(-1)).toMatchObject({ type: 'completion', data: { usage, sessionCostUsd: 0.52 } });
    expect(released).toEqual([]);
  });

  test('counts nothing where nothing was reported: all of it is unsettled', async () => {
    const { commit, released } = await cancelled(undefined, 'committed');
    expect(commit?.spends).toEqual({ root: 'r', usd: 0, unsettledUsd: 100 });
    expect(commit?.patch).toMatchObject({ usage: { inputTokens: 0, outputTokens: 0 }, costUsd: 0 });
    expect(released).toEqual([]);
  });

  test('that comes too late to be written leaves the whole reservation unsettled', async () => {
    const { released } = await cancelled(usage, 'stale');
    expect(released).toMatchObject([{ unsettledUsd: 100 }]);
  });
});
