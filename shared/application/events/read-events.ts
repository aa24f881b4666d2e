/** Reads a page of a session's log, for clients that poll. Events that the ring has dropped are reported, never skipped. */
import { oldestKept } from '../../domain/event-log.ts';
import { eventPageBytesMax } from '../../domain/limits.ts';
import type { Session } from '../../domain/session.ts';
import { utf8Bytes } from '../../domain/text.ts';
import { AppError } from '../../errors.ts';
import type { EventLog } from '../../ports/event-log.ts';

export const readEvents = async (
  eventLog: EventLog,
  { id, status, lastSeq }: Session,
  { since, eventsMax }: { readonly since: number; readonly eventsMax: number },
) => {
  const oldestIndex = oldestKept(lastSeq);
  if (since !== -1 && since < oldestIndex - 1)
    throw new AppError('events_purged', purged(oldestIndex), {
      facts: { oldestIndex },
      suggestions: [`Read from since_index=${oldestIndex - 1}.`],
    });
  const page = await eventLog.read(id, { since: Math.max(since, oldestIndex - 1), eventsMax });
  const shown = page.events.map(({ seq, type, at, data }) => ({
    index: seq,
    type,
    at: new Date(at).toISOString(),
    data,
    sessionId: id,
  }));
  const events = withinBytes(shown);
  return {
    sessionId: id,
    status,
    lastIndex: events.at(-1)?.index ?? Math.min(since, lastSeq),
    events,
    completed: status === 'completed',
    failed: status === 'failed',
    droppedEvents: since === -1 ? oldestIndex : 0,
    hasMore: page.hasMore || events.length < shown.length,
  };
};

const purged = (oldestIndex: number): string =>
  `events before index ${oldestIndex} have been purged (oldest available: ${oldestIndex})`;

/** As many as one answer may hold, and at least one. */
const withinBytes = <T>(events: readonly T[]): readonly T[] => {
  let bytes = 0;
  const over = events.findIndex((event, index) => {
    bytes += utf8Bytes(JSON.stringify(event));
    return bytes > eventPageBytesMax && index > 0;
  });
  return over < 0 ? events : events.slice(0, over);
};
