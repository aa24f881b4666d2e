/** A gigabyte that is forked: no object is copied, and the fork is ready as soon as a plain restore of the same files. */
import { forkCost } from '../../operations/bench/fork-cost.ts';
import type { Proof } from './proof.ts';

export const largeFork: Proof = async (progress) => {
  const { text, floor, isMet } = await forkCost({
    ...{ megabytes: 1024, ratioMax: 1.2, rounds: { min: 2, max: 5 } },
    progress,
  });
  progress(`\n${text}`);
  return [{ what: floor, counted: isMet ? 'as wanted' : 'not so', wanted: 'all', isMet }];
};
