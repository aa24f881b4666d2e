/** A bit for each byte of a ring: set where the byte is of stderr. */
export type StreamMarks = {
  /** All from the first position to before the last one. */
  readonly set: (from: number, to: number, isOfStderr: boolean) => void;
  readonly has: (position: number) => boolean;
  readonly bytesHeld: () => number;
};

export const createStreamMarks = (bytesMax: number): StreamMarks => {
  const bits = new Uint8Array(Math.ceil(bytesMax / 8));
  const setOne = (position: number, isOfStderr: boolean): void => {
    const byte = bits[position >> 3] ?? 0;
    const bit = 1 << (position & 7);
    bits[position >> 3] = isOfStderr ? byte | bit : byte & ~bit;
  };
  return {
    set: (from, to, isOfStderr) => {
      let at = from;
      for (; at < to && (at & 7) !== 0; at += 1) setOne(at, isOfStderr);
      if (at < to) bits.fill(isOfStderr ? 255 : 0, at >> 3, to >> 3);
      for (at = Math.max(at, to & ~7); at < to; at += 1) setOne(at, isOfStderr);
    },
    has: (position) => (((bits[position >> 3] ?? 0) >> (position & 7)) & 1) === 1,
    bytesHeld: () => bits.length,
  };
};
