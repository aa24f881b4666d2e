/** A model step that is cut off: by a save that fails while the money of its call is being reserved, or by a cancel. */
import { describe, expect, test } from 'vitest';
import { newSession } from '../../../../tests/conformance/session-fixture.ts';
import { fake } from '../../../../tests/fake.ts';
import type { MessageId, SessionId, TurnId } from '../../../domain/ids.ts';
import type { ModelChunk, TokenUsage } from '../../../domain/model.ts';
import type { MoneyAnswer } from '../../../domain/tree-budget.ts';
import type { Thinking } from '../../../domain/turn/turn.ts';
import { AppError } from '../../../errors.ts';
import type { McpServerStore } from '../../../ports/mcp-servers.ts';
import type { ModelCaller } from '../../../ports/models.ts';
import type { TreeStore } from '../../../ports/trees.ts';
import type { CommitResult, TurnCommit, TurnStore } from '../../../ports/turn-store.ts';
import type { WebhookStore } from '../../../ports/webhooks.ts';
import type { WorkspaceStore } from '../../../ports/workspace-store.ts';
import type { LoopDeps } from '../../deps.ts';
import type { Publisher } from '../../events/publisher.ts';
import type { TurnContext } from '../holder/turn-context.ts';
import type { Interruption, TurnMonitor } from '../holder/turn-monitor.ts';
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

const usage: TokenUsage = { inputTokens: 50, outputTokens: 2 };

type Cut = {
  /** One for each time the model is asked. */
  readonly scripts: readonly ((heard: {
    onUsage?: ModelCaller['onUsage'];
    stop: () => void;
  }) => AsyncIterable<ModelChunk>)[];
  readonly why?: Interruption;
  readonly result?: CommitResult['status'];
  /** Within the wait for the next try. */
  readonly stopsInWait?: boolean;
  /** The workspace of the step before is being saved for so long. */
  readonly saves?: Promise<undefined>;
};

/** The step of a call that is cut off, with what is written of it and released in its tree. */
const cutOff = async ({ scripts, why = 'cancelled', ...given }: Cut) => {
  const { result = 'committed', stopsInWait = false, saves = Promise.resolve(undefined) } = given;
  const stopping = new AbortController();
  const stop = (): void => stopping.abort(new Error('cut off'));
  const commits: TurnCommit[] = [];
  let asked = 0;
  const released: object[] = [];
  const ports = fake<LoopDeps>({
    mcpServers: fake<McpServerStore>({ list: async () => [] }),
    webhooks: fake<WebhookStore>({ list: async () => ({ webhooks: [], version: 0 }) }),
    recursionDepthMax: 3,
    models: {
      open: async () => ({
        async *stream(_request, signal, { onUsage } = {}) {
          const script = scripts[asked];
          asked += 1;
          // As an adapter does, before it sends anything.
          signal.throwIfAborted();
          if (script === undefined) throw new Error('asked too often');
          yield* script({ onUsage, stop });
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
    workspaces: fake<WorkspaceStore>({ get: () => saves }),
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
      sleep: async () => (stopsInWait ? stop() : undefined),
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
      interruption: () => (stopping.signal.aborted ? why : undefined),
      expectVersion: () => undefined,
    }),
  });
  const step = runModelStep(ports, context, { state, outputTokensMax: 100, deadlineAt: 900_000 });
  const outcome = await step.catch(({ message }: Error) => message);

  return { commit: commits[0], times: commits.length, released, outcome, asked };
};

describe('a cancel within a call', () => {
  /** The model says a half after it has reported so much, and waits; then the cancel comes. */
  const cancelled = (reported: TokenUsage | undefined, result: CommitResult['status']) =>
    cutOff({
      scripts: [
        async function* ({ onUsage, stop }) {
          if (reported !== undefined) onUsage?.(reported);
          yield { type: 'text', text: 'half' };
          stop();
          throw new Error('cut off');
        },
      ],
      result,
    });

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

describe('a call that is cut off in the wait for its next try', () => {
  const refused = new AppError('provider_overloaded', 'busy', { context: { isUncharged: true } });
  const broken = new AppError('provider_unavailable', 'the connection failed');
  const failing = (error: AppError, reported?: TokenUsage): Cut['scripts'] => [
    // biome-ignore lint/correctness/useYield: a call that fails says nothing
    async function* ({ onUsage }) {
      if (reported !== undefined) onUsage?.(reported);
      throw error;
    },
  ];

  test('leaves nothing unsettled when its try was refused: the reservation is given back (TM7)', async () => {
    const { commit, times, released, asked } = await cutOff({ scripts: failing(refused), stopsInWait: true });
    expect([asked, times, commit?.spends]).toEqual([1, 1, undefined]);
    expect(released).toMatchObject([{ unsettledUsd: 0 }]);
  });

  test('does so when it is handed over, too', async () => {
    const options = { why: 'deadline', stopsInWait: true } as const;
    const { times, released, asked } = await cutOff({ ...options, scripts: failing(refused) });
    expect([asked, times]).toEqual([1, 0]);
    expect(released).toMatchObject([{ unsettledUsd: 0 }]);
  });

  test('leaves what was reserved for the try that is not sent, and settles what is known of the one before (TM4, TM7)', async () => {
    const { commit, released, asked } = await cutOff({ scripts: failing(broken, usage), stopsInWait: true });
    expect(asked).toBe(1);
    // The first reservation became unsettled as a whole when the second was made.
    expect(commit?.spends).toEqual({ root: 'r', usd: 0.52, unsettledUsd: -0.52 });
    expect(released).toEqual([]);
  });
});

describe('an answer that has ended, cut off while the workspace is saved', () => {
  const scripts: Cut['scripts'] = [
    async function* ({ stop }) {
      yield { type: 'text', text: 'whole' };
      yield { type: 'end', end: 'end_turn', usage };
      stop();
    },
  ];
  const saves = new Promise<undefined>(() => undefined);

  test('is spent as it is known, and leaves nothing unsettled (TM4, TM7)', async () => {
    const { commit, times, released } = await cutOff({ scripts, saves });
    expect([times, commit?.spends]).toEqual([1, { root: 'r', usd: 0.52 }]);
    expect(commit?.patch).toMatchObject({ usage, costUsd: 0.52 });
    expect(released).toEqual([]);
  });

  test('stays counted with what it cost when it is handed over, or its cancel is not written', async () => {
    const handedOver = await cutOff({ scripts, saves, why: 'deadline' });
    expect([handedOver.times, handedOver.released]).toMatchObject([0, [{ unsettledUsd: 0.52 }]]);
    const { released } = await cutOff({ scripts, saves, result: 'stale' });
    expect(released).toMatchObject([{ unsettledUsd: 0.52 }]);
  });
});
