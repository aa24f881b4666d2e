/**
 * Reads a page of a session's log, for clients that poll. Events that the ring has dropped are reported, never skipped. A
 * number beyond the log, which a client may still have from before a backup was restored, counts as that of the last event.
 */
import { type LogEvent, oldestKept, withinBytes } from '../../domain/event-log.ts';
import type { SessionId } from '../../domain/ids.ts';
import { eventPageBytesMax } from '../../domain/limits.ts';
import type { Session } from '../../domain/session.ts';
import { AppError } from '../../errors.ts';
import type { EventLog } from '../../ports/event-log.ts';

export const readEvents = async (
  eventLog: EventLog,
  { id, status, lastSeq }: Session,
  { since: asked, eventsMax }: { readonly since: number; readonly eventsMax: number },
) => {
  const since = Math.min(asked, lastSeq);
  const oldestIndex = oldestKept(lastSeq);
  if (since !== -1 && since < oldestIndex - 1)
    throw new AppError('events_purged', purged(oldestIndex), {
      facts: { oldestIndex },
      suggestions: [`Read from since_index=${oldestIndex - 1}.`],
    });
  const from = Math.max(since, oldestIndex - 1);
  const page = await eventLog.read(id, { since: from, eventsMax, bytesMax: eventPageBytesMax });
  const shown = page.events.map((event) => shownEvent(id, event));
  const events = withinBytes(shown, eventPageBytesMax);
  return {
    sessionId: id,
    status,
    lastIndex: events.at(-1)?.index ?? since,
    events,
    completed: status === 'completed',
    failed: status === 'failed',
    droppedEvents: since === -1 ? oldestIndex : 0,
    hasMore: page.hasMore || events.length < shown.length,
  };
};

const purged = (oldestIndex: number): string =>
  `events before index ${oldestIndex} have been purged (oldest available: ${oldestIndex})`;

/** As clients see it. */
export const shownEvent = (sessionId: SessionId, { seq, type, at, data }: LogEvent) => ({
  index: seq,
  type,
  at: new Date(at).toISOString(),
  data,
  sessionId,
});
