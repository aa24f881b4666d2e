import { describe, expect, test } from 'vitest';
import { completionOf } from '../event-log.ts';
import type { CallId, MessageId, SessionId, TurnId } from '../ids.ts';
import { argsNotJson } from '../requested-call.ts';
import { distinctCalls } from './call-queue.ts';
import type { Grant } from './grant.ts';
import { pendingWork } from './pending-work.ts';
import { reduce } from './reduce.ts';
import type { SavedFiles } from './saved-files.ts';
import type { ToolCall } from './tool-call.ts';
import type { Acting, Deciding, Thinking, TurnEvent, TurnState, TurnStep } from './turn.ts';
import { withFiles } from './unsaved-files.ts';

type EventOf<T extends TurnEvent['type']> = Extract<TurnEvent, { type: T }>;

const limits = { stepsMax: 3, callsMax: 4, usdMax: 10 };
const id = (text: string) => text as CallId;
const turnId = 'turn-1' as TurnId;
const usage = { inputTokens: 10, outputTokens: 5 };

const thinking: Thinking = {
  kind: 'thinking',
  turnId,
  messageId: 'question' as MessageId,
  step: 1,
  usage: { inputTokens: 0, outputTokens: 0 },
  spentUsd: 0,
  policy: { mode: 'ask', grants: [] },
};
const placed = (callId: string) => ({ digest: `digest of ${callId}`, askedAt: 'then' });
const call = (callId: string, status: ToolCall['status'] = 'pending', name = 'shell'): ToolCall => ({
  callId: id(callId),
  name,
  args: { line: callId },
  status,
  ...placed(callId),
  askedHuman: true,
  ...(status === 'executing' ? { generation: 7 } : {}),
});
const deciding = (...calls: ToolCall[]): Deciding => ({ ...thinking, kind: 'deciding', calls });
const acting = (...calls: ToolCall[]): Acting => ({ ...thinking, kind: 'acting', calls });
const done = (stopReason: 'end_turn' | 'cancelled' = 'end_turn'): TurnState => ({
  kind: 'done',
  turnId,
  stopReason,
});

const started = (newId = 'turn-2'): EventOf<'started'> => ({
  type: 'started',
  at: 1,
  turnId: newId as TurnId,
  message: { messageId: 'question' as MessageId, text: 'hello' },
  policy: { mode: 'ask', grants: [] },
  spentUsd: 0.5,
});
const answered = (fields: Partial<EventOf<'model-answered'>> = {}): TurnEvent => ({
  type: 'model-answered',
  at: 2,
  step: 1,
  messageId: 'answer' as MessageId,
  text: 'hi',
  calls: [],
  end: 'end_turn',
  usage,
  costUsd: 0.25,
  ...fields,
});
const asks = (...names: string[]) =>
  names.map((name, index) => ({ callId: id(`c${index + 1}`), name, args: { n: index } }));
const askedCallsOf = (...names: string[]) =>
  asks(...names).map((asked) => ({ ...asked, ...placed(asked.callId) }));
const modelFailed = (code: string, step = 1): TurnEvent => ({
  type: 'model-failed',
  at: 2,
  step,
  code,
  message: 'no model',
});
const budgetSpent = (step = 1): TurnEvent => ({ type: 'budget-spent', at: 2, step });
const person = { kind: 'person', id: 'ada', name: 'Ada' } as const;
const allTools: Grant = {
  ...{ id: 'grant-1', tool: 'shell', identity: '["sandbox","shell"]', by: person, at: 3 },
};
const decided = (callId: string, fields: Partial<EventOf<'call-decided'>> = {}): TurnEvent => ({
  type: 'call-decided',
  at: 3,
  callId: id(callId),
  approved: true,
  by: person,
  ...fields,
});
const callsStarted = (...callIds: string[]): TurnEvent => ({
  type: 'calls-started',
  at: 4,
  callIds: callIds.map(id),
  generation: 7,
});
const callDelegated = (callId: string): TurnEvent => ({
  type: 'call-delegated',
  at: 4,
  callId: id(callId),
  wait: { id: `w-${callId}`, since: 4, until: 60_004 },
  log: [{ type: 'system', data: { kind: 'asked' } }],
});
const sandboxWait = { id: 'tool:t:1:c1', since: 3, endsBy: 90_003 };
const callDetached = (callId: string): TurnEvent => ({
  type: 'call-detached',
  at: 4,
  callId: id(callId),
  wait: sandboxWait,
});
const callUnsent = (callId: string, generation = 7, notice?: string): TurnEvent => ({
  ...{ type: 'call-unsent', at: 4, callId: id(callId), generation },
  ...(notice === undefined ? {} : { notice }),
});
const finished = (callId: string): TurnEvent => ({
  type: 'call-finished',
  at: 5,
  callId: id(callId),
  content: [{ type: 'text', text: 'out' }],
  text: 'out',
  durationMs: 12,
});
const failed = (callId: string): TurnEvent => ({
  type: 'call-failed',
  at: 5,
  callId: id(callId),
  code: 'execution_timeout',
  message: 'it took too long',
});
const runtimeBegan = (generation = 1): TurnEvent => ({ type: 'runtime-began', at: 4, generation });
const runtimeMoved = (fields: Partial<EventOf<'runtime-moved'>> = {}): TurnEvent => ({
  ...{ type: 'runtime-moved', at: 4, generation: 1, after: 0, to: 1, log: [], asked: [], steps: 0 },
  ...{ toolCalls: 0, usage: { inputTokens: 0, outputTokens: 0 }, spentUsd: 0 },
  ...fields,
});
const cancelled: TurnEvent = { type: 'cancelled', at: 6 };

const statuses = (state: TurnState) =>
  'calls' in state ? state.calls.map(({ status }) => status) : state.kind;
/** Carries a state through events and gathers what all of them say. */
const after = (state: TurnState, ...events: TurnEvent[]): TurnStep =>
  events.reduce<TurnStep>(
    (sofar, event) => {
      const step = reduce(sofar.state, event, limits);
      expect(step.ignored, event.type).toBeUndefined();
      return { ...step, log: [...sofar.log, ...step.log], history: [...sofar.history, ...step.history] };
    },
    { state, log: [], history: [] },
  );

