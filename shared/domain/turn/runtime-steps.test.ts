/** The steps of a turn that a program carries: RT3, RT4, RT6 and RT7. */

import { describe, expect, test } from 'vitest';
import type { CallId, MessageId, TurnId } from '../ids.ts';
import { noUsage } from '../model.ts';
import { type RuntimeWork, runtimeStartsMax } from '../runtime.ts';
import { judgeDecision } from './judge-decision.ts';
import { isWaitingAlone, killsOf, pendingWork } from './pending-work.ts';
import { reduce } from './reduce.ts';
import type { TurnCall } from './tool-call.ts';
import type { Deciding, EventOf, Thinking, TurnEvent, TurnState } from './turn.ts';

const limits = { stepsMax: 5, callsMax: 8, usdMax: 1 };
const work: RuntimeWork = { name: 'opencode', starts: 1, generation: 7, taken: 3, replies: [] };
const thinking: Thinking = {
  ...{ kind: 'thinking', turnId: 't' as TurnId, messageId: 'm' as MessageId, step: 1, usage: noUsage },
  ...{ spentUsd: 0, policy: { mode: 'ask', grants: [] }, runtime: work },
};
const moved = (fields: Partial<EventOf<'runtime-moved'>> = {}): EventOf<'runtime-moved'> => ({
  ...{ type: 'runtime-moved', at: 1, generation: 7, after: 3, to: 5, log: [], asked: [], steps: 0 },
  ...{ toolCalls: 0, usage: noUsage, spentUsd: 0 },
  ...fields,
});
const question = (callId: string): TurnCall => ({
  ...{ callId: callId as CallId, name: 'bash', args: { command: 'ls' }, digest: `digest of ${callId}` },
  ...{
    askedAt: new Date(0).toISOString(),
    route: { kind: 'runtime', runtime: 'opencode', question: `q ${callId}` },
  },
});
const decide = (callId: string, fields: Partial<EventOf<'call-decided'>> = {}): TurnEvent => ({
  ...{
    type: 'call-decided',
    at: 2,
    callId: callId as CallId,
    approved: true,
    by: { kind: 'token', id: 'a', name: 'a' },
  },
  ...fields,
});
const step = (state: TurnState, event: TurnEvent) => reduce(state, event, limits);
const deciding = (...callIds: string[]): Deciding =>
  step(thinking, moved({ asked: callIds.map(question) })).state as Deciding;

describe('RT3: each fact enters the log once', () => {
  const said = moved({ log: [{ type: 'system', data: { kind: 'said' } }] });

  test('facts after the last number are taken, and that number moves', () => {
    const { state, log } = step(thinking, said);
    expect(log).toHaveLength(1);
    expect(state).toMatchObject({ kind: 'thinking', runtime: { taken: 5 } });
  });

  test.each([
    ['taken already', step(thinking, said).state, said],
    ['of another sandbox', thinking, { ...said, generation: 6 }],
    ['while a person is asked', deciding('one'), said],
  ])('facts %s change nothing', (_, state, event) => {
    const again = step(state, event);
    expect(again.state).toBe(state);
    expect(again.log).toEqual([]);
  });

  test('work is pending under a key that does not return', () => {
    const [first] = pendingWork(thinking);
    const [second] = pendingWork(step(thinking, said).state);
    expect(first).toMatchObject({ type: 'drive-runtime' });
    expect(second?.key).not.toBe(first?.key);
  });
});

