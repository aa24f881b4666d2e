/** The log of a session: numbered without gaps, read in order. A turn's entries are written by its commit. */
import type { LogEntry, LogEvent } from '../domain/event-log.ts';
import type { SessionId } from '../domain/ids.ts';

export interface EventLog {
  /** Appends entries from outside a turn, numbered like all others. Undefined when there is no such session, or when it is being deleted. */
  append(id: SessionId, entries: readonly LogEntry[], at: number): Promise<readonly LogEvent[] | undefined>;
  /** As `append`, but none when the last mark that was named here is as high. */
  appendOnce(
    id: SessionId,
    once: { readonly mark: number; readonly entries: readonly LogEntry[]; readonly at: number },
  ): Promise<readonly LogEvent[] | undefined>;
  /**
   * Oldest first, after `since` (-1: all). None is left out but those that the ring has let go. With `bytesMax` as many
   * as have so many bytes together, and at least one; hardly more than that is read.
   */
  read(
    id: SessionId,
    page: { readonly since: number; readonly eventsMax: number; readonly bytesMax?: number },
  ): Promise<{ readonly events: readonly LogEvent[]; readonly hasMore: boolean }>;
}