describe('the transition table', () => {
  const granted = { mode: 'ask' as const, grants: [allTools] };
  const states: Record<TurnState['kind'], TurnState> = {
    idle: { kind: 'idle' },
    thinking: { ...thinking, policy: granted },
    deciding: { ...deciding(call('c1')), policy: granted },
    acting: { ...acting(call('c1', 'approved')), policy: granted },
    done: done(),
  };
  const events: Record<TurnEvent['type'], TurnEvent> = {
    started: started(),
    'model-answered': answered(),
    'model-failed': modelFailed('provider_unavailable'),
    'budget-spent': budgetSpent(),
    'call-decided': decided('c1'),
    'grant-withdrawn': { type: 'grant-withdrawn', at: 4, grantId: 'grant-1' },
    'calls-started': callsStarted('c1'),
    'call-delegated': callDelegated('c1'),
    'call-detached': callDetached('c1'),
    'call-unsent': callUnsent('c1'),
    'call-finished': finished('c1'),
    'call-failed': failed('c1'),
    'trial-started': { type: 'trial-started', at: 4, callId: id('c1'), session: 'a trial' as SessionId },
    'trial-ended': {
      type: 'trial-ended',
      at: 4,
      callId: id('c1'),
      trial: { state: 'untried', reason: 'no slot' },
    },
    'trial-outdated': { type: 'trial-outdated', at: 4, callId: id('c1') },
    'runtime-began': runtimeBegan(),
    'runtime-moved': runtimeMoved(),
    cancelled,
  };
  // biome-ignore format: a table is read by column
  const table: Record<TurnState['kind'], Record<TurnEvent['type'], TurnState['kind'] | 'ignored'>> = {
    idle:     { started: 'thinking', 'model-answered': 'ignored', 'model-failed': 'ignored', 'budget-spent': 'ignored', 'call-decided': 'ignored', 'grant-withdrawn': 'ignored', 'calls-started': 'ignored', 'call-delegated': 'ignored', 'call-detached': 'ignored', 'call-unsent': 'ignored', 'call-finished': 'ignored',  'call-failed': 'ignored',  cancelled: 'ignored', 'trial-started': 'ignored', 'trial-ended': 'ignored', 'trial-outdated': 'ignored', 'runtime-began': 'ignored', 'runtime-moved': 'ignored' },
    thinking: { started: 'ignored',  'model-answered': 'done',    'model-failed': 'done',    'budget-spent': 'done',    'call-decided': 'ignored', 'grant-withdrawn': 'thinking', 'calls-started': 'ignored', 'call-delegated': 'ignored', 'call-detached': 'ignored', 'call-unsent': 'ignored', 'call-finished': 'ignored',  'call-failed': 'ignored',  cancelled: 'done', 'trial-started': 'ignored', 'trial-ended': 'ignored', 'trial-outdated': 'ignored', 'runtime-began': 'ignored', 'runtime-moved': 'ignored' },
    deciding: { started: 'ignored',  'model-answered': 'ignored', 'model-failed': 'ignored', 'budget-spent': 'ignored', 'call-decided': 'acting',  'grant-withdrawn': 'deciding', 'calls-started': 'ignored', 'call-delegated': 'ignored', 'call-detached': 'ignored', 'call-unsent': 'ignored', 'call-finished': 'ignored',  'call-failed': 'ignored',  cancelled: 'done', 'trial-started': 'ignored', 'trial-ended': 'ignored', 'trial-outdated': 'ignored', 'runtime-began': 'ignored', 'runtime-moved': 'ignored' },
    acting:   { started: 'ignored',  'model-answered': 'ignored', 'model-failed': 'ignored', 'budget-spent': 'ignored', 'call-decided': 'ignored', 'grant-withdrawn': 'acting', 'calls-started': 'acting',  'call-delegated': 'acting',  'call-detached': 'ignored', 'call-unsent': 'ignored', 'call-finished': 'thinking', 'call-failed': 'thinking', cancelled: 'done', 'trial-started': 'ignored', 'trial-ended': 'ignored', 'trial-outdated': 'ignored', 'runtime-began': 'ignored', 'runtime-moved': 'ignored' },
    done:     { started: 'thinking', 'model-answered': 'ignored', 'model-failed': 'ignored', 'budget-spent': 'ignored', 'call-decided': 'ignored', 'grant-withdrawn': 'ignored', 'calls-started': 'ignored', 'call-delegated': 'ignored', 'call-detached': 'ignored', 'call-unsent': 'ignored', 'call-finished': 'ignored',  'call-failed': 'ignored',  cancelled: 'ignored', 'trial-started': 'ignored', 'trial-ended': 'ignored', 'trial-outdated': 'ignored', 'runtime-began': 'ignored', 'runtime-moved': 'ignored' },
  };
  const cells = Object.entries(table).flatMap(([kind, row]) =>
    Object.entries(row).map(([type, expected]) => ({ kind, type, expected })),
  );

  test.each(cells)('$kind, then $type: $expected', ({ kind, type, expected }) => {
    const state = states[kind as TurnState['kind']];
    const step = reduce(state, events[type as TurnEvent['type']], limits);
    if (expected !== 'ignored') {
      expect(step.ignored).toBeUndefined();
      expect(step.state.kind).toBe(expected);
      return;
    }
    expect(step.state).toBe(state);
    expect(step).toEqual({ state, log: [], history: [], ignored: expect.stringMatching(/\w/) });
  });
});

