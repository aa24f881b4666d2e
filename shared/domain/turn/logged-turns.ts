/**
 * Turns as a session's log tells them: summaries for a listing, and the outcome of one message to a child.
 */
import { isRepetition, type LogEvent, type StopReason } from '../event-log.ts';
import type { MessageId } from '../ids.ts';
import { turnTextCharactersMax } from '../limits.ts';
import type { TokenUsage } from '../model.ts';

export type TurnSummary = {
  readonly messageId: MessageId;
  readonly startedAt: number;
  readonly request: string;
  /** The end of a turn that has one. */
  readonly end?: {
    readonly at: number;
    readonly stopReason: StopReason;
    readonly output: string;
    readonly usage: TokenUsage;
  };
};

/** Oldest first. A turn whose beginning the log has lost is left out. */
export const summarizeTurns = (events: readonly LogEvent[]): readonly TurnSummary[] => {
  const turns: TurnSummary[] = [];
  for (const event of events) {
    const last = turns.at(-1);
    if (event.type === 'message' && event.data.role === 'user') {
      const { messageId, text } = event.data;
      turns.push({ messageId, startedAt: event.at, request: cut(text) });
    } else if (isRepetition(event) && last !== undefined) {
      const { end: _, ...repeated } = last;
      turns[turns.length - 1] = repeated;
    } else if (event.type === 'completion' && last !== undefined && last.end === undefined) {
      const { stopReason, text, usage } = event.data;
      turns[turns.length - 1] = { ...last, end: { at: event.at, stopReason, output: cut(text), usage } };
    }
  }
  return turns;
};

/** By code points: half of one is no text. */
const cut = (text: string): string => {
  const characters = [...text.slice(0, 2 * (turnTextCharactersMax + 1))];
  return characters.length > turnTextCharactersMax
    ? `${characters.slice(0, turnTextCharactersMax).join('')}…`
    : text;
};

export type ChildOutcome = {
  readonly stopReason: StopReason;
  readonly text: string;
  readonly problem?: string;
};

/** Undefined while the log has no completion after the message: it runs, it waits, or the log has dropped it. */
export const outcomeOf = (events: readonly LogEvent[], message: MessageId): ChildOutcome | undefined => {
  const asked = events.findIndex(
    ({ type, data }) => type === 'message' && data.role === 'user' && data.messageId === message,
  );
  if (asked < 0) return undefined;
  const after = events.slice(asked + 1);
  const end = after.findIndex(({ type }) => type === 'completion');
  const completion = after[end];
  if (completion?.type !== 'completion') return undefined;
  const problem = after.slice(0, end).findLast(({ type }) => type === 'agent:error');
  const { stopReason, text } = completion.data;
  return problem?.type === 'agent:error'
    ? { stopReason, text, problem: problem.data.message }
    : { stopReason, text };
};
