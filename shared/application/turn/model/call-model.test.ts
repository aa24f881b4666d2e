/** One call of a model over a provider that a test scripts: what is asked, again or shorter, and what comes of it. */

import { describe, expect, test } from 'vitest';
import type { McpServerStore } from '#shared/ports/mcp-servers.ts';
import type { TreeStore } from '#shared/ports/trees.ts';
import { fake } from '../../../../tests/fake.ts';
import type { Frame } from '../../../contracts/frames.ts';
import type { HistoryMessage } from '../../../domain/history.ts';
import type { CallId, MessageId, TurnId } from '../../../domain/ids.ts';
import type { ModelChunk, ModelRequest, ThinkingLevel, TokenUsage } from '../../../domain/model.ts';
import type { Session } from '../../../domain/session.ts';
import type { TokenMeasure } from '../../../domain/token-measure.ts';
import type { MoneyAnswer, ReservationRequest } from '../../../domain/tree-budget.ts';
import type { Thinking } from '../../../domain/turn/turn.ts';
import { AppError } from '../../../errors.ts';
import type { ModelProvider } from '../../../ports/models.ts';
import type { ModelDeps } from '../../deps.ts';
import type { TurnMonitor } from '../holder/turn-monitor.ts';
import { openCallMeter } from './call-meter.ts';
import { callModel } from './call-model.ts';

const usage = { inputTokens: 7, outputTokens: 3 };
const end: ModelChunk = { type: 'end', end: 'end_turn', usage };
const hello: ModelChunk = { type: 'text', text: 'hello' };

const user = (text: string): HistoryMessage => ({ role: 'user', messageId: 'm' as MessageId, text });
const state: Thinking = {
  kind: 'thinking',
  turnId: 't' as TurnId,
  messageId: 'm' as MessageId,
  step: 2,
  usage: { inputTokens: 0, outputTokens: 0 },
  spentUsd: 0,
  policy: { mode: 'ask', grants: [] },
};

/** Usage is reported before what follows it. */
type Script = (request: ModelRequest, signal: AbortSignal) => readonly (ModelChunk | TokenUsage | Error)[];
type Options = {
  /** One for each time the model is asked. */
  readonly scripts: readonly Script[];
  readonly history?: readonly HistoryMessage[];
  readonly count?: ModelProvider['count'];
  readonly measured?: TokenMeasure;
  readonly model?: string;
  readonly thinking?: { readonly session: ThinkingLevel; readonly message?: ThinkingLevel };
  /** Of its tree, one for each reservation. Absent: it stands alone. */
  readonly money?: readonly MoneyAnswer[];
  readonly disabledTools?: readonly string[];
  /** Of frames that are posted. */
  readonly posted?: Promise<void>;
};

