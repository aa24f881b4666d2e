/** Summaries of the turns of a session, from its log: the request, the end, the usage. */
import type { LogEvent, StopReason } from '../event-log.ts';
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
