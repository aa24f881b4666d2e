/** A thousand generated commands: applying the effect of each equals running it, file for file, mode for mode. */

import { tallyEffects } from '../linked/applied-effects.ts';
import { openBucket } from '../linked/linked-sandbox.ts';
import { atLeast, exactly, type Proof } from './proof.ts';

const commandCount = 1000;
const seed = 20_261_123;

export const appliedEffects: Proof = async (progress) => {
  const { bucket, close } = await openBucket();
  const tally = await tallyEffects(bucket, {
    ...{ count: commandCount, seed },
    progress: (done) => progress(`${done} commands are compared`),
  }).finally(close);
  for (const difference of tally.differences) progress(JSON.stringify(difference));
  return [
    atLeast('commands of which the applied effect was compared with a run', tally.compared, commandCount),
    atLeast('of these, commands that changed a file', tally.changing, Math.floor(commandCount / 3)),
    exactly('differences', tally.differences.length, 0),
  ];
};
