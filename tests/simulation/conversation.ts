/** Check of a history: each result follows its call, once, and no call is without its result (T10). */
import type { HistoryMessage } from '#shared/domain/history.ts';

/** The fault of a history; undefined when there is none. */
export const brokenHistory = (messages: readonly HistoryMessage[]): string | undefined => {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.includes(message.callId)) return `a result of ${message.callId} without its call`;
      open = open.filter((callId) => callId !== message.callId);
      continue;
    }
    if (open.length > 0) return `${open.join()} without a result`;
    if (message.role === 'assistant') open = message.calls.map(({ callId }) => callId);
  }
  if (open.length > 0) return `${open.join()} without a result`;
  return messages[0] !== undefined && messages[0].role !== 'user' ? 'it begins with an answer' : undefined;
};
