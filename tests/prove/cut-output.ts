/** An output larger than what is kept of it, read by three clients that each lose their connection fifty times. */
import { rm } from 'node:fs/promises';
import { readThroughCuts } from '../e2e/cut-readers.ts';
import { startServer } from '../e2e/server.ts';
import { exactly, type Proof } from './proof.ts';

const reading = { readers: 3, cuts: 50, blocks: 220 };

export const cutOutput: Proof = async () => {
  const server = await startServer({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } });
  const read = await readThroughCuts(server, reading);
  await server.stop();
  await rm(server.home, { recursive: true, force: true });
  const sum = (count: (one: (typeof read)[number]) => number): number =>
    read.reduce((total, one) => total + count(one), 0);
  return [
    exactly(
      'connections that broke',
      sum(({ cutsLeft }) => reading.cuts - cutsLeft),
      reading.readers * reading.cuts,
    ),
    exactly(
      'readers with the whole output, in order and once',
      sum(({ isWhole }) => Number(isWhole)),
      reading.readers,
    ),
    exactly(
      'gaps',
      sum(({ gaps }) => gaps),
      0,
    ),
  ];
};
