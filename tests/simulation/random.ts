/** A seeded source of chance: the same seed gives the same numbers on every machine (mulberry32). */

export type Random = {
  /** From 0 up to, never including, 1. */
  readonly next: () => number;
  /** A whole number, both ends included. */
  readonly int: (min: number, max: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(items: readonly T[]) => T;
  /** As often small as large: every order of magnitude between the two is equally likely. */
  readonly spread: (min: number, max: number) => number;
  readonly uuid: () => string;
};

export const openRandom = (seed: number): Random => {
  let state = (seed * 2_654_435_761 + 0x9e3779b9) | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => Math.floor(next() * 16).toString(16)).join('');
  return {
    next,
    int,
    chance: (probability) => probability > 0 && next() < probability,
    pick: (items) => {
      const item = items[int(0, items.length - 1)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
    spread: (min, max) => Math.round(Math.exp(Math.log(min) + next() * (Math.log(max) - Math.log(min)))),
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`,
  };
};

const seedMax = 2_147_483_647;

/** One of its own, so that what runs side by side does not disturb another's order. */
export const branch = (random: Random): Random => openRandom(random.int(0, seedMax));