describe('guards', () => {
  test.each([
    ['an answer of another step', thinking, answered({ step: 2 })],
    ['a failure of another step', thinking, modelFailed('internal_error', 2)],
    ['a word of another step that no money is left', thinking, budgetSpent(2)],
    [
      'a decision on a call that is not the first that waits',
      deciding(call('c1'), call('c2')),
      decided('c2'),
    ],
    ['a decision on an unknown call', deciding(call('c1')), decided('c9')],
    ['a decision on a call that was decided', deciding(call('c1', 'approved'), call('c2')), decided('c1')],
    ['a start of an unknown call', acting(call('c1', 'approved')), callsStarted('c9')],
    ['a detachment of a call that has not started', acting(call('c1', 'approved')), callDetached('c1')],
    [
      'a detachment of a call outside of the sandbox',
      acting({ ...call('c1', 'executing'), generation: 0 }),
      callDetached('c1'),
    ],
    ['a call that was not sent, of another generation', acting(call('c1', 'executing')), callUnsent('c1', 8)],
    [
      'a detached call that was not sent',
      acting({ ...call('c1', 'executing'), wait: sandboxWait }),
      callUnsent('c1'),
    ],
    ['a second detachment', acting({ ...call('c1', 'executing'), wait: sandboxWait }), callDetached('c1')],
    ['a start of a call that runs', acting(call('c1', 'executing')), callsStarted('c1')],
    [
      'a start of a rejected call',
      acting(call('c1', 'rejected'), call('c2', 'executing')),
      callsStarted('c1'),
    ],
    ['a result of an unknown call', acting(call('c1', 'executing')), finished('c9')],
    ['a result of a rejected call', acting(call('c1', 'rejected'), call('c2', 'executing')), finished('c1')],
    ['a result of a finished call', acting(call('c1', 'completed'), call('c2', 'executing')), failed('c1')],
    ['a result of a failed call', acting(call('c1', 'failed'), call('c2', 'executing')), finished('c1')],
    ['a start of the turn that has just ended', done(), started('turn-1')],
  ])('%s is ignored', (_what, state, event) => {
    const step = reduce(state, event, limits);
    expect(step.state).toBe(state);
    expect(step.ignored).toMatch(/\w/);
    expect([step.log, step.history]).toEqual([[], []]);
  });

  test('an ended turn makes room for the next', () => {
    expect(reduce(done(), started('turn-2'), limits).state).toMatchObject({
      kind: 'thinking',
      turnId: 'turn-2',
    });
  });

  test('an ignored event never fails an assertion, even on a state older than a lowered limit', () => {
    const old = { ...deciding(call('c1'), call('c2')), step: 9 };
    const lowered = { stepsMax: 2, callsMax: 1, usdMax: 1 };
    expect(reduce({ ...thinking, step: 9 }, started(), lowered).ignored).toBe('a turn is running');
    expect(reduce(old, started(), lowered).ignored).toBe('a turn is running');
    expect(reduce(old, cancelled, lowered).state).toEqual(done('cancelled'));
    expect(reduce(old, decided('c1'), lowered).state).toMatchObject({ kind: 'deciding', step: 9 });
    expect(
      reduce({ ...acting(call('c1', 'executing')), step: 9 }, finished('c1'), lowered).state,
    ).toMatchObject({
      stopReason: 'steps_exceeded',
    });
  });
});

describe('files that were not saved', () => {
  const files = { savedAt: '2027-01-01T00:00:00.000Z', lost: 'over 2 GB' };

  test('are told to the model once, before its answer ends the turn', () => {
    const told = after({ kind: 'idle' }, started('turn-1'), answered({ files }));
    expect(told.state).toMatchObject({ kind: 'thinking', step: 2, knowsLoss: true, spentUsd: 0.75 });
    expect(told.log.map(({ type }) => type)).toEqual(['message', 'message']);
    const notice = told.history.at(-1);
    expect(notice).toMatchObject({ role: 'user', messageId: 'answer:notice' });
    expect(notice).toHaveProperty('text', expect.stringMatching(/over 2 GB.*since 2027-01-01T00:00:00.000Z/));
    const again = reduce(told.state, answered({ files, step: 2 }), limits);
    expect(again.state).toEqual({ kind: 'done', turnId: 'turn-1', stopReason: 'end_turn' });
  });

  test('are told again where they were written in another sandbox', () => {
    const first = { ...files, generation: 3 };
    const told = after({ kind: 'idle' }, started('turn-1'), answered({ files: first }));
    expect(told.state).toMatchObject({ kind: 'thinking', step: 2, knowsLossOf: 3 });
    expect(reduce(told.state, answered({ files: first, step: 2 }), limits).state.kind).toBe('done');
    const other = { ...files, generation: 4 };
    const again = reduce(told.state, answered({ files: other, step: 2 }), limits);
    expect(again.state).toMatchObject({ kind: 'thinking', step: 3, knowsLossOf: 4 });
    expect(again.history.at(-1)).toMatchObject({ messageId: 'answer:notice' });
    expect(reduce(again.state, answered({ files: other, step: 3 }), limits).state.kind).toBe('done');
  });

  test('end the turn where the model may not be asked again', () => {
    const last = after({ kind: 'idle' }, started('turn-1'));
    const { state } = reduce(last.state, answered({ files }), { ...limits, stepsMax: 1 });
    expect(state).toMatchObject({ kind: 'done', stopReason: 'end_turn' });
    const refused = reduce(last.state, answered({ files, end: 'refused' }), limits);
    expect(refused.state).toMatchObject({ kind: 'done', stopReason: 'refused' });
  });

  test('are in the completion, and so is the time of the last checkpoint', () => {
    const step = after({ kind: 'idle' }, started('turn-1'), answered());
    const workspaceOf = (known: SavedFiles | undefined) =>
      completionOf(withFiles(step, known, thinking).log)?.workspace;
    expect(workspaceOf(files)).toEqual({ savedAt: files.savedAt, lost: true });
    expect(workspaceOf({ savedAt: files.savedAt })).toEqual({ savedAt: files.savedAt });
    expect(workspaceOf({ lost: 'over 2 GB' })).toEqual({ lost: true });
    expect(workspaceOf({})).toBeUndefined();
    expect(workspaceOf(undefined)).toBeUndefined();
  });

  /** Each step but the last leaves the turn as it is. */
  const lostIn = (...steps: readonly SavedFiles[]): boolean => {
    const [last, ...earlier] = steps.toReversed();
    const before = earlier.reduceRight<TurnState>(
      (state, known) => withFiles({ state: thinking, log: [] }, known, state).state,
      thinking,
    );
    const step = after({ kind: 'idle' }, started('turn-1'), answered());
    return completionOf(withFiles(step, last, before).log)?.workspace?.lost === true;
  };
  const failed = { generation: 1, lost: 'it does not answer' };
  const second = { generation: 2, followsLoss: true } as const;

  test('are in the completion of a turn that went on in the next sandbox, and were not saved before the loss', () => {
    expect(lostIn(failed, second)).toBe(true);
    expect(lostIn(failed, second, second)).toBe(true);
    expect(lostIn(failed, second, { generation: 3 })).toBe(true);
    expect(lostIn(failed, failed, {}, second)).toBe(true);
    expect(lostIn(failed, {})).toBe(true);
  });

  test('are not, where a later save took them or their sandbox was stopped in order', () => {
    expect(lostIn(failed, { generation: 1 })).toBe(false);
    expect(lostIn(failed, { generation: 1 }, second)).toBe(false);
    expect(lostIn({ generation: 1 }, second)).toBe(false);
    expect(lostIn(failed, { generation: 2 })).toBe(false);
  });

  const startIn = (generation: number, callId: string): TurnEvent => ({
    type: 'calls-started',
    at: 3,
    callIds: [callId as CallId],
    generation,
  });
  const started1 = reduce(acting(call('c1', 'approved'), call('c2', 'approved')), startIn(1, 'c1'), limits);

  test('are those of a call that began in an earlier sandbox, when another of its queue starts in the next one', () => {
    const next = reduce(started1.state, startIn(2, 'c2'), limits).state;
    expect(next).toHaveProperty('unsaved', { generation: 1 });
  });

  test('are none of a call outside the sandbox', () => {
    const remote = reduce(acting(call('c1', 'approved')), startIn(0, 'c1'), limits);
    expect(remote.state).not.toHaveProperty('unsaved');
  });

  /** The completion after a call in the first sandbox whose turn went on in another function. */
  const lostAfterCall = (...steps: readonly SavedFiles[]): boolean => {
    const [last, ...earlier] = steps.toReversed();
    const before = earlier.reduceRight<TurnState>(
      (state, known) => withFiles({ state: thinking, log: [] }, known, state).state,
      started1.state,
    );
    const step = after({ kind: 'idle' }, started('turn-1'), answered());
    return completionOf(withFiles(step, last, before).log)?.workspace?.lost === true;
  };

  test('are lost, when nobody saved after the call and another sandbox followed', () => {
    expect(started1.state).toHaveProperty('unsaved', { generation: 1, isUntried: true });
    expect(lostAfterCall(second)).toBe(true);
    expect(lostAfterCall(second, { generation: 2 })).toBe(true);
    expect(lostAfterCall({ generation: 2, followsLoss: true, lost: 'over 2 GB' })).toBe(true);
  });

  test('are not, when a save took them, the sandbox was stopped in order, or nothing is known', () => {
    expect(lostAfterCall({ generation: 1 })).toBe(false);
    expect(lostAfterCall({ generation: 1 }, second)).toBe(false);
    expect(lostAfterCall({ generation: 2 }, { generation: 3, followsLoss: true })).toBe(false);
    expect(lostAfterCall({})).toBe(false);
  });
});

