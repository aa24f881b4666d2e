import { expect, test } from 'vitest';
import type { CallId, MessageId, TurnId } from '../ids.ts';
import { failedTurn } from './failed-turn.ts';
import { pendingWork } from './pending-work.ts';
import type { EventOf, TurnState } from './turn.ts';

const failure = { at: 7, code: 'internal_error', message: 'no function continues it' };
const running = {
  ...{ turnId: 't' as TurnId, messageId: 'm' as MessageId, step: 2, spentUsd: 0 },
  usage: { inputTokens: 1, outputTokens: 1 },
  policy: { mode: 'ask', grants: [] },
} as const;
const begin: EventOf<'started'> = {
  ...{ type: 'started', at: 7, turnId: 'u' as TurnId, policy: running.policy, spentUsd: 0 },
  message: { messageId: 'n' as MessageId, text: 'hello' },
};
const call = {
  ...{ callId: 'c' as CallId, name: 'execute_command', args: {}, askedHuman: true, digest: 'd', askedAt: '' },
};
const done: TurnState = { kind: 'done', turnId: 't' as TurnId, stopReason: 'end_turn' };
const ended = ['agent:error internal_error', 'completion error'];

const logOf = (state: TurnState, event?: EventOf<'started'>) =>
  failedTurn(state, event, failure)?.log.map(({ type, data }) =>
    `${type} ${'stopReason' in data ? data.stopReason : 'code' in data ? data.code : ''}`.trim(),
  );

test.each<[string, TurnState, EventOf<'started'> | undefined, readonly string[] | undefined]>([
  ['a message before the first turn', { kind: 'idle' }, begin, ['message', ...ended]],
  ['a message after a turn', done, begin, ['message', ...ended]],
  ['no message', done, undefined, undefined],
  ['a model call', { ...running, kind: 'thinking' }, begin, ended],
  [
    'a call that waits for a person',
    { ...running, kind: 'deciding', calls: [{ ...call, status: 'pending' }] },
    begin,
    undefined,
  ],
  [
    'open calls',
    {
      ...{ ...running, kind: 'acting' },
      calls: [
        { ...call, status: 'executing', generation: 1 },
        { ...call, callId: 'a' as CallId, status: 'approved' },
        { ...call, callId: 'b' as CallId, status: 'completed', generation: 1 },
      ],
    },
    begin,
    ['agent:error tool_outcome_unknown', 'agent:error internal_error', ...ended],
  ],
  [
    'a call whose child may have been asked',
    {
      ...{ ...running, kind: 'acting' },
      calls: [{ ...call, status: 'approved', route: { kind: 'platform', tool: 'session' } }],
    },
    begin,
    ['agent:error tool_outcome_unknown', ...ended],
  ],
])('the end of %s', (...[, state, event, log]) => {
  expect(logOf(state, event)).toEqual(log);
  if (log !== undefined)
    expect(failedTurn(state, event, failure)?.state).toMatchObject({ kind: 'done', stopReason: 'error' });
});

test('a call that no function tries is asked about without its trial, and the turn goes on', () => {
  const trial = { state: 'due' } as const;
  const due: TurnState = { ...running, kind: 'deciding', calls: [{ ...call, status: 'pending', trial }] };
  const step = failedTurn(due, begin, failure);
  expect(step?.state).toMatchObject({
    kind: 'deciding',
    calls: [{ status: 'pending', trial: { state: 'untried' } }],
  });
  expect(step?.log).toMatchObject([{ type: 'tool:approval_required' }]);
  expect(step && pendingWork(step.state)).toEqual([]);
});
