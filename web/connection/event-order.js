/**
 * The order of a session's events: frames come in any order and more than once, and leave by number, once.
 *
 * Pure. An order knows the last number it gave out, the highest it has heard of, and the frames that came
 * early; while it has a gap, somebody must fetch what is missing.
 * @import { Frame } from './protocol.js'
 */

/**
 * @typedef {Frame & { readonly seq: number }} LoggedFrame
 * @typedef {{
 *   readonly lastSeq: number,
 *   readonly knownSeq: number,
 *   readonly early: ReadonlyMap<number, LoggedFrame>,
 * }} EventOrder
 */

/** @type {EventOrder} */
export const emptyOrder = { lastSeq: -1, knownSeq: -1, early: new Map() };

/**
 * Takes frames in and gives out those whose turn it is.
 * @param {EventOrder} order
 * @param {readonly LoggedFrame[]} frames
 * @returns {{ readonly order: EventOrder, readonly ready: readonly LoggedFrame[] }}
 */
export const acceptFrames = ({ lastSeq, knownSeq, early }, frames) => {
  const waiting = new Map(early);
  for (const frame of frames) if (frame.seq > lastSeq) waiting.set(frame.seq, frame);
  const ready = [];
  let last = lastSeq;
  for (let next = waiting.get(last + 1); next !== undefined; next = waiting.get(last + 1)) {
    ready.push(next);
    waiting.delete(next.seq);
    last = next.seq;
  }
  return {
    order: { lastSeq: last, knownSeq: Math.max(knownSeq, last, ...waiting.keys()), early: waiting },
    ready,
  };
};

/**
 * The server has said up to where its log goes.
 * @param {EventOrder} order
 * @param {number} seq
 * @returns {EventOrder}
 */
export const expectUpTo = (order, seq) => ({ ...order, knownSeq: Math.max(order.knownSeq, seq) });

/**
 * Gives up on what is before a number: the log has dropped it.
 * @param {EventOrder} order
 * @param {number} seq the oldest number there is
 * @returns {EventOrder}
 */
export const skipTo = (order, seq) => ({ ...order, lastSeq: Math.max(order.lastSeq, seq - 1) });

/**
 * @param {EventOrder} order
 * @returns {boolean}
 */
export const hasGap = ({ lastSeq, knownSeq }) => knownSeq > lastSeq;
