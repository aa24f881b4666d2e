/**
 * Bounds for JSON from outside: a size and a depth that the rest of the program can take.
 *
 * The depth is counted without recursion: a value nested ten thousand times would overflow the stack of every
 * function that walks it, JSON.stringify among them.
 */
import { utf8Bytes } from './text.ts';

export type JsonBounds = { readonly bytesMax: number; readonly depthMax: number };

export const isWithin = (value: unknown, { bytesMax, depthMax }: JsonBounds): boolean =>
  isShallow(value, depthMax) && utf8Bytes(JSON.stringify(value) ?? '') <= bytesMax;

/** True when no text of a value has half of a surrogate pair: no store takes one, and no canonical form has one. */
export const isWellFormed = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.isWellFormed()
    : typeof value !== 'object' || value === null || Object.entries(value).flat().every(isWellFormed);

const isShallow = (value: unknown, depthMax: number): boolean => {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) return false;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return true;
};
