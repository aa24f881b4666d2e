/**
 * The steps of a trial in a turn: it begins, it ends with a request to a person or with the decision of a rule, its result is
 * outdated and it is tried again.
 */
import { ruleOn } from '../effect-rule.ts';
import { firstApproval } from './call-queue.ts';
import { callEnded, hasBegun } from './call-steps.ts';
import type { ToolCall } from './tool-call.ts';
import type { Acting, Deciding, EventOf, TurnLimits, TurnStep } from './turn.ts';
import { ignore, silently } from './turn-step.ts';
import { callToTry, type DueCall } from './waiting-call.ts';

type Ruled = EventOf<'call-decided'>;

export const trialMoved = (
  state: Deciding,
  event: EventOf<'trial-started'> | EventOf<'trial-ended'>,
  decide: (next: Deciding, ruled: Ruled) => TurnStep,
): TurnStep => {
  const tried = callToTry(state);
  if (tried === undefined || tried.callId !== event.callId)
    return ignore(state, 'this call is not to be tried');
  const trial = event.type === 'trial-ended' ? event.trial : { ...tried.trial, session: event.session };
  const calls = state.calls.map((call) => (call.callId === tried.callId ? { ...call, trial } : call));
  const next = { ...state, calls };
  if (event.type === 'trial-started') return silently(next);
  const ruled = ruledDecision(next, tried, event);
  if (ruled !== undefined) return decide(next, ruled);
  return { state: next, log: firstApproval(state.turnId, calls), history: [] };
};

/**
 * The decision of a rule; undefined where a person decides. A rule approves no call a second time: a workspace that always moves
 * would be tried without end.
 */
const ruledDecision = (
  { policy: { effects } }: Deciding,
  { callId, name, trial: before }: DueCall,
  { at, trial, asks }: EventOf<'trial-ended'>,
): Ruled | undefined => {
  if (trial.state !== 'tried' || effects?.rules === undefined || asks) return undefined;
  const { effect, outcome } = trial;
  const ruling = ruleOn({ name, effect, hasFailed: 'code' in outcome }, effects.rules);
  if (ruling === undefined || ruling.verdict === 'ask') return undefined;
  const approved = ruling.verdict === 'approve';
  if (approved && before.isAgain === true) return undefined;
  const by = { kind: 'policy' as const, id: `effect rule ${ruling.rule}` };
  const reason = `rule ${ruling.rule} over effects ${approved ? 'approves' : 'refuses'} what this call would do`;
  return { type: 'call-decided', at, callId, approved, by, reason };
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
  const again: ToolCall = { ...found, status: 'pending', trial: { state: 'due', isAgain: true } };
  const calls = state.calls.map((call) => (call === found ? again : call));
  const log = firstApproval(state.turnId, calls);
  return { state: { ...state, kind: 'deciding', calls }, log, history: [] };
};

const outdatedFailure = {
  code: 'conflict',
  message: 'the workspace has changed since it was tried; nothing was applied',
};
