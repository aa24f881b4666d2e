/** Steps that every transition of a turn is made of: no output, the next model call, the end. */
import type { StopReason } from '../event-log.ts';
import type { Acting, Deciding, Running, ToolCall, TurnLimits, TurnState, TurnStep } from './turn.ts';

/** Additions to the log and to the conversation. */
export type StepOutput = Pick<TurnStep, 'log' | 'history'>;

/** The output of the first, then all of the second; the later state counts. */
export const followedBy = (first: StepOutput, second: TurnStep): TurnStep => ({
  state: second.state,
  log: [...first.log, ...second.log],
  history: [...first.history, ...second.history],
});

export const silently = (state: TurnState): TurnStep => ({ state, log: [], history: [] });

/** An event that was taken before, or came too late, changes nothing (T9). */
export const ignore = (state: TurnState, reason: string): TurnStep => ({
  state,
  log: [],
  history: [],
  ignored: reason,
});

/** A model call is made while there is money left: the one that passes the limit is the last (T16). */
export const isOverBudget = ({ spentUsd }: Running, { usdMax }: TurnLimits): boolean =>
  spentUsd > 0 && spentUsd >= usdMax;

/** A turn decides while a call waits for a person. Then the approved calls run; without one the model is called again. */
export const queue = (state: Deciding, limits: TurnLimits): TurnStep => {
  const has = (status: ToolCall['status']): boolean => state.calls.some((call) => call.status === status);
  if (has('pending')) return silently(state);
  return has('approved') ? silently({ ...state, kind: 'acting' }) : thinkAgain(state, limits);
};

/** The queue is emptied before the model is called (T10), so that its next calls start a fresh one. */
export const thinkAgain = (state: Deciding | Acting, limits: TurnLimits): TurnStep => {
  const { calls: _, ...running } = state;
  if (state.step >= limits.stepsMax) return end(state, 'steps_exceeded', '');
  if (isOverBudget(state, limits)) return end(state, 'budget_exceeded', '');
  return silently({ ...running, kind: 'thinking', step: state.step + 1 });
};

/** The one place that says `completion`, and the last thing a turn says (T8). */
export const end = (
  { turnId, usage, spentUsd }: Running,
  stopReason: StopReason,
  text: string,
): TurnStep => ({
  state: { kind: 'done', turnId, stopReason },
  log: [{ type: 'completion', data: { turnId, stopReason, text, usage, sessionCostUsd: spentUsd } }],
  history: [],
});
