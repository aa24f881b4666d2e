/**
 * Steps that every transition of a turn is made of: no output, two outputs in a row, an event without effect, and the end.
 */

import type { StopReason } from '../event-log.ts';
import type { Running, TurnState, TurnStep } from './turn.ts';

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

/** The one place that says `completion`, and the last thing a turn says (T8). */
export const end = (
  { turnId, usage, spentUsd, messageId, model }: Running,
  stopReason: StopReason,
  text: string,
): TurnStep => ({
  state: {
    ...{ kind: 'done', turnId, stopReason },
    ...(stopReason === 'error' ? { failed: { messageId, ...(model === undefined ? {} : { model }) } } : {}),
  },
  log: [{ type: 'completion', data: { turnId, stopReason, text, usage, sessionCostUsd: spentUsd } }],
  history: [],
});
