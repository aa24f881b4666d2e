/**
 * The log of a session and its descendants, in the order of time.
 *
 * The page is the session's own. Of the others it has the events since the last one the reader knows, so that one
 * of theirs may come again: session and number identify it.
 */
import type { LogEvent } from '../../domain/event-log.ts';
import { oldestKept } from '../../domain/event-log.ts';
import { eventsPerSessionMax } from '../../domain/limits.ts';
import { type Session, treeOf } from '../../domain/session.ts';
import { subtreeOf } from '../../domain/session-tree.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { Deps } from '../deps.ts';
import { readEvents } from '../events/read-events.ts';

type Page = { readonly since: number; readonly eventsMax: number };

/** All descendants of a session, nearest first. */
export const descendantsOf = async (
  { descendants }: SessionStore,
  session: Session,
): Promise<readonly Session[]> => {
  const root = treeOf(session);
  return root === undefined ? [] : subtreeOf(await descendants(root), session.id);
};

export const readSessionTree = async (
  { sessions, eventLog }: Deps<'sessions' | 'eventLog'>,
  session: Session,
  page: Page,
) => {
  const own = await readEvents(eventLog, session, page);
  const children = await descendantsOf(sessions, session);
  if (children.length === 0) return own;
  const from = page.since < 0 ? 0 : await timeOf(eventLog, session, page.since);
  // While the session itself has more events, the others are not ahead of it.
  const to = own.hasMore ? Date.parse(own.events.at(-1)?.at ?? '') : Number.POSITIVE_INFINITY;
  const others = await Promise.all(children.map((child) => newest(eventLog, child)));
  const within = others.flat().filter(({ time }) => time >= from && time <= to);
  const ofItself = own.events.map((event) => ({ time: Date.parse(event.at), event }));
  const merged = [...ofItself, ...within].sort((one, other) => one.time - other.time);
  return { ...own, events: merged.map(({ event }) => event) };
};

/** The time of the event that the reader saw last. */
const timeOf = async (eventLog: EventLog, { id }: Session, seq: number): Promise<number> => {
  const { events } = await eventLog.read(id, { since: seq - 1, eventsMax: 1 });
  return events[0]?.at ?? 0;
};

const newest = async (eventLog: EventLog, { id, lastSeq }: Session) => {
  const page = { since: oldestKept(lastSeq) - 1, eventsMax: eventsPerSessionMax };
  const { events } = await eventLog.read(id, page);
  return events.map((event) => ({ time: event.at, event: shown(id, event) }));
};

const shown = (sessionId: Session['id'], { seq, type, at, data }: LogEvent) => ({
  index: seq,
  type,
  at: new Date(at).toISOString(),
  data,
  sessionId,
});
