/**
 * The order of a session's events: frames arrive in any order and more than once, and leave by number, once each.
 *
 * Pure. An order knows the last number that it gave out, the highest number that it has heard of, and the frames that came
 * early. While it has a gap, the missing frames must be fetched.
 */
import type { Frame } from './frames.ts';

export type LoggedFrame = Frame & { readonly seq: number };

export type EventOrder = {
  readonly lastSeq: number;
  readonly knownSeq: number;
  readonly early: ReadonlyMap<number, LoggedFrame>;
};

/** Of events after this number. */
export const orderAfter = (seq: number): EventOrder => ({ lastSeq: seq, knownSeq: seq, early: new Map() });

/** Takes frames in and gives out those whose turn it is. */
export const acceptFrames = (
  { lastSeq, knownSeq, early }: EventOrder,
  frames: readonly LoggedFrame[],
): { readonly order: EventOrder; readonly ready: readonly LoggedFrame[] } => {
  const waiting = new Map(early);
  for (const frame of frames) if (frame.seq > lastSeq) waiting.set(frame.seq, frame);
  const ready: LoggedFrame[] = [];
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

/** The server has said up to where its log goes. */
export const expectUpTo = (order: EventOrder, seq: number): EventOrder => ({
  ...order,
  knownSeq: Math.max(order.knownSeq, seq),
});

/** Gives up on what is before a number, the oldest there is: the log has dropped it. */
export const skipTo = (order: EventOrder, seq: number): EventOrder => ({
  ...order,
  lastSeq: Math.max(order.lastSeq, seq - 1),
});

export const hasGap = ({ lastSeq, knownSeq }: EventOrder): boolean => knownSeq > lastSeq;
