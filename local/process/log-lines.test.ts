import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { logLines } from './log-lines.ts';

const logged = async (pieces: readonly (string | Buffer)[]): Promise<string[]> => {
  const output = new PassThrough();
  const lines: string[] = [];
  logLines(output, (line) => lines.push(line));
  for (const piece of pieces) {
    output.write(piece);
    await new Promise(setImmediate);
  }
  output.end();
  await once(output, 'close');
  return lines;
};

test('a line that comes in pieces is one line', async () => {
  expect(await logged(['bwrap: ', "Can't find source path /a", ': Permission denied\n'])).toEqual([
    "bwrap: Can't find source path /a: Permission denied",
  ]);
});

test('a piece of several lines is as many, without the empty ones; a last one needs no end', async () => {
  expect(await logged(['one\n\ntwo\r\nth', 'ree'])).toEqual(['one', 'two', 'three']);
});

test('a character that is cut between two pieces stays whole', async () => {
  const bytes = Buffer.from('Größe\n');
  expect(await logged([bytes.subarray(0, 3), bytes.subarray(3)])).toEqual(['Größe']);
});

test('a line without an end is logged in parts, so that no more than one is held', async () => {
  const lines = await logged(Array.from({ length: 5 }, () => 'x'.repeat(40_000)));
  expect(lines.map((line) => line.length)).toEqual([80_000, 80_000, 40_000]);
});
