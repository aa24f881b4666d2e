/**
 * The session's log as it reaches this app: each event once, in order, whatever the socket did.
 *
 * It waits a moment for a frame that was overtaken, and fetches what is missing. What the server no longer has is
 * skipped, and said.
 */
import { acceptFrames, emptyOrder, expectUpTo, hasGap, type LoggedFrame, skipTo } from './event-order.ts';

/** Frames overtake each other by milliseconds; what is later than this was lost. */
const gapPatienceMs = 500;
const fetchRetryMs = 3000;

export type EventPage = {
  readonly isAnswered: boolean;
  readonly frames: readonly LoggedFrame[];
  readonly oldestSeq: number | null;
};

export type FeedOptions = {
  readonly fetchAfter: (seq: number) => Promise<EventPage>;
  readonly onFrame: (frame: LoggedFrame) => void;
  readonly onEventsLost: (oldestSeq: number) => void;
};

export type EventFeed = {
  readonly take: (frame: LoggedFrame) => void;
  readonly expect: (lastSeq: number) => void;
  readonly lastSeq: () => number;
  readonly stop: () => void;
};

export const openEventFeed = ({ fetchAfter, onFrame, onEventsLost }: FeedOptions): EventFeed => {
  let order = emptyOrder;
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const deliver = (frames: readonly LoggedFrame[]): void => {
    const accepted = acceptFrames(order, frames);
    order = accepted.order;
    for (const frame of accepted.ready) onFrame(frame);
    watch(gapPatienceMs);
  };

  const watch = (patienceMs: number): void => {
    if (timer !== undefined && hasGap(order)) return;
    clearTimeout(timer);
    timer = hasGap(order) && !isStopped ? setTimeout(() => void fill(), patienceMs) : undefined;
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
    take: (frame) => deliver([frame]),
    expect: (lastSeq) => {
      order = expectUpTo(order, lastSeq);
      watch(gapPatienceMs);
    },
    lastSeq: () => order.lastSeq,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};
