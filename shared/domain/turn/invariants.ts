/**
 * The turn's invariants T1..T7 (docs/spec/turn.md), asserted on every new state, in production too.
 *
 * Limits are settings, and a stored turn may be older than a lowered one: the bounds hold for the next model
 * call, and the queue's length where it is made (`queuedCalls`), so that such a turn can still be ended.
 */
import { invariant } from '../assert.ts';
import type { ToolCall } from './tool-call.ts';
import type { TurnLimits, TurnState } from './turn.ts';

export const assertTurn = (state: TurnState, limits: TurnLimits): void => {
  if (state.kind === 'idle' || state.kind === 'done') return;
  invariant(state.step >= 1, 'T1: model calls are counted from one');
  if (state.kind === 'thinking') {
    invariant(state.step <= limits.stepsMax, 'T1: the number of model calls is bounded');
    return;
  }
  assertQueue(state.calls);
  const pending = state.calls.filter((call) => call.status === 'pending').length;
  invariant((state.kind === 'deciding') === pending > 0, 'T4: a turn decides exactly while a call waits');
  if (state.kind === 'deciding') {
    const isUnstarted = ({ status, trial }: ToolCall): boolean =>
      status === 'pending' ||
      status === 'approved' ||
      status === 'rejected' ||
      // The applied result of a trial, before the trial of a later call was outdated.
      ((status === 'completed' || status === 'failed') && trial?.state === 'tried');
    invariant(state.calls.every(isUnstarted), 'T5: no call starts while another waits for a human');
    return;
  }
  const open = state.calls.some((call) => call.status === 'approved' || call.status === 'executing');
  invariant(open, 'T6: an acting turn owes at least one call');
};

const assertQueue = (calls: readonly ToolCall[]): void => {
  invariant(calls.length >= 1, 'T2: the queue is never empty');
  invariant(
    new Set(calls.map(({ callId }) => callId)).size === calls.length,
    'T3: call ids are unique in a queue',
  );
  const isSound = (call: ToolCall): boolean =>
    call.status === 'executing'
      ? call.generation !== undefined
      : call.askedHuman || call.status !== 'rejected';
  invariant(calls.every(isSound), 'T7: an executing call knows its sandbox, a rejected one was asked');
};
