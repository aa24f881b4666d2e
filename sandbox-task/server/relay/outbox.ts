/** The bytes on their way out of the sandbox, numbered from 0, kept until the platform says that it has them. */

export type Outbox = {
  readonly push: (bytes: Uint8Array) => void;
  /** The first piece that begins at or after the offset; undefined: everything before it was pushed. */
  readonly from: (offset: number) => Uint8Array | undefined;
  /** The platform has every byte before the offset. False for one that was never pushed, or is behind what it had. */
  readonly acknowledge: (offset: number) => boolean;
  readonly waitingBytes: () => number;
  /** Resolves with the next push, or at once for a later offset than the caller's. */
  readonly pushed: (offset: number) => Promise<void>;
  /** Ends the wait of `pushed`. */
  readonly wake: () => void;
};

type Piece = { readonly offset: number; readonly bytes: Uint8Array };

export const createOutbox = (): Outbox => {
  const pieces: Piece[] = [];
  let begin = 0;
  let end = 0;
  let next = Promise.withResolvers<void>();
  const wake = (): void => {
    next.resolve();
    next = Promise.withResolvers<void>();
  };
  return {
    push(bytes) {
      if (bytes.length === 0) return;
      pieces.push({ offset: end, bytes });
      end += bytes.length;
      wake();
    },
    from(offset) {
      const piece = pieces.find((one) => one.offset + one.bytes.length > offset);
      return piece?.bytes.subarray(Math.max(0, offset - piece.offset));
    },
    acknowledge(offset) {
      if (offset < begin || offset > end) return false;
      begin = offset;
      while (pieces[0] !== undefined && pieces[0].offset + pieces[0].bytes.length <= offset) pieces.shift();
      return true;
    },
    waitingBytes: () => end - begin,
    wake,
    pushed: (offset) => (offset < end ? Promise.resolve() : next.promise),
  };
};