describe('a turn without tools', () => {
  test('a question and its answer are logged once each, and the completion is last', () => {
    const step = after({ kind: 'idle' }, started('turn-1'), answered());
    expect(step).toEqual({
      state: { kind: 'done', turnId: 'turn-1', stopReason: 'end_turn' },
      log: [
        { type: 'message', data: { messageId: 'question', role: 'user', text: 'hello' } },
        { type: 'message', data: { messageId: 'answer', role: 'assistant', text: 'hi' } },
        {
          type: 'completion',
          data: { turnId: 'turn-1', stopReason: 'end_turn', text: 'hi', usage, sessionCostUsd: 0.75 },
        },
      ],
      history: [
        { role: 'user', messageId: 'question', text: 'hello' },
        { role: 'assistant', messageId: 'answer', text: 'hi', calls: [] },
      ],
    });
  });

  test('provider state is stored beside its answer in the history, and not shown', () => {
    const providerState = { thinking: [{ signature: 'abc' }] };
    const step = after(thinking, answered({ providerState, calls: askedCallsOf('shell') }));
    expect(step.history).toEqual([
      { role: 'assistant', messageId: 'answer', text: 'hi', calls: asks('shell'), providerState },
    ]);
    expect(JSON.stringify(step.log)).not.toContain('signature');
  });

  test('thoughts are logged before the answer that followed them, and are no part of the conversation', () => {
    const reasoning = { text: 'let me see', truncated: true } as const;
    const step = after(thinking, answered({ reasoning, calls: askedCallsOf('shell') }));
    expect(step.log.map(({ type }) => type)).toEqual([
      ...['reasoning', 'message', 'tool:call', 'tool:approval_required'],
    ]);
    expect(step.log[0]?.data).toEqual({ messageId: 'answer', ...reasoning });
    expect(JSON.stringify(step.history)).not.toContain('let me see');
  });

  test('an answer cut by the token limit is marked', () => {
    expect(after(thinking, answered({ end: 'max_tokens' })).log.at(-1)).toMatchObject({
      data: { stopReason: 'max_tokens', text: 'hi' },
    });
  });

  test('an answer that announces tools without naming any ends the turn', () => {
    expect(after(thinking, answered({ end: 'tool_use' })).state).toEqual(done('end_turn'));
  });

  test('a refused answer runs none of its calls', () => {
    const step = after(thinking, answered({ end: 'refused', calls: askedCallsOf('shell') }));
    expect(step.state).toEqual({ kind: 'done', turnId, stopReason: 'refused' });
    expect(step.history).toEqual([{ role: 'assistant', messageId: 'answer', text: 'hi', calls: [] }]);
    expect(step.log.map(({ type }) => type)).toEqual(['message', 'completion']);
  });

  test('an empty answer leaves no empty message behind', () => {
    const step = after(thinking, answered({ text: '' }));
    expect(step.history).toEqual([]);
    expect(step.log).toEqual([
      {
        type: 'completion',
        data: { turnId, stopReason: 'end_turn', text: '', usage, sessionCostUsd: 0.25 },
      },
    ]);
  });

  test('a failed model call is an error for the user, and then the turn completes', () => {
    expect(after(thinking, modelFailed('provider_unavailable'))).toEqual({
      state: { kind: 'done', turnId, stopReason: 'error', failed: { messageId: 'question' } },
      log: [
        { type: 'agent:error', data: { code: 'provider_unavailable', message: 'no model' } },
        {
          type: 'completion',
          data: {
            turnId,
            stopReason: 'error',
            text: '',
            usage: { inputTokens: 0, outputTokens: 0 },
            sessionCostUsd: 0,
          },
        },
      ],
      history: [],
    });
  });

  test('a failed model call says whose it is, and keeps the text that had come', () => {
    const origin = { provider: 'demo', attempt: 2, retryAt: '2026-01-02T03:04:05.000Z' } as const;
    const partial = { messageId: 'a1' as MessageId, text: 'The answer is' };
    const failure = { ...(modelFailed('provider_overloaded') as EventOf<'model-failed'>), origin, partial };
    const { log, history } = after(thinking, failure);
    expect(log.slice(0, 2)).toEqual([
      { type: 'message', data: { ...partial, role: 'assistant', partial: true } },
      { type: 'agent:error', data: { code: 'provider_overloaded', message: 'no model', ...origin } },
    ]);
    expect(history).toEqual([{ role: 'assistant', ...partial, calls: [] }]);
  });

  test('a failed turn is repeated without saying its message again, with the model of the message', () => {
    const failed = after({ ...thinking, model: 'other' }, modelFailed('provider_unavailable')).state;
    expect(failed).toMatchObject({ failed: { messageId: 'question', model: 'other' } });
    const again = { ...started('turn-2'), repeats: turnId, model: 'other' };
    const { state, log, history } = after(failed, again);
    expect(state).toMatchObject({ kind: 'thinking', turnId: 'turn-2', model: 'other', step: 1 });
    expect(log).toEqual([
      {
        type: 'system',
        data: { kind: 'turn_retried', messageId: 'question', turnId: 'turn-2', repeats: turnId },
      },
    ]);
    expect(history).toEqual([]);
  });

  test('a repetition of a turn that is not the last one any more ends at once, and asks no model', () => {
    const { state, log } = after(done(), { ...started('turn-2'), repeats: turnId });
    expect(state).toMatchObject({ kind: 'done', turnId: 'turn-2', stopReason: 'cancelled' });
    expect(log.map(({ type }) => type)).toEqual(['system', 'completion']);
  });

  test('a cancel keeps the text that had come, and says nothing twice when the calls are known', () => {
    const partial = { messageId: 'a1' as MessageId, text: 'The answer is' };
    const { log, history, state } = after(thinking, { type: 'cancelled', at: 6, partial });
    expect(log.map(({ type, data }) => [type, data])).toEqual([
      ['message', { ...partial, role: 'assistant', partial: true }],
      ['completion', expect.objectContaining({ stopReason: 'cancelled', text: '' })],
    ]);
    expect(history).toEqual([{ role: 'assistant', ...partial, calls: [] }]);
    expect(state).toEqual(done('cancelled'));
    const acted = after(acting(call('c1', 'executing')), { type: 'cancelled', at: 6, partial });
    expect(acted.log.map(({ type }) => type)).toEqual(['completion']);
  });

  test.each([
    ['that is cancelled', cancelled],
    ['that breaks off', modelFailed('provider_unavailable')],
  ])('a call %s counts with what its provider reported of it', (_how, event) => {
    const usage = { inputTokens: 40, outputTokens: 1, cachedInputTokens: 30 };
    const known = { ...event, known: { usage, costUsd: 0.5 } } as TurnEvent;
    const before = { ...thinking, usage: { inputTokens: 2, outputTokens: 3 }, spentUsd: 1 };
    expect(after(before, known).log.at(-1)).toMatchObject({
      type: 'completion',
      data: { usage: { inputTokens: 42, outputTokens: 4, cachedInputTokens: 30 }, sessionCostUsd: 1.5 },
    });
    expect(after(before, event).log.at(-1)).toMatchObject({
      data: { usage: { inputTokens: 2, outputTokens: 3 }, sessionCostUsd: 1 },
    });
  });

  test('content a provider refuses ends the turn as refused', () => {
    expect(after(thinking, modelFailed('content_refused')).state).toEqual({
      kind: 'done',
      turnId,
      stopReason: 'refused',
    });
  });
});

