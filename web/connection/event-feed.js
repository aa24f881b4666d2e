/**
 * The session's log as it reaches this page: each event once, in order, whatever the socket did.
 *
 * It waits a moment for a frame that was overtaken, and fetches what is missing. What the server no longer has
 * is skipped, and said.
 * @import { LoggedFrame } from './event-order.js'
 */
import { acceptFrames, emptyOrder, expectUpTo, hasGap, skipTo } from './event-order.js';

/** Frames overtake each other by milliseconds; what is later than this was lost. */
const gapPatienceMs = 500;
const fetchRetryMs = 3000;

/**
 * @typedef {{ readonly isAnswered: boolean, readonly frames: readonly LoggedFrame[],
 *   readonly oldestSeq: number | null }} EventPage
 *
 * @typedef {{
 *   readonly fetchAfter: (seq: number) => Promise<EventPage>,
 *   readonly onFrame: (frame: LoggedFrame) => void,
 *   readonly onEventsLost: (oldestSeq: number) => void,
 * }} FeedOptions
 *
 * @typedef {{
 *   readonly take: (frame: LoggedFrame) => void,
 *   readonly expect: (lastSeq: number) => void,
 *   readonly lastSeq: () => number,
 *   readonly stop: () => void,
 * }} EventFeed
 */

/**
 * @param {FeedOptions} options
 * @returns {EventFeed}
 */
export const openEventFeed = ({ fetchAfter, onFrame, onEventsLost }) => {
  let order = emptyOrder;
  let isStopped = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @param {readonly LoggedFrame[]} frames */
  const deliver = (frames) => {
    const accepted = acceptFrames(order, frames);
    order = accepted.order;
    for (const frame of accepted.ready) onFrame(frame);
    watch(gapPatienceMs);
  };

  /** @param {number} patienceMs */
  const watch = (patienceMs) => {
    if (timer !== undefined && hasGap(order)) return;
    clearTimeout(timer);
    timer = hasGap(order) && !isStopped ? setTimeout(fill, patienceMs) : undefined;
  };

  const fill = async () => {
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
