import { expect, test } from 'vitest';
import { frameBytesMax } from './limits.ts';
import { joinPieces, type OutputPiece, pieceBytesMax } from './terminal-output.ts';
import { utf8Bytes } from './text.ts';

const piece = (offset: number, text: string, stream: OutputPiece['stream'] = 'pty'): OutputPiece => ({
  ...{ stream, offset, bytes: utf8Bytes(text), text },
});

test('pieces that follow each other are one frame', () => {
  expect(joinPieces([piece(5, 'é'), piece(7, 'b'), piece(8, 'c')])).toEqual([piece(5, 'ébc')]);
});

test('a gap and another stream begin a new frame', () => {
  const pieces = [piece(0, 'a'), piece(9, 'b'), piece(10, 'c', 'stderr'), piece(11, 'd', 'stdout')];
  expect(joinPieces(pieces)).toEqual(pieces);
});

test.each(['x', '\u001b', '\u{1f600}', '"'])('no frame is too long, whatever it holds: %j', (character) => {
  const text = character.repeat(Math.floor(pieceBytesMax / utf8Bytes(character)));
  const pieces = Array.from({ length: 20 }, (_, index) => piece(index * utf8Bytes(text), text));
  const frames = joinPieces(pieces);
  for (const { text: joined } of frames)
    expect(utf8Bytes(JSON.stringify(joined))).toBeLessThan(frameBytesMax - 256);
  expect(frames.map(({ text: joined }) => joined).join('')).toBe(text.repeat(20));
});