const open = ({ scripts, history = [user('hi')], count, measured, model, thinking, ...options }: Options) => {
  const { money, disabledTools = [], posted = Promise.resolve() } = options;
  const reserved: ReservationRequest[] = [];
  const sent: number[] = [];
  const asked: ModelRequest[] = [];
  const slept: number[] = [];
  const frames: Frame[] = [];
  const warned: string[] = [];
  const controller = new AbortController();
  const meter = openCallMeter();
  let ids = 0;
  const provider: ModelProvider = {
    async *stream(request, signal, { onUsage } = {}) {
      const script = scripts[asked.length];
      asked.push(request);
      if (script === undefined) throw new Error('asked too often');
      for (const chunk of script(request, signal)) {
        signal.throwIfAborted();
        if (chunk instanceof Error) throw chunk;
        if ('type' in chunk) yield chunk;
        else onUsage?.(chunk);
      }
    },
    ...(count === undefined ? {} : { count }),
  };
  const answer = () => {
    ids = 0;
    return callModel(
      {
        ...fake<Pick<ModelDeps, 'workspaces' | 'link' | 'savedFiles'>>({}),
        mcpServers: fake<McpServerStore>({ list: () => Promise.resolve([]) }),
        recursionDepthMax: 3,
        models: { open: () => Promise.resolve(provider) },
        trees: fake<TreeStore>({
          reserve: (_, reservation) => {
            const answer = money?.[reserved.length];
            reserved.push(reservation);
            return answer === undefined
              ? Promise.reject(new Error('it stands alone'))
              : Promise.resolve(answer);
          },
          release: () => Promise.resolve(),
        }),
        costOf: (name, of, { inputTokens }) => (name === 'demo' && of === 'large' ? inputTokens : 0),
        telemetry: {
          info: () => undefined,
          warn: (message) => warned.push(message),
          error: () => undefined,
          count: () => undefined,
          duration: () => undefined,
        },
        world: {
          now: () => 5000,
          uuid: () => {
            ids += 1;
            return `answer-${ids}`;
          },
          sha256: (text) => `sha256 of ${text}`,
          sleep: (milliseconds) => {
            if (milliseconds !== 50) slept.push(milliseconds);
            return Promise.resolve();
          },
        },
      },
      {
        context: {
          session: {
            ...{ id: 's', provider: 'demo', model: 'large', disabledTools },
            ...(thinking === undefined ? {} : { thinking: thinking.session }),
            ...(money === undefined ? {} : { hasChildren: true, lease: { holder: 'h', fence: 1, until: 0 } }),
          } as Session,
          turn: {
            ...{ version: 1, state, historyNext: history.length, historyFrom: 0, historyKept: 0 },
            ...(measured === undefined ? {} : { measured }),
          },
          history,
          inbox: [
            {
              messageId: 'm' as MessageId,
              text: 'hi',
              acceptedAt: 0,
              correlationId: 'c',
              ...(model === undefined ? {} : { model }),
              ...(thinking?.message === undefined ? {} : { thinking: thinking.message }),
            },
          ],
          callers: [],
          shown: new Map(),
          publisher: {
            publish: (told) => {
              frames.push(...told);
              return posted;
            },
            waitingChanged: () => Promise.resolve(),
            subscribers: () => [],
            setSubscribers: () => undefined,
          },
          monitor: {} as TurnMonitor,
          limits: {
            turn: { stepsMax: 5, callsMax: 4, usdMax: 1 },
            history: { tokensMax: 1000, messagesMax: 10 },
            tree: { recursionDepthMax: 3, agentsPerSessionMax: 50, costUsdMax: 10 },
            idleMs: 1,
            waitStopMs: 1,
          },
        },
        state,
        outputTokensMax: 99,
        onText: () => undefined,
        deadlineAt: 900_000,
        signal: controller.signal,
        meter: {
          ...meter,
          sent: (reserved, costOf) => {
            sent.push(reserved.usd);
            meter.sent(reserved, costOf);
          },
        },
      },
    );
  };
  return { answer, asked, slept, frames, warned, controller, reserved, sent };
};

const overloaded = (retryAfter?: number): AppError =>
  new AppError('provider_overloaded', 'busy', retryAfter === undefined ? {} : { context: { retryAfter } });
const tooLong = new AppError('context_too_long', 'the conversation is too long');

