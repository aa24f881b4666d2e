/** Costs of a session's model calls (T16): the call that passes the limit is the last. */
import { expect, test } from 'vitest';
import type { CallId, MessageId, TurnId } from '../ids.ts';
import { reduce } from './reduce.ts';
import type { TurnEvent, TurnLimits, TurnState } from './turn.ts';

const idle: TurnState = { kind: 'idle' };
const policy = { mode: 'auto', grants: [] } as const;
const limits: TurnLimits = { stepsMax: 10, callsMax: 4, usdMax: 1 };

const started = (spentUsd: number): TurnEvent => ({
  type: 'started',
  at: 1,
  turnId: 't' as TurnId,
  message: { messageId: 'm' as MessageId, text: 'hello' },
  policy,
  spentUsd,
});
const asked = (step: number, costUsd: number): TurnEvent => ({
  type: 'model-answered',
  at: 2,
  step,
  messageId: 'a' as MessageId,
  text: '',
  calls: [{ callId: 'c' as CallId, name: 'list_files', args: {}, digest: 'd', askedAt: 'then' }],
  end: 'tool_use',
  usage: { inputTokens: 1, outputTokens: 1 },
  costUsd,
});
const finished: TurnEvent = {
  type: 'call-finished',
  at: 3,
  callId: 'c' as CallId,
  content: [],
  text: 'out',
  durationMs: 1,
};
const rejected: TurnEvent = {
  type: 'call-decided',
  at: 3,
  callId: 'c' as CallId,
  approved: false,
  by: { kind: 'token', id: 'x' },
};

const after = (usdMax: number, ...events: readonly TurnEvent[]) => {
  let step = reduce(idle, events[0] as TurnEvent, { ...limits, usdMax });
  for (const event of events.slice(1)) step = reduce(step.state, event, { ...limits, usdMax });
  return step;
};

test('a turn continues while money is left', () => {
  const step = after(1, started(0.25), asked(1, 0.5), finished);
  expect(step.state).toMatchObject({ kind: 'thinking', step: 2, spentUsd: 0.75 });
});

test('the tools of the call that passes the limit still run, then the turn reports it', () => {
  const running = after(1, started(0.25), asked(1, 0.75));
  expect(running.state).toMatchObject({ kind: 'acting', spentUsd: 1 });
  const ended = reduce(running.state, finished, limits);
  expect(ended.state).toEqual({ kind: 'done', turnId: 't', stopReason: 'budget_exceeded' });
  expect(ended.log.at(-1)).toEqual({
    type: 'completion',
    data: {
      turnId: 't',
      stopReason: 'budget_exceeded',
      text: '',
      usage: { inputTokens: 1, outputTokens: 1 },
      sessionCostUsd: 1,
    },
  });
  expect(ended.history).toEqual([
    { role: 'tool', callId: 'c', name: 'list_files', text: 'out', outcome: 'completed' },
  ]);
});

test('an answer without calls is returned, whatever it cost', () => {
  const answer = { ...asked(1, 5), calls: [], text: 'dear', end: 'end_turn' } as TurnEvent;
  expect(after(1, started(0), answer).log.at(-1)).toMatchObject({
    data: { stopReason: 'end_turn', text: 'dear', sessionCostUsd: 5 },
  });
});

test('rejecting the last call does not buy another model call', () => {
  const begun = reduce(idle, { ...started(0), policy: { ...policy, mode: 'ask' } } as TurnEvent, limits);
  const waiting = reduce(begun.state, asked(1, 2), limits);
  expect(reduce(waiting.state, rejected, limits).state).toMatchObject({ stopReason: 'budget_exceeded' });
});

test('a session without money left gets its message logged and completed, without a model call', () => {
  expect(after(1, started(1))).toEqual({
    state: { kind: 'done', turnId: 't', stopReason: 'budget_exceeded' },
    log: [
      { type: 'message', data: { messageId: 'm', role: 'user', text: 'hello' } },
      {
        type: 'completion',
        data: {
          turnId: 't',
          stopReason: 'budget_exceeded',
          text: '',
          usage: { inputTokens: 0, outputTokens: 0 },
          sessionCostUsd: 1,
        },
      },
    ],
    history: [{ role: 'user', messageId: 'm', text: 'hello' }],
  });
});

test('a tree without money left ends the turn before its model call, whatever the session itself has left', () => {
  const ended = after(1, started(0.25), asked(1, 0.25), finished, { type: 'budget-spent', at: 4, step: 2 });
  expect(ended).toEqual({
    state: { kind: 'done', turnId: 't', stopReason: 'budget_exceeded' },
    log: [
      {
        type: 'completion',
        data: {
          turnId: 't',
          stopReason: 'budget_exceeded',
          text: '',
          usage: { inputTokens: 1, outputTokens: 1 },
          sessionCostUsd: 0.5,
        },
      },
    ],
    history: [],
  });
});

test('a limit of 0 allows free calls, and one that costs', () => {
  expect(after(0, started(0), asked(1, 0), finished).state).toMatchObject({ kind: 'thinking', step: 2 });
  expect(after(0, started(0), asked(1, 0.01), finished).state).toMatchObject({
    stopReason: 'budget_exceeded',
  });
  expect(after(0, started(0.01)).state).toMatchObject({ stopReason: 'budget_exceeded' });
});

test('a limit lowered below the spent amount ends the turn at its next step', () => {
  const running = after(100, started(0), asked(1, 50));
  expect(reduce(running.state, finished, limits).state).toMatchObject({ stopReason: 'budget_exceeded' });
});

test('an answer that asks for more tools than its slices pay for has the first of them (TM9)', () => {
  const call = (callId: string) => ({
    ...{ callId: callId as CallId, name: 'list_files', args: {} },
    ...{ digest: 'd', askedAt: 'then' },
  });
  const calls = ['a', 'b', 'c'].map(call);
  const answered = (toolCallsMax: number): TurnEvent => ({
    ...(asked(1, 0) as Extract<TurnEvent, { type: 'model-answered' }>),
    ...{ text: 'so far', calls, toolCallsMax },
  });
  const two = after(1, started(0), answered(2));
  expect(two.state).toMatchObject({ kind: 'acting', calls: [{ callId: 'a' }, { callId: 'b' }] });
  expect(two.log).toContainEqual(
    expect.objectContaining({
      data: expect.objectContaining({
        message: 'the model requested 3 calls at once; the first 2 are used',
      }),
    }),
  );
  const none = after(1, started(0), answered(0));
  expect(none.state).toMatchObject({ kind: 'done' });
  expect(none.log).toMatchObject([
    { type: 'message', data: { text: 'so far' } },
    { type: 'agent:error', data: { message: expect.stringContaining('its budget has none left') } },
    { type: 'completion', data: { stopReason: 'budget_exceeded' } },
  ]);
});
