/**
 * The log of a session and its descendants, in the order of time.
 *
 * The page is the session's own. Of the others it has the events since the last one the reader knows, so that one
 * of theirs may come again: session and number identify it. All of them together keep the bounds of one answer: what does not
 * fit follows on the next page, or, where no event of the session itself would bring the reader there, is named as left out.
 */
import { oldestKept } from '../../domain/event-log.ts';
import { eventPageBytesMax, eventsPerSessionMax } from '../../domain/limits.ts';
import type { Session } from '../../domain/session.ts';
import {
  endingWith,
  type LeftOut,
  leftOutOf,
  type ReadLog,
  type TreePage,
  withLog,
} from '../../domain/tree-page.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { Deps } from '../deps.ts';
import { readEvents, shownEvent } from '../events/read-events.ts';
import { descendantsOf } from './show-tree.ts';

type Page = { readonly since: number; readonly eventsMax: number };

const bounds = { eventsMax: eventsPerSessionMax, bytesMax: eventPageBytesMax };

type Own = Awaited<ReturnType<typeof readEvents>>;
type Event = Own['events'][number] & { readonly time: number };

export const readTreeEvents = async (
  { sessions, eventLog }: Deps<'sessions' | 'eventLog'>,
  session: Session,
  page: Page,
): Promise<Own & { readonly leftOut?: readonly LeftOut[] }> => {
  const own = await readEvents(eventLog, session, page);
  const children = await descendantsOf(sessions, session);
  if (children.length === 0) return own;
  const seen = Math.min(page.since, session.lastSeq);
  const from = seen < 0 ? 0 : await timeOf(eventLog, session, seen);
  const ofItself = own.events.map((event) => ({ ...event, time: Date.parse(event.at) }));
  const logs: ReadLog[] = [];
  // While the session itself has more events, the others are not ahead of it.
  const empty: TreePage<Event> = { events: [], to: Number.POSITIVE_INFINITY, isCut: false };
  let merged = withLog(empty, { events: ofItself, hasMore: own.hasMore }, bounds);
  // One after another: no more than a page of one log is held besides the page itself.
  for (const child of children) {
    const found = await since(eventLog, child, from);
    logs.push({ sessionId: child.id, read: found.events.map(numbered), hasMore: found.hasMore });
    merged = withLog(merged, found, bounds);
  }
  return answerOf(own, { merged, logs, next: ofItself[0] });
};

type Merged = {
  readonly merged: TreePage<Event>;
  readonly logs: readonly ReadLog[];
  /** The first event of the session itself on this page. */
  readonly next: Event | undefined;
};

/** The reader goes on after the last event of the session itself: each page that follows another has one at least. */
const answerOf = (own: Own, { merged, logs, next }: Merged) => {
  const last = merged.events.findLast(({ sessionId }) => sessionId === own.sessionId);
  if (!merged.isCut || last !== undefined)
    return {
      ...own,
      events: merged.events.map(untimed),
      lastIndex: last?.index ?? own.lastIndex,
      hasMore: merged.isCut || own.hasMore,
    };
  const events = next === undefined ? merged.events : endingWith(merged.events, next, bounds);
  const leftOut = leftOutOf(logs, events, next?.time ?? Number.POSITIVE_INFINITY);
  return {
    ...own,
    events: events.map(untimed),
    lastIndex: next?.index ?? own.lastIndex,
    hasMore: next !== undefined,
    ...(leftOut.length === 0 ? {} : { leftOut }),
  };
};

const numbered = ({ index, time }: Event) => ({ index, time });
const untimed = ({ time: _, ...event }: Event) => event;

/** The time of the event that the reader saw last. */
const timeOf = async (eventLog: EventLog, { id }: Pick<Session, 'id'>, seq: number): Promise<number> => {
  const { events } = await eventLog.read(id, { since: seq - 1, eventsMax: 1 });
  return events[0]?.at ?? 0;
};

/** The oldest events of a log since a time, as many as one answer holds. */
const since = async (eventLog: EventLog, child: Session, from: number) => {
  const whole = await pageOf(eventLog, child.id, oldestKept(child.lastSeq) - 1);
  const [oldest] = whole.events;
  const isLater = whole.hasMore && oldest !== undefined && oldest.time < from;
  const found = isLater
    ? await pageOf(eventLog, child.id, (await firstSince(eventLog, child, { from, after: oldest.index })) - 1)
    : whole;
  return { ...found, events: found.events.filter(({ time }) => time >= from) };
};

const pageOf = async (eventLog: EventLog, id: Session['id'], after: number) => {
  const { events, hasMore } = await eventLog.read(id, { since: after, ...bounds });
  return { events: events.map((event) => ({ ...shownEvent(id, event), time: event.at })), hasMore };
};

/** The number of the first event behind `after` that is not older; the next one's, if all are. */
const firstSince = async (
  eventLog: EventLog,
  { id, lastSeq }: Session,
  { from, after }: { readonly from: number; readonly after: number },
): Promise<number> => {
  let [older, newer] = [after, lastSeq + 1];
  while (newer - older > 1) {
    const middle = Math.floor((older + newer) / 2);
    if ((await timeOf(eventLog, { id }, middle)) < from) older = middle;
    else newer = middle;
  }
  return newer;
};
