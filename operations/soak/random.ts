/** Numbers that a seed decides (mulberry32): the same seed asks for the same work in the same order. */

export type Random = {
  /** From 0 to 1. */
  readonly next: () => number;
  readonly pick: <T>(from: readonly [T, ...T[]]) => T;
  /** Whole, both bounds included. */
  readonly between: (least: number, most: number) => number;
  /** One of its own, so that what runs side by side does not disturb another's order. */
  readonly branch: () => Random;
};

export const randomFrom = (seed: number): Random => {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    pick: (from) => from[Math.floor(next() * from.length)] ?? from[0],
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    branch: () => randomFrom(Math.floor(next() * 2 ** 32)),
  };
};