describe('an answer', () => {
  test('waits for no subscriber: its last frames are posted beside its commit', async () => {
    const { answer, frames } = open({
      scripts: [() => [hello, { type: 'text', text: ' you' }, end]],
      posted: new Promise(() => undefined),
    });
    expect(await answer()).toMatchObject({ type: 'model-answered', text: 'hello you' });
    expect(frames.map(({ data }) => data['text'])).toEqual(['hello', ' you']);
  });

  test('is streamed to subscribers and returned whole, with its cost', async () => {
    const call: ModelChunk = { type: 'call', callId: 'c1' as CallId, name: 'list_files', args: {} };
    const providerState = { thinking: ['x'] };
    const { answer, asked, frames } = open({
      scripts: [
        () => [hello, { type: 'text', text: ' you' }, call, { ...end, end: 'tool_use', providerState }],
      ],
    });
    expect(await answer()).toEqual({
      type: 'model-answered',
      at: 5000,
      step: 2,
      messageId: 'answer-1',
      text: 'hello you',
      calls: [
        {
          ...{ callId: 'c1', name: 'list_files', args: {}, askedAt: '1970-01-01T00:00:05.000Z' },
          digest: 'sha256 of {"args":{},"callId":"c1","name":"list_files","turnId":"t"}',
        },
      ],
      end: 'tool_use',
      usage,
      costUsd: 7,
      providerState,
    });
    expect(frames.map(({ type, data }) => [type, data['messageId']])).toContainEqual(['delta', 'answer-1']);
    expect(frames.map(({ data }) => data['text']).join('')).toBe('hello you');
    expect(asked).toMatchObject([{ model: 'large', outputTokensMax: 99, history: [user('hi')] }]);
  });

  test('streams thoughts apart from the text, with offsets of their own', async () => {
    const thought = (text: string): ModelChunk => ({ type: 'reasoning', text });
    const { answer, frames } = open({ scripts: [() => [thought('one'), thought(' two'), hello, end]] });
    expect(await answer()).toMatchObject({ text: 'hello', reasoning: { text: 'one two' } });
    const pieces = frames.filter(({ type }) => type === 'reasoning_delta').map(({ data }) => data);
    expect(pieces.map(({ text }) => text).join('')).toBe('one two');
    expect(pieces[0]).toMatchObject({ messageId: 'answer-1', offset: 0 });
    expect(frames.filter(({ type }) => type === 'delta').map(({ data }) => data)).toEqual([
      { messageId: 'answer-1', offset: 0, text: 'hello' },
    ]);
  });

  test('keeps 65536 bytes of thoughts, and says that there were more', async () => {
    const much: ModelChunk = { type: 'reasoning', text: 'é'.repeat(40_000) };
    const { answer, frames } = open({ scripts: [() => [much, much, hello, end]] });
    expect(await answer()).toMatchObject({
      text: 'hello',
      reasoning: { text: 'é'.repeat(32_768), truncated: true },
    });
    const shown = frames.filter(({ type }) => type === 'reasoning_delta').map(({ data }) => data['text']);
    expect(shown.join('')).toBe('é'.repeat(32_768));
  });

  test('that fails while it thinks is made again: nobody was answered yet', async () => {
    const thought: ModelChunk = { type: 'reasoning', text: 'hm' };
    const { answer } = open({ scripts: [() => [thought, overloaded()], () => [thought, hello, end]] });
    expect(await answer()).toMatchObject({ messageId: 'answer-2', reasoning: { text: 'hm' } });
  });

  test.each([
    [{ session: 'low', message: 'high' }, 'high'],
    [{ session: 'low' }, 'low'],
    [undefined, undefined],
  ] as const)('thinks as the message says, else as the session does: %j', async (thinking, level) => {
    const { answer, asked } = open({
      scripts: [() => [hello, end]],
      ...(thinking === undefined ? {} : { thinking }),
    });
    await answer();
    expect(asked.map((request) => request.thinking)).toEqual([level]);
  });

  test('uses the message’s own model and its price', async () => {
    const { answer, asked } = open({ scripts: [() => [hello, end]], model: 'small' });
    expect(await answer()).toMatchObject({ costUsd: 0 });
    expect(asked.map(({ model }) => model)).toEqual(['small']);
  });

  test('says which of its calls name a tool that was not offered', async () => {
    const script = (): ModelChunk[] => [
      ...['list_files', 'fly', 'process', 'execute_code'].map(
        (name): ModelChunk => ({ type: 'call', name, args: {} }),
      ),
      end,
    ];
    const disabledTools = ['execute_code'];
    const event = await open({ scripts: [script], disabledTools }).answer();
    expect(event.type === 'model-answered' && event.calls.map(({ isUnknown }) => isUnknown)).toEqual([
      undefined,
      true,
      undefined,
      true,
    ]);
  });

  test('gives each call an id that a client can send', async () => {
    const ids = ['', 'x'.repeat(249), undefined, 'x'.repeat(200)];
    const calls = ids.map(
      (callId): ModelChunk => ({
        type: 'call',
        name: 'list_files',
        args: {},
        ...(callId === undefined ? {} : { callId: callId as CallId }),
      }),
    );
    const event = await open({ scripts: [() => [...calls, end]] }).answer();
    expect(event.type === 'model-answered' && event.calls.map(({ callId }) => callId)).toEqual([
      'call_5000_0',
      'call_5000_1',
      'call_5000_2',
      'x'.repeat(200),
    ]);
  });

  test.each([
    ['307200 bytes of text', { type: 'text', text: 'é'.repeat(160_000) }],
    [
      '1572864 bytes of tool arguments',
      { type: 'call', name: 'write_file', args: { content: 'x'.repeat(1_600_000) } },
    ],
  ] as const)('over %s is refused, since it could not be stored', async (what, chunk) => {
    expect(await open({ scripts: [() => [chunk, end]] }).answer()).toMatchObject({
      type: 'model-failed',
      code: 'content_refused',
      message: `the model's answer has over ${what}`,
    });
  });
});

