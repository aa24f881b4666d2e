/** The README's first screen, executed: it runs as it stands, and prints what it says. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Server, startServer } from './server.ts';
import { linePattern, outputPattern, readTranscripts, runTranscripts } from './transcripts.ts';

const [started, turn] = await readTranscripts('README.md');

let server: Server;
beforeAll(async () => {
  server = await startServer({ variables: { POOL_SIZE: '' } });
});
afterAll(() => server.stop());

test('npm start prints what the README shows', () => {
  const output = server.output().replaceAll(server.url, 'http://127.0.0.1:4350');
  expect([started?.commands, started?.printed.length]).toEqual([['npm start'], 6]);
  for (const line of started?.printed ?? []) expect(output).toMatch(linePattern(line));
});

test('the turn of the README runs and answers as shown', async () => {
  if (turn === undefined) throw new Error('the README has no turn');
  const [output] = await runTranscripts([turn], server);
  expect(output).toMatch(outputPattern(turn.printed));
});
