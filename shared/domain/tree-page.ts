/**
 * A page of the logs of a session and its descendants: in the order of time, within the bounds of one answer.
 *
 * A log that was not read to its end bounds the page: nothing later than its last event is shown, so that a reader who
 * continues after the page misses nothing. The logs are merged one after another; no more than a page of each is held.
 */
import { bytesOf, withinBytes } from './event-log.ts';
import type { SessionId } from './ids.ts';

type TimedEvent = { readonly sessionId: SessionId; readonly index: number; readonly time: number };

/** Events of one log, oldest first. */
type LogPart<E extends TimedEvent> = { readonly events: readonly E[]; readonly hasMore: boolean };

type PageBounds = { readonly eventsMax: number; readonly bytesMax: number };

export type TreePage<E extends TimedEvent> = {
  readonly events: readonly E[];
  /** Nothing later is shown. */
  readonly to: number;
  readonly isCut: boolean;
};

/** The page, and the events of one more log. */
export const withLog = <E extends TimedEvent>(
  page: TreePage<E>,
  { events, hasMore }: LogPart<E>,
  bounds: PageBounds,
): TreePage<E> => {
  const to = hasMore ? Math.min(page.to, events.at(-1)?.time ?? page.to) : page.to;
  const merged = [...page.events, ...events].sort((one, other) => one.time - other.time);
  const fitting = withinBounds(
    merged.filter(({ time }) => time <= to),
    bounds,
  );
  if (fitting.length === merged.length) return { events: fitting, to, isCut: page.isCut || hasMore };
  return { events: fitting, to: Math.min(to, fitting.at(-1)?.time ?? to), isCut: true };
};

const withinBounds = <E>(events: readonly E[], { eventsMax, bytesMax }: PageBounds): readonly E[] =>
  withinBytes(events.slice(0, eventsMax), bytesMax);

/** The page with an event behind all others, in the room of the last of them. */
export const endingWith = <E extends TimedEvent>(
  events: readonly E[],
  last: E,
  { eventsMax, bytesMax }: PageBounds,
): readonly E[] => [
  ...withinBounds(events, { eventsMax: eventsMax - 1, bytesMax: bytesMax - bytesOf(last) }),
  last,
];

/** Number and time of the events of one log that were read for a page. */
export type ReadLog = {
  readonly sessionId: SessionId;
  readonly read: readonly { readonly index: number; readonly time: number }[];
  readonly hasMore: boolean;
};

export type LeftOut = { readonly sessionId: SessionId; readonly sinceIndex: number };

/** The logs that have events before `horizon` which the page does not show, and from where those begin. */
export const leftOutOf = (
  logs: readonly ReadLog[],
  shown: readonly TimedEvent[],
  horizon: number,
): readonly LeftOut[] => {
  const known = new Set(shown.map(({ sessionId, index }) => `${sessionId}#${index}`));
  return logs.flatMap(({ sessionId, read, hasMore }) => {
    const missing = read.find(({ index, time }) => time < horizon && !known.has(`${sessionId}#${index}`));
    const last = read.at(-1);
    if (missing !== undefined) return [{ sessionId, sinceIndex: missing.index - 1 }];
    const isBeyond = hasMore && last !== undefined && last.time < horizon;
    return isBeyond ? [{ sessionId, sinceIndex: last.index }] : [];
  });
};
