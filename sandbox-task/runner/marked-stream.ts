/**
 * A stream that outlives calls: the output of one call lies between two marks, and the rest is dropped.
 *
 * The marks are random, so that a program does not print one by accident. Output of a thread or
 * a process of an earlier call during another call cannot be told apart from that call's own.
 */
export type MarkedStream = {
  readonly push: (chunk: Buffer) => void;
  /** From the first mark on `take` gets the output; the promise resolves at the second. */
  readonly open: (marks: Marks, onOutput: (chunk: Buffer) => void) => Promise<void>;
  /** The end mark will not come: what is held back is output. */
  readonly abandon: () => void;
};
type Marks = { readonly begin: string; readonly end: string };

const empty = Buffer.alloc(0);

export const createMarkedStream = (): MarkedStream => {
  let awaited:
    | { begin: Buffer; end: Buffer; onOutput: (chunk: Buffer) => void; done: () => void }
    | undefined;
  let isInside = false;
  let held: Buffer = empty;

  const give = (bytes: Buffer): void => {
    if (isInside && bytes.length > 0) awaited?.onOutput(Buffer.from(bytes));
  };
  /** Up to the next mark; false when there is none in what is held. */
  const step = (): boolean => {
    if (awaited === undefined) {
      held = empty;
      return false;
    }
    const mark = isInside ? awaited.end : awaited.begin;
    const at = held.indexOf(mark);
    const until = at >= 0 ? at : held.length - partialMark(held, mark);
    give(held.subarray(0, until));
    held = held.subarray(at >= 0 ? at + mark.length : until);
    if (at < 0) return false;
    if (isInside) {
      awaited.done();
      awaited = undefined;
    }
    isInside = !isInside;
    return true;
  };
  return {
    push: (chunk) => {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      while (step());
    },
    open: ({ begin, end }, onOutput) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      awaited = { begin: Buffer.from(begin), end: Buffer.from(end), onOutput, done: resolve };
      isInside = false;
      return promise;
    },
    abandon: () => {
      give(held);
      held = empty;
      awaited?.done();
      awaited = undefined;
      isInside = false;
    },
  };
};

/** The number of last bytes that may be the start of a mark. */
const partialMark = (bytes: Buffer, mark: Buffer): number => {
  for (let length = Math.min(mark.length - 1, bytes.length); length > 0; length -= 1) {
    if (bytes.subarray(bytes.length - length).equals(mark.subarray(0, length))) return length;
  }
  return 0;
};
