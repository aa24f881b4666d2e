/** The proofs of a run, by the names that are asked for. */
import { expect, test } from 'vitest';
import { type Proof, planOf } from './proof.ts';

const proof = (name: string, more: Partial<Proof> = {}): Proof => ({
  ...{ name, about: name, prove: () => Promise.reject(new Error('a plan makes no proof')) },
  ...more,
});
const proofs = [proof('short'), proof('other'), proof('long', { isOnRequest: true })];

test.each([
  [[], ['short', 'other'], []],
  [['other'], ['other'], ['short']],
  [['long'], ['long'], ['short', 'other']],
])('asked for %j, these are made: %j, and these left out: %j', (wanted, made, left) => {
  const plan = planOf(proofs, wanted);
  const names = (isMade: boolean) => plan.filter((one) => one.isMade === isMade).map((one) => one.proof.name);
  expect([names(true), names(false)]).toEqual([made, left]);
});
