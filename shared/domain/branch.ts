/**
 * A branch of a conversation: a new session with what was said up to one message, and with the files of that time.
 *
 * A user's message begins what is left out, so that it can be said in another way; an answer that ended its turn is the last of
 * what is kept. Nothing is cut inside a turn.
 */
import type { LogEvent } from './event-log.ts';
import type { HistoryMessage } from './history.ts';
import { eventsPerSessionMax } from './limits.ts';

export type Branch = {
  readonly history: readonly HistoryMessage[];
  readonly events: readonly LogEvent[];
  /** The time of the first message that is left out, in epoch milliseconds; `now`: there is none; absent: not known any more. */
  readonly filesAt?: number | 'now';
};

type Conversation = {
  readonly history: readonly HistoryMessage[];
  /** Those that are still in the log, oldest first. */
  readonly events: readonly LogEvent[];
};

/** Undefined when the conversation has no such message, or it stands inside a turn. */
export const branchAt = ({ history, events }: Conversation, messageId: string): Branch | undefined => {
  const kept = history.slice(0, lengthUpTo(history, messageId));
  const next = history[kept.length];
  if (kept.length === 0 && next === undefined) return undefined;
  if (!isNamed(next, messageId) && !isNamed(kept.at(-1), messageId)) return undefined;
  if (next === undefined) {
    const last = kept.at(-1);
    const hasEnded = last?.role === 'assistant' && last.calls.length === 0;
    return hasEnded ? { history: kept, events: lately(events), filesAt: 'now' } : undefined;
  }
  if (next.role !== 'user') return undefined;
  const cut = events.findIndex(({ type, data }) => type === 'message' && data.messageId === next.messageId);
  const first = events[cut];
  return first === undefined
    ? { history: kept, events: [] }
    : { history: kept, events: lately(events.slice(0, cut)), filesAt: first.at };
};

const lengthUpTo = (history: readonly HistoryMessage[], messageId: string): number => {
  const index = history.findLastIndex((message) => isNamed(message, messageId));
  return history[index]?.role === 'user' ? index : index + 1;
};

const isNamed = (message: HistoryMessage | undefined, messageId: string): boolean =>
  message !== undefined && message.role !== 'tool' && message.messageId === messageId;

/** One more is added when the branch is made. */
const lately = (events: readonly LogEvent[]): readonly LogEvent[] => events.slice(1 - eventsPerSessionMax);
