/** Readers of one process whose connections break again and again: each has its whole output, in order and once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readThroughCuts } from './cut-readers.ts';
import { type Server, startServer } from './server.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } });
});
afterAll(() => server.stop());

test('three readers whose connections break ten times each miss nothing and get nothing twice', async () => {
  const read = await readThroughCuts(server, { readers: 3, cuts: 10, blocks: 45 });
  expect(read).toEqual(read.map(() => ({ cutsLeft: 0, gaps: 0, isWhole: true })));
});
