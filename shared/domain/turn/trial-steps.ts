/** The steps of a trial in a turn: it begins, it ends with a request to a person, its result is outdated and it is tried again. */
import { callEnded, hasBegun } from './call-ended.ts';
import { firstApproval } from './call-queue.ts';
import type { ToolCall } from './tool-call.ts';
import { ignore } from './transitions.ts';
import type { Acting, Deciding, EventOf, TurnLimits, TurnStep } from './turn.ts';
import { callToTry } from './waiting-call.ts';

export const trialMoved = (
  state: Deciding,
  event: EventOf<'trial-started'> | EventOf<'trial-ended'>,
): TurnStep => {
  const tried = callToTry(state);
  if (tried === undefined || tried.callId !== event.callId)
    return ignore(state, 'this call is not to be tried');
  const trial =
    event.type === 'trial-ended' ? event.trial : { state: 'due' as const, session: event.session };
  const calls = state.calls.map((call) => (call === tried ? { ...call, trial } : call));
  const log = event.type === 'trial-ended' ? firstApproval(state.turnId, calls) : [];
  return { state: { ...state, calls }, log, history: [] };
};

/** Asked again with a new effect. Where other calls have started it fails instead: a queue that runs asks no person (T5). */
export const trialOutdated = (
  state: Deciding | Acting,
  { at, callId }: EventOf<'trial-outdated'>,
  limits: TurnLimits,
): TurnStep => {
  const found = state.calls.find((call) => call.callId === callId && call.trial?.state === 'tried');
  const status = state.kind === 'deciding' ? 'pending' : 'approved';
  if (found === undefined || found.status !== status)
    return ignore(state, 'this call has no result to apply');
  const hasStarted = state.calls.some((call) => hasBegun(call.status) && call.trial?.state !== 'tried');
  if (state.kind === 'acting' && hasStarted)
    return callEnded(state, { type: 'call-failed', at, callId, ...outdatedFailure }, limits);
  const again: ToolCall = { ...found, status: 'pending', trial: { state: 'due' } };
  const calls = state.calls.map((call) => (call === found ? again : call));
  const log = firstApproval(state.turnId, calls);
  return { state: { ...state, kind: 'deciding', calls }, log, history: [] };
};

const outdatedFailure = {
  code: 'conflict',
  message: 'the workspace has changed since it was tried; nothing was applied',
};