describe('approvals', () => {
  const approved = (callId: string, name: string, fields: object = {}) => ({
    type: 'tool:decided',
    data: { turnId, callId, name, digest: `digest of ${callId}`, approved: true, by: person, ...fields },
  });
  const two = after(thinking, answered({ text: '', calls: askedCallsOf('shell', 'write'), end: 'tool_use' }));

  test('every requested call is announced, and the first needs approval', () => {
    expect(two.log).toEqual([
      { type: 'tool:call', data: { callId: 'c1', name: 'shell', args: { n: 0 } } },
      { type: 'tool:call', data: { callId: 'c2', name: 'write', args: { n: 1 } } },
      {
        type: 'tool:approval_required',
        data: {
          ...{ turnId, callId: 'c1', name: 'shell', args: { n: 0 }, ...placed('c1') },
          ...{ queuePosition: 1, totalInQueue: 2 },
        },
      },
    ]);
    expect(two.history).toEqual([
      { role: 'assistant', messageId: 'answer', text: '', calls: asks('shell', 'write') },
    ]);
    expect(statuses(two.state)).toEqual(['pending', 'pending']);
    expect(pendingWork(two.state)).toEqual([]);
  });

  test('an approval leads to the next call, 2 of 2; the last one starts all of them', () => {
    const one = after(two.state, decided('c1'));
    expect(one.log).toEqual([
      approved('c1', 'shell'),
      {
        type: 'tool:approval_required',
        data: {
          ...{ turnId, callId: 'c2', name: 'write', args: { n: 1 }, ...placed('c2') },
          ...{ queuePosition: 2, totalInQueue: 2 },
        },
      },
    ]);
    expect(pendingWork(one.state)).toEqual([]);
    const both = after(one.state, decided('c2'));
    expect(both.log).toEqual([approved('c2', 'write')]);
    expect(both.state.kind).toBe('acting');
    expect(pendingWork(both.state).map(({ key }) => key)).toEqual(['tool:turn-1:1:c1', 'tool:turn-1:1:c2']);
  });

  test('a rejected call is reported to user and model, and only the approved one runs', () => {
    const step = after(two.state, decided('c1', { approved: false }), decided('c2'));
    expect(step.log.slice(0, 2)).toEqual([
      approved('c1', 'shell', { approved: false }),
      { type: 'tool:rejected', data: { callId: 'c1', name: 'shell' } },
    ]);
    expect(step.history).toEqual([
      {
        role: 'tool',
        callId: 'c1',
        name: 'shell',
        text: 'The user rejected this call. It did not run.',
        outcome: 'rejected',
      },
    ]);
    expect(pendingWork(step.state).map(({ key }) => key)).toEqual(['tool:turn-1:1:c2']);
  });

  test('when all are rejected the model is told', () => {
    const step = after(two.state, decided('c1', { approved: false }), decided('c2', { approved: false }));
    expect(step.state).toMatchObject({ kind: 'thinking', step: 2 });
    expect(step.history.map((message) => 'outcome' in message && message.outcome)).toEqual([
      'rejected',
      'rejected',
    ]);
    expect(pendingWork(step.state)).toEqual([{ type: 'call-model', key: 'model:turn-1:2', step: 2 }]);
  });

  test('a grant approves the waiting calls of the same tool, and the later ones', () => {
    const three = after(thinking, answered({ calls: askedCallsOf('shell', 'write', 'shell') }));
    const step = after(three.state, decided('c1', { grant: allTools }));
    expect(statuses(step.state)).toEqual(['approved', 'pending', 'approved']);
    expect(step.log).toEqual([
      approved('c1', 'shell'),
      approved('c3', 'shell', { by: { kind: 'grant', id: 'grant-1' } }),
      expect.objectContaining({
        data: expect.objectContaining({ callId: 'c2', queuePosition: 2, totalInQueue: 3 }),
      }),
    ]);
    const next = after(
      step.state,
      decided('c2', { approved: false }),
      finished('c1'),
      finished('c3'),
      answered({ step: 2, calls: askedCallsOf('shell', 'write') }),
    );
    expect(statuses(next.state)).toEqual(['approved', 'pending']);
    expect(next.log.at(-1)).toMatchObject({ data: { callId: 'c2', queuePosition: 1, totalInQueue: 1 } });
  });

  test('values of variables that a person added are for the program alone', () => {
    const edited = { args: { line: 'go', env: { TOKEN: 's3cr3t' } }, digest: 'digest of the edit' };
    const { state, log } = after(two.state, decided('c1'), decided('c2', { edited }));
    expect(JSON.stringify(log)).not.toContain('s3cr3t');
    expect(log).toContainEqual(
      approved('c2', 'write', {
        editedDigest: edited.digest,
        editedArgs: { line: 'go', env: { TOKEN: '***' } },
      }),
    );
    const ended = after(state, finished('c1'), finished('c2'));
    expect(JSON.stringify([ended.log, ended.history])).not.toContain('s3cr3t');
    expect(JSON.stringify(ended.history)).toContain('***');
  });

  test('a reason reaches the model, and edited arguments run in place of what it asked', () => {
    const edited = { args: { line: 'safe' }, digest: 'digest of the edit' };
    const why = { approved: false, reason: 'use the safe one' };
    const step = after(two.state, decided('c1', why), decided('c2', { edited }));
    expect(step.log).toEqual(
      expect.arrayContaining([
        approved('c1', 'shell', why),
        approved('c2', 'write', { editedDigest: edited.digest, editedArgs: edited.args }),
      ]),
    );
    expect(step.history).toMatchObject([{ text: 'The user rejected this call: use the safe one' }]);
    expect(pendingWork(step.state)).toMatchObject([{ callId: 'c2', args: { line: 'safe' } }]);
    expect(after(step.state, finished('c2')).history).toMatchObject([
      { text: expect.stringMatching(/changed the arguments.*\{"line":"safe"\}\n\nout$/) },
    ]);
  });

  test('a withdrawn grant needs approval again for the calls that it allowed and that have not started', () => {
    const three = after(thinking, answered({ calls: askedCallsOf('write', 'shell', 'shell') }));
    const given = after(three.state, decided('c1'), decided('c2', { grant: allTools }));
    expect(given.state).toMatchObject({ kind: 'acting', policy: { grants: [allTools] } });
    const waiting: Deciding = {
      ...deciding(call('c1'), { ...call('c2', 'approved'), askedHuman: false, grant: 'grant-1' }),
      policy: { mode: 'ask', grants: [allTools] },
    };
    const step = after(waiting, { type: 'grant-withdrawn', at: 4, grantId: 'grant-1' });
    expect(statuses(step.state)).toEqual(['pending', 'pending']);
    expect(step.state).toMatchObject({ policy: { grants: [] } });
    expect(step.log).toEqual([{ type: 'system', data: { kind: 'grant_withdrawn', grantId: 'grant-1' } }]);
    const later = after(step.state, decided('c1'));
    expect(later.log.at(-1)).toMatchObject({ type: 'tool:approval_required', data: { callId: 'c2' } });
  });

  test('a withdrawn grant stops its calls while a sandbox starts; beside running calls they fail', () => {
    const policy = { mode: 'ask' as const, grants: [allTools] };
    const byGrant = (callId: string): ToolCall => ({
      ...{ ...call(callId, 'approved'), askedHuman: false, grant: 'grant-1' },
    });
    const withdrawn = { type: 'grant-withdrawn', at: 4, grantId: 'grant-1' } as const;
    const starting = after({ ...acting(byGrant('c1'), call('c2', 'approved')), policy }, withdrawn);
    expect(starting.state).toMatchObject({ kind: 'deciding', policy: { grants: [] } });
    expect(statuses(starting.state)).toEqual(['pending', 'approved']);
    expect(starting.log.at(-1)).toMatchObject({ type: 'tool:approval_required', data: { callId: 'c1' } });
    const beside = after({ ...acting(byGrant('c1'), call('c2', 'executing')), policy }, withdrawn);
    expect(statuses(beside.state)).toEqual(['failed', 'executing']);
    expect(beside.history).toMatchObject([{ callId: 'c1', outcome: 'failed' }]);
    expect(pendingWork(beside.state).map(({ key }) => key)).toEqual(['tool:turn-1:1:c2']);
    const last = after({ ...acting(byGrant('c1'), call('c2', 'completed')), policy }, withdrawn);
    expect(last.state.kind).toBe('thinking');
  });

  test('a withdrawn grant leaves a call whose child may have been asked, and what is beside it fails', () => {
    const policy = { mode: 'ask' as const, grants: [allTools] };
    const byGrant = (callId: string): ToolCall => ({
      ...{ ...call(callId, 'approved'), askedHuman: false, grant: 'grant-1' },
    });
    const child: ToolCall = { ...byGrant('c1'), route: { kind: 'platform', tool: 'session' } };
    const withdrawn = { type: 'grant-withdrawn', at: 4, grantId: 'grant-1' } as const;
    const running = after({ ...acting(child, byGrant('c2')), policy }, withdrawn);
    expect(running.state).toMatchObject({ kind: 'acting', policy: { grants: [] } });
    expect(statuses(running.state)).toEqual(['approved', 'failed']);
    const waiting = after({ ...deciding(child, call('c2')), policy }, withdrawn);
    expect(statuses(waiting.state)).toEqual(['pending', 'pending']);
  });

  test('in auto mode no call needs approval', () => {
    const auto: Thinking = { ...thinking, policy: { mode: 'auto', grants: [] } };
    const step = after(auto, answered({ calls: askedCallsOf('shell', 'write') }));
    expect(step.log.slice(3)).toEqual([
      approved('c1', 'shell', { by: { kind: 'policy', id: 'auto' } }),
      approved('c2', 'write', { by: { kind: 'policy', id: 'auto' } }),
    ]);
    expect(statuses(step.state)).toEqual(['approved', 'approved']);
  });

  test('calls over the limit are left out of the queue and of the history, and reported', () => {
    const step = after(thinking, answered({ calls: askedCallsOf('a', 'b', 'c', 'd', 'e') }));
    expect(statuses(step.state)).toHaveLength(4);
    expect(step.history).toMatchObject([{ calls: asks('a', 'b', 'c', 'd') }]);
    expect(step.log.map(({ type }) => type)).toEqual([
      'message',
      'tool:call',
      'tool:call',
      'tool:call',
      'tool:call',
      'agent:error',
      'tool:approval_required',
    ]);
    expect(step.log[5]).toEqual({
      type: 'agent:error',
      data: {
        code: 'resource_limit_exceeded',
        message: 'the model requested 5 calls at once; the first 4 are used',
      },
    });
  });

  test('a call whose arguments are not JSON fails at once, and nobody is asked', () => {
    const [one, other] = askedCallsOf('a', 'b');
    if (one === undefined || other === undefined) throw new Error('no calls');
    const unfit = { ...one, args: argsNotJson('no command') };
    const failure = [
      {
        role: 'tool',
        callId: 'c1',
        outcome: 'failed',
        text: expect.stringContaining('not valid JSON: no command'),
      },
    ];
    const alone = after(thinking, answered({ text: '', calls: [unfit] }));
    expect(alone.state).toMatchObject({ kind: 'thinking', step: 2 });
    expect(alone.log).toMatchObject([
      { type: 'tool:call', data: { callId: 'c1' } },
      { type: 'agent:error', data: { callId: 'c1', code: 'invalid_request' } },
    ]);
    const asked = { callId: 'c1', name: 'a', args: unfit.args };
    expect(alone.history).toMatchObject([{ calls: [asked] }, ...failure]);
    const beside = after(thinking, answered({ calls: [unfit, other] }));
    expect(statuses(beside.state)).toEqual(['pending']);
    expect(beside.log.slice(-2)).toMatchObject([
      { type: 'agent:error', data: { callId: 'c1' } },
      { type: 'tool:approval_required', data: { callId: 'c2', queuePosition: 1, totalInQueue: 1 } },
    ]);
    expect(beside.history).toMatchObject([{ calls: [asked, ...asks('a', 'b').slice(1)] }, ...failure]);
    const last = after({ ...thinking, step: 3 }, answered({ step: 3, calls: [unfit] }));
    expect(last.state).toMatchObject({ kind: 'done', stopReason: 'steps_exceeded' });
  });

  test('a call of a tool that was not offered fails at once, and nobody is asked', () => {
    const [one, other] = askedCallsOf('fly', 'b');
    if (one === undefined || other === undefined) throw new Error('no calls');
    const step = after(thinking, answered({ calls: [{ ...one, isUnknown: true }, other] }));
    expect(statuses(step.state)).toEqual(['pending']);
    expect(step.log.slice(-2)).toMatchObject([
      { type: 'agent:error', data: { callId: 'c1', code: 'invalid_request' } },
      { type: 'tool:approval_required', data: { callId: 'c2', queuePosition: 1, totalInQueue: 1 } },
    ]);
    expect(step.history.at(-1)).toMatchObject({
      ...{ role: 'tool', callId: 'c1', outcome: 'failed' },
      text: expect.stringContaining('there is no tool fly'),
    });
  });

  test('as many calls as the limit allows are taken without a note', () => {
    const step = after(thinking, answered({ calls: askedCallsOf('a', 'b', 'c', 'd') }));
    expect(step.log.filter(({ type }) => type === 'agent:error')).toEqual([]);
  });

  test('in high mode the third answer in a row with the same calls needs approval', () => {
    const high: Thinking = { ...thinking, policy: { mode: 'high', grants: [] } };
    const again = (step: number) => answered({ step, text: '', calls: askedCallsOf('shell') });
    const twice = after(high, again(1), finished('c1'), again(2));
    expect(twice.log.filter(({ type }) => type === 'tool:approval_required')).toEqual([]);
    const third = after(twice.state, finished('c1'), again(3));
    expect(statuses(third.state)).toEqual(['pending']);
    expect(third.log.at(-1)).toMatchObject({ type: 'tool:approval_required', data: { callId: 'c1' } });
    const other = after(twice.state, finished('c1'), answered({ step: 3, calls: askedCallsOf('write') }));
    expect(statuses(other.state)).toEqual(['approved']);
  });

  test('ids that a provider repeats become different calls', () => {
    const given = ['a', 'a-2', 'a', 'a'].map((callId) => ({ callId: id(callId), name: 'shell', args: {} }));
    const calls = distinctCalls(given, []).map((asked) => ({ ...asked, ...placed(asked.callId) }));
    const step = after(thinking, answered({ calls }));
    expect('calls' in step.state && step.state.calls.map(({ callId }) => callId)).toEqual([
      'a',
      'a-2',
      'a-3',
      'a-4',
    ]);
    expect(step.history).toMatchObject([
      { calls: [{ callId: 'a' }, { callId: 'a-2' }, { callId: 'a-3' }, { callId: 'a-4' }] },
    ]);
  });
});

