/** Pieces of streamed text that come again after a lost connection. */
import { expect, test } from 'vitest';
import type { Frame } from './frames.ts';
import { openTextPieces } from './text-pieces.ts';

const piece = (offset: number, text: string, type: 'delta' | 'reasoning_delta' = 'delta'): Frame => ({
  ...{ type, sessionId: 's', seq: null, at: 'T' },
  data: { messageId: 'm', offset, text },
});

test('text that comes again from its beginning is passed on once', () => {
  const rest = openTextPieces();
  const frames = [piece(0, 'one '), piece(0, 'one two '), piece(0, 'one'), piece(8, 'three')].map(rest);
  expect(frames).toEqual([piece(0, 'one '), piece(4, 'two '), undefined, piece(8, 'three')]);
});

test('thoughts have offsets of their own, and what follows a gap is passed on until the gap is filled', () => {
  const rest = openTextPieces();
  const frames = [piece(0, 'hm', 'reasoning_delta'), piece(3, 'd'), piece(0, 'abcde')];
  expect(frames.map(rest)).toEqual(frames);
  expect(rest(piece(3, 'def'))).toEqual(piece(5, 'f'));
});
