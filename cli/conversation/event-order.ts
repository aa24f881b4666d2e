/** The order of a session's events: frames come in any order and more than once, and leave by number, once. */
export type Frame = {
  readonly type: string;
  readonly sessionId: string;
  readonly seq: number | null;
  readonly data: Readonly<Record<string, unknown>>;
};
export type LoggedFrame = Frame & { readonly seq: number };

export type EventOrder = {
  /** The last number that was given out. */
  readonly lastSeq: number;
  /** Frames that came before their turn. */
  readonly early: readonly LoggedFrame[];
};

export const orderFrom = (lastSeq: number): EventOrder => ({ lastSeq, early: [] });

export const acceptFrames = (
  { lastSeq, early }: EventOrder,
  frames: readonly LoggedFrame[],
): { readonly order: EventOrder; readonly ready: readonly LoggedFrame[] } => {
  const waiting = new Map([...early, ...frames].map((frame) => [frame.seq, frame]));
  const ready: LoggedFrame[] = [];
  let last = lastSeq;
  for (let next = waiting.get(last + 1); next !== undefined; next = waiting.get(last + 1)) {
    ready.push(next);
    last = next.seq;
  }
  return {
    order: { lastSeq: last, early: [...waiting.values()].filter(({ seq }) => seq > last) },
    ready,
  };
};

/** Gives up on what is before a number: the log has dropped it. */
export const skipTo = (order: EventOrder, oldestSeq: number): EventOrder =>
  order.lastSeq >= oldestSeq - 1 ? order : { ...order, lastSeq: oldestSeq - 1 };