describe('running calls', () => {
  const both = acting(call('c1', 'approved'), call('c2', 'approved'));

  test('started calls know their sandbox, and a retry finds the first one', () => {
    const step = after(both, callsStarted('c1', 'c9'));
    expect(statuses(step.state)).toEqual(['executing', 'approved']);
    expect(pendingWork(step.state)).toEqual([
      {
        type: 'run-tool',
        key: 'tool:turn-1:1:c1',
        callId: 'c1',
        name: 'shell',
        args: { line: 'c1' },
        generation: 7,
      },
      { type: 'run-tool', key: 'tool:turn-1:1:c2', callId: 'c2', name: 'shell', args: { line: 'c2' } },
    ]);
    const later = reduce(step.state, { ...callsStarted('c1', 'c2'), generation: 8 } as TurnEvent, limits);
    expect(pendingWork(later.state)).toMatchObject([{ generation: 7 }, { generation: 8 }]);
  });

  test('T13: a call of which no byte was sent starts again, and the model reads what its first sandbox had lost', () => {
    const begun = after(both, callsStarted('c1', 'c2'), callUnsent('c1', 7, '[lost]')).state;
    expect(statuses(begun)).toEqual(['approved', 'executing']);
    expect(pendingWork(begun).map((effect) => 'generation' in effect && effect.generation)).toEqual([
      false,
      7,
    ]);
    const again = { ...callsStarted('c1'), generation: 8 } as TurnEvent;
    const { history } = after(begun, again, finished('c1'));
    expect(history).toMatchObject([{ callId: 'c1', text: '[lost]\nout' }]);
  });

  test('a call that is not sent a second time fails, and did not run', () => {
    const step = after(both, callsStarted('c1'), callUnsent('c1'), callsStarted('c1'), callUnsent('c1'));
    expect(statuses(step.state)).toEqual(['failed', 'approved']);
    expect(step.log).toMatchObject([{ type: 'agent:error', data: { code: 'sandbox_unavailable' } }]);
    expect(step.history).toMatchObject([{ text: expect.stringContaining('it did not run') }]);
  });

  test('a detached call runs on, is not pending, and ends like any other', () => {
    const step = after(both, callsStarted('c1', 'c2'), callDetached('c1'));
    expect(statuses(step.state)).toEqual(['executing', 'executing']);
    expect(pendingWork(step.state).map(({ key }) => key)).toEqual(['tool:turn-1:1:c2']);
    expect(step.log).toEqual([]);
    expect(after(step.state, finished('c2'), finished('c1')).state.kind).toBe('thinking');
    expect(after(step.state, cancelled).history.map(({ text }) => text)).toEqual(
      Array(2).fill('The user cancelled the turn; this call may have run in part.'),
    );
  });

  test('results arrive in any order; the last one calls the model', () => {
    const one = after(both, callsStarted('c1', 'c2'), finished('c2'));
    expect(statuses(one.state)).toEqual(['executing', 'completed']);
    expect(one.log).toEqual([
      {
        type: 'tool:output',
        data: { callId: 'c2', name: 'shell', content: [{ type: 'text', text: 'out' }], durationMs: 12 },
      },
    ]);
    const all = after(one.state, finished('c1'));
    expect(all.state).toEqual({ ...thinking, step: 2, unsaved: { generation: 7, isUntried: true } });
    expect(all.history).toEqual([
      { role: 'tool', callId: 'c1', name: 'shell', text: 'out', outcome: 'completed' },
    ]);
  });

  test('a failed call is reported to user and model, and leaves the others alone', () => {
    const step = after(both, callsStarted('c1', 'c2'), failed('c1'));
    expect(statuses(step.state)).toEqual(['failed', 'executing']);
    expect(step.log).toEqual([
      {
        type: 'agent:error',
        data: { code: 'execution_timeout', message: 'Tool shell failed: it took too long', callId: 'c1' },
      },
    ]);
    expect(step.history).toEqual([
      {
        role: 'tool',
        callId: 'c1',
        name: 'shell',
        text: 'Tool shell failed: it took too long',
        outcome: 'failed',
      },
    ]);
  });

  test('a call that could not be started may fail without having run', () => {
    expect(after(both, failed('c1'), failed('c2')).state).toEqual({ ...thinking, step: 2 });
  });

  test('the last permitted step gets its results and then reports that the steps are used up', () => {
    const last = { ...acting(call('c1', 'executing')), step: 3, usage };
    expect(after(last, finished('c1'))).toEqual({
      state: { kind: 'done', turnId, stopReason: 'steps_exceeded' },
      log: [
        {
          type: 'tool:output',
          data: { callId: 'c1', name: 'shell', content: [{ type: 'text', text: 'out' }], durationMs: 12 },
        },
        {
          type: 'completion',
          data: { turnId, stopReason: 'steps_exceeded', text: '', usage, sessionCostUsd: 0 },
        },
      ],
      history: [{ role: 'tool', callId: 'c1', name: 'shell', text: 'out', outcome: 'completed' }],
    });
  });

  test('rejecting all calls at the last permitted step ends the turn, too', () => {
    const last = { ...deciding(call('c1')), step: 3 };
    expect(after(last, decided('c1', { approved: false })).state).toMatchObject({
      stopReason: 'steps_exceeded',
    });
  });

  test('usage of every model call is summed', () => {
    const step = after({ ...acting(call('c1', 'executing')), usage }, finished('c1'), answered({ step: 2 }));
    expect(step.log.at(-1)).toMatchObject({ data: { usage: { inputTokens: 20, outputTokens: 10 } } });
  });
});

