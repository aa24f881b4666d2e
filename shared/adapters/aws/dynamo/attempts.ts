/**
 * Names of conditional writes whose caller must know whether they are its own. The SDK sends a write again whose answer was lost, and
 * its condition refuses the repeat then: the name, which the item keeps, tells such a repeat from the write of another caller.
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