describe('RT4: a question is decided like any call', () => {
  test('it is an advisory approval, and holds the turn without holding its sandbox back', () => {
    const { state, log } = step(thinking, moved({ asked: [question('one')] }));
    expect(log.at(-1)).toMatchObject({ type: 'tool:approval_required', data: { advisory: true } });
    expect(pendingWork(state)).toEqual([]);
    expect(isWaitingAlone(state)).toBe(false);
  });

  test('the program hears of all decisions of a queue, with the reason of a rejection', () => {
    const half = step(deciding('one', 'two'), decide('one', { approved: false, reason: 'no' }));
    expect(half.state.kind).toBe('deciding');
    const { state, history } = step(half.state, decide('two'));
    expect(history).toEqual([]);
    expect(state).toMatchObject({
      kind: 'thinking',
      runtime: {
        replies: [
          { permission: 'q one', approved: false, reason: 'no' },
          { permission: 'q two', approved: true },
        ],
      },
    });
  });

  test('answers stay until a later step is written', () => {
    const { state } = step(deciding('one'), decide('one'));
    expect(step(state, moved({ after: 5, to: 6 })).state).toMatchObject({ runtime: { replies: [] } });
  });

  test('a mode that allows all asks nobody, and says so', () => {
    const trusted: Thinking = { ...thinking, policy: { mode: 'auto', grants: [] } };
    const { state, log } = step(trusted, moved({ asked: [question('one')] }));
    expect(log).toMatchObject([{ type: 'tool:decided', data: { approved: true, by: { kind: 'policy' } } }]);
    expect(state).toMatchObject({ kind: 'thinking', runtime: { replies: [{ approved: true }] } });
  });

  test('its arguments cannot be changed', () => {
    const decision = { callId: 'one', approved: true, args: { command: 'true' } };
    expect(judgeDecision(deciding('one'), decision, () => false)).toMatchObject({
      refusal: { code: 'invalid_request' },
    });
  });
});

describe('RT6: a turn begins again in the next sandbox', () => {
  const began = (generation: number): TurnEvent => ({ type: 'runtime-began', at: 1, generation });

  test('its numbers begin anew, and the log says so', () => {
    const { state, log } = step(thinking, began(8));
    expect(state).toMatchObject({ runtime: { starts: 2, generation: 8, taken: 0, replies: [] } });
    expect(log).toMatchObject([{ data: { kind: 'runtime_restarted' } }]);
  });

  test('once in each sandbox', () => {
    expect(step(thinking, began(7)).state).toBe(thinking);
  });

  test('it ends after too many', () => {
    const late: Thinking = { ...thinking, runtime: { ...work, starts: runtimeStartsMax } };
    expect(step(late, began(8)).state).toMatchObject({ kind: 'done', stopReason: 'error' });
  });

  test('RT5: what is over leaves the name of what is to be stopped', () => {
    expect(killsOf(thinking, true)).toEqual(['agent:t.1']);
    expect(killsOf(deciding('one'), true)).toEqual(['agent:t.1']);
  });
});

describe('RT7: model calls of the program are the steps of the turn', () => {
  test('over the limit the turn ends', () => {
    expect(step(thinking, moved({ steps: 4 })).state).toMatchObject({ kind: 'thinking', step: 5 });
    expect(step(thinking, moved({ steps: 5 })).state).toMatchObject({ stopReason: 'steps_exceeded' });
  });

  test('without money the turn ends, also when the program failed for it', () => {
    expect(step(thinking, moved({ spentUsd: 1 })).state).toMatchObject({ stopReason: 'budget_exceeded' });
    const failed = moved({ spentUsd: 1, end: { stopReason: 'error', text: '' } });
    expect(step(thinking, failed).state).toMatchObject({ stopReason: 'budget_exceeded' });
  });

  test('with a call of a tool beyond its slice the turn ends, unless it has ended (TM9)', () => {
    const over = moved({ toolCalls: 2, isOverCalls: true });
    expect(step(thinking, over).state).toMatchObject({ stopReason: 'budget_exceeded' });
    const answered = { ...over, end: { stopReason: 'end_turn' as const, text: 'done' } };
    expect(step(thinking, answered).state).toMatchObject({ stopReason: 'end_turn' });
    expect(step(thinking, moved({ toolCalls: 2 })).state).toMatchObject({ kind: 'thinking' });
  });
});
