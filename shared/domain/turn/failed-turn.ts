/**
 * The end of a turn that no function continues, as the steps that its holder would have made of a failure. A turn that is to
 * try a call goes on without the trial: a person decides, which needs no function.
 */

import { mayHaveBegun } from './call-steps.ts';
import { type PrintedOutput, tellPrinted } from './printed.ts';
import { reduce } from './reduce.ts';
import type { EventOf, TurnEvent, TurnState, TurnStep } from './turn.ts';
import { followedBy, silently } from './turn-step.ts';
import { callToTry } from './waiting-call.ts';

export type Failure = {
  readonly at: number;
  readonly code: string;
  readonly message: string;
  readonly printed?: PrintedOutput;
};

/** A failure asks for nothing, so no limit can be met. */
const limits = {
  stepsMax: Number.MAX_SAFE_INTEGER,
  callsMax: Number.MAX_SAFE_INTEGER,
  usdMax: Number.POSITIVE_INFINITY,
};

/** `begin` begins the turn of the message that waits; undefined when nothing is to fail. */
export const failedTurn = (
  state: TurnState,
  begin: EventOf<'started'> | undefined,
  failure: Failure,
): TurnStep | undefined => {
  const isResting = state.kind === 'idle' || state.kind === 'done';
  const first =
    isResting && begin !== undefined
      ? [begin]
      : [...trialFailures(state, failure), ...callFailures(state, failure)];
  const thinking = first.reduce(afterEvent, silently(state));
  // A turn may be over as it begins.
  if (thinking.state.kind !== 'thinking') return thinking.state === state ? undefined : thinking;
  const { at, code, message } = failure;
  return afterEvent(thinking, { type: 'model-failed', step: thinking.state.step, at, code, message });
};

const afterEvent = (step: TurnStep, event: TurnEvent): TurnStep =>
  followedBy(step, reduce(step.state, event, limits));

const trialFailures = (state: TurnState, { at, message }: Failure): readonly TurnEvent[] => {
  const tried = callToTry(state);
  if (tried === undefined) return [];
  const reason = `it could not be tried: ${message}`;
  return [{ type: 'trial-ended', at, callId: tried.callId, trial: { state: 'untried', reason } }];
};

/** Those that run, or may, have an unknown outcome. */
const callFailures = (state: TurnState, { at, code, printed = {} }: Failure): readonly TurnEvent[] => {
  if (state.kind !== 'acting') return [];
  const open = state.calls.filter(({ status }) => status === 'approved' || status === 'executing');
  return open.map((call) => {
    const { callId } = call;
    const failed = { type: 'call-failed' as const, at, callId };
    if (!mayHaveBegun(state, call)) return { ...failed, code, message: 'it did not run' };
    const ended = 'the turn was ended while it ran: it may have run in part';
    return { ...failed, code: 'tool_outcome_unknown', message: tellPrinted(ended, printed[callId]) };
  });
};
