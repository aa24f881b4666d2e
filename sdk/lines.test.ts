import { expect, test } from 'vitest';
import { linesOf } from './lines.ts';

async function* piecesOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each([1, 2, 3, 1000])('a line feed alone ends a line, in pieces of %i bytes', async (size) => {
  const bytes = new TextEncoder().encode('a\u2028b\u2029c\u0085d\r\n\n€𝄞\nlast');
  const lines: string[] = [];
  for await (const line of linesOf(piecesOf(bytes, size))) lines.push(line);
  expect(lines).toEqual(['a\u2028b\u2029c\u0085d\r', '', '€𝄞', 'last']);
});

test('nothing has no line, and a line feed at the end begins none', async () => {
  const of = async (text: string): Promise<number> => {
    let count = 0;
    for await (const _ of linesOf(piecesOf(new TextEncoder().encode(text), 2))) count += 1;
    return count;
  };
  expect([await of(''), await of('a\n')]).toEqual([0, 1]);
});