describe('a transient error', () => {
  test('is retried, and the answer has a new message id', async () => {
    const { answer, slept } = open({
      scripts: [() => [overloaded()], () => [overloaded()], () => [hello, end]],
    });
    expect(await answer()).toMatchObject({ type: 'model-answered', messageId: 'answer-3', text: 'hello' });
    expect(slept).toEqual([500, 1500]);
  });

  test('is retried after the provider’s pause', async () => {
    const { answer, slept, frames } = open({ scripts: [() => [overloaded(2)], () => [hello, end]] });
    expect(await answer()).toMatchObject({ type: 'model-answered' });
    expect(slept).toEqual([2000]);
    expect(frames[0]).toEqual({
      ...{ type: 'system', sessionId: 's', seq: null, at: '1970-01-01T00:00:05.000Z' },
      data: {
        ...{ kind: 'model_retry', code: 'provider_overloaded', message: 'busy' },
        ...{ provider: 'demo', attempt: 1, retryAt: '1970-01-01T00:00:07.000Z' },
      },
    });
  });

  test('is final the fourth time', async () => {
    const { answer, asked, warned } = open({
      scripts: Array.from({ length: 5 }, () => () => [overloaded()]),
    });
    expect(await answer()).toEqual({
      type: 'model-failed',
      at: 5000,
      step: 2,
      code: 'provider_overloaded',
      message: 'busy',
      origin: { provider: 'demo', attempt: 4 },
    });
    expect([asked.length, warned]).toEqual([4, ['a model call failed']]);
  });

  test('is final when the provider asks for more than a minute, which the failure says', async () => {
    const { answer, slept } = open({ scripts: [() => [overloaded(3600)]] });
    expect(await answer()).toMatchObject({
      origin: { provider: 'demo', attempt: 1, retryAt: '1970-01-01T01:00:05.000Z' },
    });
    expect(slept).toEqual([]);
  });

  test('is not retried once text was streamed, which is kept', async () => {
    const { answer, asked, slept } = open({ scripts: [() => [hello, hello, overloaded()]] });
    expect(await answer()).toMatchObject({
      ...{ type: 'model-failed', code: 'provider_overloaded' },
      partial: { messageId: 'answer-1', text: 'hellohello' },
    });
    expect([asked.length, slept]).toEqual([1, []]);
  });

  test('that is a refusal keeps no text', async () => {
    const refused = new AppError('content_refused', 'no');
    expect(await open({ scripts: [() => [hello, refused]] }).answer()).not.toHaveProperty('partial');
  });

  test('of the platform is reported without its text', async () => {
    const { answer, asked } = open({ scripts: [() => [new TypeError('x is not a function')]] });
    const failed = await answer();
    expect(failed).toMatchObject({
      code: 'internal_error',
      message: 'the model call failed on our side',
    });
    expect(failed).not.toHaveProperty('origin');
    expect(asked).toHaveLength(1);
  });
});

describe('in a tree, money', () => {
  const most = { grantedUsd: 4000 };
  const cut = (): Script => () => [new AppError('provider_unavailable', 'the connection failed')];
  const refused = (): Script => () => [
    new AppError('provider_overloaded', 'busy', { context: { isUncharged: true } }),
  ];

  test('is reserved once for tries that a provider refused, which cost nothing', async () => {
    const scripts = Array.from({ length: 4 }, refused);
    const { answer, reserved } = open({ scripts, money: [most] });
    expect(await answer()).not.toHaveProperty('unsettledUsd');
    expect(reserved).toHaveLength(1);
  });

  test('is reserved anew, under a name of its own, for each try after one that may be charged for (TM7)', async () => {
    const scripts = [cut(), cut(), () => [hello, end]];
    const { answer, reserved, sent } = open({ scripts, money: [most, most, most] });
    expect(await answer()).toMatchObject({ type: 'model-answered' });
    expect(new Set(reserved.map(({ call }) => call)).size).toBe(3);
    expect(reserved.slice(1).map(({ usd, usdMin }) => [usd, usdMin])).toEqual(Array(2).fill([4000, 4000]));
    expect(sent).toEqual([4000, 4000, 4000]);
  });

  test('that is not there a second time ends the tries, and the last stays counted', async () => {
    const { answer, asked } = open({ scripts: [cut(), () => [hello, end]], money: [most, 'spent'] });
    expect(await answer()).toMatchObject({
      ...{ type: 'model-failed', code: 'provider_unavailable', unsettledUsd: 4000 },
    });
    expect(asked).toHaveLength(1);
  });

  test('of a call that breaks off in its middle stays counted', async () => {
    const broken: Script = () => [hello, new AppError('provider_unavailable', 'cut')];
    const { answer } = open({ scripts: [broken], money: [most] });
    expect(await answer()).toMatchObject({ type: 'model-failed', unsettledUsd: 4000 });
  });

  test('that is spent makes no call', async () => {
    const { answer, sent } = open({ scripts: [], money: ['spent'] });
    expect(await answer()).toMatchObject({ type: 'budget-spent' });
    expect(sent).toEqual([]);
  });
});

