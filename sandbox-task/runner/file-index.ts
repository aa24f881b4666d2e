/**
 * The file index: the stat of every entry when a checkpoint or a restore had its content.
 *
 * A file with the same stat has the same content, unless it was written without a new ctime: only a change within one
 * tick of the kernel's clock does that, and such a stat is not recorded. Numbers lie in a typed array, because the runner
 * lives on the memory of user code.
 */
import type { BigIntStats } from 'node:fs';

/** The fields of a stat that tell whether the entry has changed. */
export type Traits = Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs' | 'ctimeNs' | 'mode'>;

export type FileIndex = {
  readonly add: (path: string, traits: Traits) => void;
  readonly isSame: (path: string, traits: Traits) => boolean;
  readonly paths: () => Iterable<string>;
  readonly size: () => number;
  /** True when both have the same entries, each with the same stat, and all are known. */
  readonly equals: (other: FileIndex) => boolean;
};

/** The kernel's clock ticks every 10 ms at the slowest (CONFIG_HZ=100). */
export const settleMs = 20;
const indicesMax = 3;
const columns = 5;

export const createFileIndex = (): FileIndex => {
  const slots = new Map<string, number>();
  let numbers = new BigInt64Array(1024 * columns);
  const traitsAt = (slot: number): Traits => {
    const [ino = 0n, size = 0n, mtimeNs = 0n, ctimeNs = 0n, mode = 0n] = numbers.subarray(slot * columns);
    return { ino, size, mtimeNs, ctimeNs, mode };
  };
  return {
    add(path, traits) {
      const slot = slots.get(path) ?? slots.size;
      slots.set(path, slot);
      if ((slot + 1) * columns > numbers.length) {
        const larger = new BigInt64Array(2 * numbers.length);
        larger.set(numbers);
        numbers = larger;
      }
      numbers.set(numbersOf(traits), slot * columns);
    },
    isSame(path, traits) {
      const slot = slots.get(path);
      return (
        slot !== undefined && numbersOf(traits).every((value, at) => numbers[slot * columns + at] === value)
      );
    },
    paths: () => slots.keys(),
    size: () => slots.size,
    equals: (other) =>
      other.size() === slots.size &&
      [...slots].every(([path, slot]) => {
        const traits = traitsAt(slot);
        return traits.mode !== unknownTraits.mode && other.isSame(path, traits);
      }),
  };
};

const numbersOf = ({ ino, size, mtimeNs, ctimeNs, mode }: Traits): readonly bigint[] => [
  BigInt.asIntN(64, ino),
  size,
  mtimeNs,
  ctimeNs,
  mode,
];

/** False for a change so young that another one could bear the same time. */
export const isSettled = ({ ctimeNs }: BigIntStats, nowMs: number): boolean =>
  Number(ctimeNs / 1_000_000n) < nowMs - settleMs;

type IndexCache = {
  readonly find: (checkpoint: string) => FileIndex | undefined;
  readonly keep: (checkpoint: string, index: FileIndex) => void;
};

/** The three indices stored or used last: a base in use outlives failed checkpoints. */
export const createIndexCache = (): IndexCache => {
  const indices = new Map<string, FileIndex>();
  const keep = (checkpoint: string, index: FileIndex): void => {
    indices.delete(checkpoint);
    indices.set(checkpoint, index);
    const [oldest] = indices.keys();
    if (indices.size > indicesMax && oldest !== undefined) indices.delete(oldest);
  };
  return {
    find(checkpoint) {
      const index = indices.get(checkpoint);
      if (index !== undefined) keep(checkpoint, index);
      return index;
    },
    keep,
  };
};

/** For an entry that must be sent again: no stat is equal to it. */
export const unknownTraits: Traits = { ino: 0n, size: 0n, mtimeNs: 0n, ctimeNs: 0n, mode: 0n };

/** A folder's times and size change with its content, and only its mode is saved. */
export const traitsOf = (stat: BigIntStats): Traits =>
  stat.isDirectory() ? { ...unknownTraits, mode: stat.mode & 0o170777n } : stat;
