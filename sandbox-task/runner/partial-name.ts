/**
 * The partial: a file that is not whole yet, beside the place it will have.
 *
 * Beside it, because a rename is one step only within one file system. Listings and checkpoints pass over
 * these names; whoever gives a file of their own such a name hides it from both.
 */
import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';

const prefix = '.sallyport-partial-';

export const isPartial = (name: string): boolean => name.startsWith(prefix);

/** A hash of the name, because a name may already be as long as one can be. */
export const partialOf = (place: string): string => {
  const hash = createHash('sha256').update(basename(place)).digest('hex');
  return join(dirname(place), `${prefix}${hash.slice(0, 32)}`);
};