describe('usage that was reported of a call without an answer', () => {
  const begun: TokenUsage = { inputTokens: 50, outputTokens: 2 };
  const known = { usage: begun, costUsd: 50 };
  const cut = new AppError('provider_unavailable', 'cut');

  test('counts, with what it costs', async () => {
    const { answer } = open({ scripts: [() => [{ ...begun, outputTokens: 1 }, begun, hello, cut]] });
    const failed = await answer();
    expect(failed).toMatchObject({ type: 'model-failed', known });
    expect(failed).not.toHaveProperty('unsettledUsd');
  });

  test('is spent of its tree, which keeps the rest of the reservation unsettled (TM7)', async () => {
    const { answer } = open({ scripts: [() => [begun, hello, cut]], money: [{ grantedUsd: 4000 }] });
    expect(await answer()).toMatchObject({ type: 'model-failed', known, unsettledUsd: 3950 });
  });

  test('counts with the answer of a later try, and is unsettled no more (TM7)', async () => {
    const scripts: Script[] = [() => [begun, cut], () => [begun, cut], () => [begun, hello, end]];
    const most = { grantedUsd: 4000 };
    const { answer } = open({ scripts, money: [most, most, most] });
    expect(await answer()).toMatchObject({
      ...{ type: 'model-answered', usage: { inputTokens: 107, outputTokens: 7 } },
      ...{ costUsd: 107, unsettledUsd: -100 },
    });
    expect(await open({ scripts }).answer()).not.toHaveProperty('unsettledUsd');
  });

  test('does not count among the tokens of the conversation', async () => {
    const history = ['x'.repeat(1200), 'x'.repeat(1200)].map(user);
    const scripts: Script[] = [() => [begun, cut], () => [hello, end]];
    const answered = await open({ scripts, history, count: () => Promise.resolve(900) }).answer();
    expect(answered).toMatchObject({ usage: { inputTokens: 57 }, measured: { counted: 7 } });
  });
});

describe('a conversation that is too long', () => {
  const history = [user('one'), user('two'), user('three')];

  test('loses its older half, once', async () => {
    const { answer, asked, slept } = open({ scripts: [() => [tooLong], () => [hello, end]], history });
    expect(await answer()).toMatchObject({ type: 'model-answered', messageId: 'answer-2' });
    expect(asked.map((request) => request.history)).toEqual([history, history.slice(1)]);
    expect(slept).toEqual([]);
    const twice = open({ scripts: [() => [tooLong], () => [tooLong]], history });
    expect(await twice.answer()).toMatchObject({ type: 'model-failed', code: 'context_too_long' });
    expect(twice.asked).toHaveLength(2);
  });

  test('of one exchange is not retried, nor is one that was partly answered', async () => {
    const { answer, asked } = open({ scripts: [() => [tooLong]] });
    expect(await answer()).toMatchObject({ code: 'context_too_long' });
    expect(asked).toHaveLength(1);
    const spoken = open({ scripts: [() => [hello, tooLong]], history });
    expect(await spoken.answer()).toMatchObject({ code: 'context_too_long' });
    expect(spoken.asked).toHaveLength(1);
  });

  test('stays shorter after a transient error', async () => {
    const { answer, asked, slept } = open({
      scripts: [() => [tooLong], () => [overloaded()], () => [hello, end]],
      history,
    });
    expect(await answer()).toMatchObject({ type: 'model-answered' });
    expect(asked.map((request) => request.history.length)).toEqual([3, 2, 2]);
    expect(slept).toEqual([1500]);
  });
});