describe('cancelling', () => {
  const completion = {
    type: 'completion',
    data: {
      turnId,
      stopReason: 'cancelled',
      text: '',
      usage: { inputTokens: 0, outputTokens: 0 },
      sessionCostUsd: 0,
    },
  };
  const closed = (callId: string, text: string) => ({
    role: 'tool',
    callId,
    name: 'shell',
    text,
    outcome: 'failed',
  });
  const unrun = 'The user cancelled the turn; this call did not run.';
  const unknown = 'The user cancelled the turn; this call may have run in part.';

  test('while the model thinks leaves no open call', () => {
    expect(after(thinking, cancelled)).toEqual({ state: done('cancelled'), log: [completion], history: [] });
  });

  test('while a person decides reports waiting and approved calls as not run', () => {
    const state = deciding(call('c1', 'approved'), call('c2', 'rejected'), call('c3'));
    expect(after(state, cancelled)).toEqual({
      state: done('cancelled'),
      log: [completion],
      history: [closed('c1', unrun), closed('c3', unrun)],
    });
  });

  test('while calls run reports only started ones as possibly run in part', () => {
    const state = acting(
      call('c1', 'executing'),
      call('c2', 'completed'),
      call('c3', 'failed'),
      call('c4', 'approved'),
    );
    expect(after(state, cancelled)).toEqual({
      state: done('cancelled'),
      log: [completion],
      history: [closed('c1', unknown), closed('c4', unrun)],
    });
  });

  test('a call whose child may have been asked may have run, once its queue does', () => {
    const child: ToolCall = { ...call('c1', 'approved'), route: { kind: 'platform', tool: 'session' } };
    expect(after(acting(child), cancelled).history).toEqual([closed('c1', unknown)]);
    expect(after(deciding(child, call('c2')), cancelled).history).toEqual([
      closed('c1', unrun),
      closed('c2', unrun),
    ]);
  });
});
