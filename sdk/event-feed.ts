/**
 * The session's log as it reaches a client: each event once, in order, whatever the socket did.
 *
 * It waits a moment for a frame that was overtaken, and fetches what is missing. Events that the server no longer has are
 * skipped, and that is reported.
 */

import type { ApiClient } from './api-client.ts';
import { SallyportError } from './errors.ts';
import { acceptFrames, expectUpTo, hasGap, type LoggedFrame, orderAfter, skipTo } from './event-order.ts';
import { api } from './routes.ts';

/** Frames overtake each other by milliseconds; what is later than this was lost. */
const gapMsMax = 500;
const fetchRetryMs = 3000;
export const eventsPerPageMax = 500;

export type EventPage = {
  readonly isAnswered: boolean;
  readonly frames: readonly LoggedFrame[];
  readonly oldestSeq: number | null;
  /** Why there is no answer. */
  readonly error?: unknown;
};

export type FeedOptions = {
  /** The last event that is known; undefined: the last one there is when the server first says so. */
  readonly since: number | undefined;
  readonly fetchAfter: (seq: number) => Promise<EventPage>;
  readonly onFrame: (frame: LoggedFrame) => void;
  readonly onEventsLost: (oldestSeq: number) => void;
};

export type EventFeed = {
  readonly take: (frame: LoggedFrame) => void;
  /** The server has said up to where its log goes. */
  readonly expect: (lastSeq: number) => void;
  /** An event is there of which the frame had only a part. */
  readonly fetch: (seq: number) => void;
  readonly lastSeq: () => number | undefined;
  readonly stop: () => void;
};

export const openEventFeed = ({ since, fetchAfter, onFrame, onEventsLost }: FeedOptions): EventFeed => {
  let order = orderAfter(since ?? -1);
  let isStarted = since !== undefined;
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const deliver = (frames: readonly LoggedFrame[]): void => {
    const accepted = acceptFrames(order, frames);
    order = accepted.order;
    for (const frame of accepted.ready) onFrame(frame);
    watch(gapMsMax);
  };

  const watch = (waitMs: number): void => {
    if (timer !== undefined && hasGap(order)) return;
    clearTimeout(timer);
    timer = hasGap(order) && !isStopped ? setTimeout(() => void fill(), waitMs) : undefined;
  };

  const fill = async (): Promise<void> => {
    const { isAnswered, frames, oldestSeq } = await fetchAfter(order.lastSeq);
    timer = undefined;
    if (isStopped) return;
    if (!isAnswered) return watch(fetchRetryMs);
    if (oldestSeq !== null && oldestSeq > order.lastSeq + 1) {
      order = skipTo(order, oldestSeq);
      onEventsLost(oldestSeq);
    }
    deliver(frames);
  };

  return {
    take: (frame) => {
      if (isStarted) deliver([frame]);
    },
    expect: (lastSeq) => {
      if (!isStarted) order = orderAfter(lastSeq);
      isStarted = true;
      order = expectUpTo(order, lastSeq);
      watch(gapMsMax);
    },
    fetch: (seq) => {
      if (!isStarted) return;
      order = expectUpTo(order, seq);
      watch(0);
    },
    lastSeq: () => (isStarted ? order.lastSeq : undefined),
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};

/** The events after a number by REST, and the oldest number that is still kept. */
export const fetchEvents = async (
  sallyport: ApiClient,
  sessionId: string,
  { since, signal }: { readonly since: number; readonly signal?: AbortSignal | undefined },
): Promise<EventPage> => {
  try {
    const parts = { params: { id: sessionId }, query: { since_index: since, max_events: eventsPerPageMax } };
    const { events } = await sallyport.request(api.readEvents, parts, { signal });
    const frames = events.map(({ index, ...event }) => ({ ...event, seq: index }) as unknown as LoggedFrame);
    return { isAnswered: true, frames, oldestSeq: frames[0]?.seq ?? null };
  } catch (error) {
    const oldestSeq = (error instanceof SallyportError ? error.facts.oldestIndex : undefined) ?? null;
    return { isAnswered: oldestSeq !== null, frames: [], oldestSeq, error };
  }
};