describe('the count of tokens', () => {
  const page = (text: string) => user(text.repeat(400));
  const history = [page('a'), page('b'), page('c'), page('d'), page('e'), page('f')];

  test('is not requested while the estimate is far below the limit', async () => {
    let counts = 0;
    const count = () => {
      counts += 1;
      return Promise.resolve(2000);
    };
    const { answer } = open({ scripts: [() => [hello, end]], history: history.slice(0, 4), count });
    await answer();
    expect(counts).toBe(0);
  });

  test('decides near the limit how much is kept', async () => {
    const { answer, asked } = open({
      scripts: [() => [hello, end]],
      history,
      count: () => Promise.resolve(1500),
    });
    await answer();
    expect(asked[0]?.history).toEqual(history.slice(2));
  });

  test('of the last answer stands for it, and says how much of a longer history is kept', async () => {
    const counted = (inputTokens: number): ModelChunk => ({ ...end, usage: { ...usage, inputTokens } });
    const first = open({ scripts: [() => [hello, counted(9000)]], history: history.slice(0, 3) });
    const answered = await first.answer();
    const { measured } = answered.type === 'model-answered' ? answered : {};
    expect(measured).toEqual({ estimated: expect.any(Number), counted: 9000 });
    const { estimated } = measured ?? { estimated: Number.NaN };
    let counts = 0;
    const count = () => {
      counts += 1;
      return Promise.resolve(1);
    };
    const keptWith = async (tokens: number) => {
      const measured = { estimated, counted: tokens };
      const { answer, asked } = open({ scripts: [() => [hello, end]], history, count, measured });
      await answer();
      return asked[0]?.history;
    };
    expect(await keptWith(300)).toEqual(history);
    // 1,150 tokens for all six, where they are estimated as 600: five of them fit into 1,000.
    expect(await keptWith(Math.round((estimated * 1150) / (estimated + 300)))).toEqual(history.slice(1));
    expect(await keptWith(9_000_000)).toEqual(history.slice(5));
    expect(counts).toBe(0);
  });

  test('of a short history says nothing of a longer one', async () => {
    const { answer } = open({ scripts: [() => [hello, end]], history: history.slice(0, 2) });
    expect(await answer()).not.toHaveProperty('measured');
  });

  test('is ignored when it is below the estimate', async () => {
    const count = () => Promise.resolve(100);
    const { answer, asked } = open({ scripts: [() => [hello, end]], history, count });
    await answer();
    expect(asked[0]?.history).toEqual(history);
  });

  test('that fails, is nothing or is missing gives way to the estimate of history, tools and prompt', async () => {
    for (const count of [() => Promise.resolve(0), () => Promise.reject(new Error('no')), undefined]) {
      const { answer, asked } = open({
        scripts: [() => [hello, end]],
        history,
        ...(count === undefined ? {} : { count }),
      });
      await answer();
      // Six hundred of a thousand tokens, of which the tools and the prompt take five hundred at most.
      expect(asked[0]?.history).toEqual(history.slice(1));
    }
  });
});

describe('an interruption', () => {
  const reason = new Error('the turn was interrupted: moved');

  test('during the answer is thrown unchanged', async () => {
    const { answer, controller, warned } = open({
      scripts: [
        () => {
          controller.abort(reason);
          return [hello, end];
        },
      ],
    });
    await expect(answer()).rejects.toBe(reason);
    expect(warned).toEqual([]);
  });

  test('during a pause is thrown, and the model is not called to the end', async () => {
    const { answer, controller, asked } = open({
      scripts: [
        () => [overloaded()],
        () => {
          controller.abort(reason);
          return [hello];
        },
      ],
    });
    await expect(answer()).rejects.toBe(reason);
    expect(asked).toHaveLength(2);
  });

  test('during the count is thrown', async () => {
    const history = [user('x'.repeat(4000))];
    const { answer, controller, asked } = open({
      scripts: [() => [hello, end]],
      history,
      count: () => {
        controller.abort(reason);
        return Promise.reject(new Error('closed'));
      },
    });
    await expect(answer()).rejects.toBe(reason);
    expect(asked).toEqual([]);
  });
});
