/**
 * Names of conditional writes whose caller must know whether a write is its own. If the answer to a write is lost, the SDK
 * sends it again, and its condition then refuses the repeat. The item keeps the name, which tells such a repeat from the write
 * of another caller.
 */
import { randomUUID } from 'node:crypto';
import { type Item, isConditionFailed, itemOfFailure } from './table.ts';

/** A write costs by the kilobyte, and few callers meet at one item. */
const nameCharacters = 8;

export const newAttempt = (): string => randomUUID().slice(0, nameCharacters);

/** The item as the attempt left it; undefined when another caller was first. Throws any other error. */
export const itemOfAttempt = (
  error: unknown,
  attempt: string,
  nameIn: (item: Item) => unknown,
): Item | undefined => {
  if (!isConditionFailed(error)) throw error;
  const item = itemOfFailure(error);
  return item !== undefined && nameIn(item) === attempt ? item : undefined;
};
