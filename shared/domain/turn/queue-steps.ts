/** The step that follows a queue of calls: a person decides, the approved calls run, the model is called again, or the turn ends. */

import { endOverBudget, isOverBudget } from './over-budget.ts';
import type { ToolCall } from './tool-call.ts';
import type { Acting, Deciding, TurnLimits, TurnStep } from './turn.ts';
import { end, silently } from './turn-step.ts';

/** A turn decides while a call waits for a person. Then the approved calls run; without one the model is called again. */
export const queueStep = (state: Deciding, limits: TurnLimits): TurnStep => {
  const has = (status: ToolCall['status']): boolean => state.calls.some((call) => call.status === status);
  if (has('pending')) return silently(state);
  return has('approved') ? silently({ ...state, kind: 'acting' }) : thinkAgain(state, limits);
};

/** The queue is emptied before the model is called (T10), so that its next calls start a fresh one. */
export const thinkAgain = (state: Deciding | Acting, limits: TurnLimits): TurnStep => {
  const { calls: _, ...running } = state;
  if (state.step >= limits.stepsMax) return end(state, 'steps_exceeded', '');
  if (isOverBudget(state, limits)) return endOverBudget(state);
  return silently({ ...running, kind: 'thinking', step: state.step + 1 });
};
