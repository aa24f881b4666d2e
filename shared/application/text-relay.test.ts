import { expect, test } from 'vitest';
import type { Frame } from '../contracts/frames.ts';
import { unnumberedFrame } from '../contracts/frames.ts';
import type { SessionId } from '../domain/ids.ts';
import { utf8Bytes } from '../domain/text.ts';
import type { World } from '../ports/world.ts';
import { openTextRelay } from './text-relay.ts';

const world: World = { now: () => 0, uuid: () => '', sha256: () => '', sleep: () => Promise.resolve() };

const relayed = async (pieces: readonly { offset: number; text: string }[]) => {
  const frames: Frame[] = [];
  const audience = {
    tell: (told: readonly Frame[]) => {
      frames.push(...told);
      return Promise.resolve();
    },
    refresh: () => undefined,
  };
  const relay = openTextRelay({ audience, world, lengthOf: utf8Bytes }, (key: string, piece) =>
    unnumberedFrame('tool:progress', { sessionId: 's' as SessionId, at: 0, data: { key, ...piece } }),
  );
  for (const piece of pieces) relay.push('out', piece);
  await relay.flush();
  return frames.map(({ data }) => data as { offset: number; text: string });
};

test('the first piece goes at once, what comes meanwhile goes as one', async () => {
  const pieces = ['a', 'b', 'c'].map((text, offset) => ({ offset, text }));
  expect(await relayed(pieces)).toEqual([
    { key: 'out', offset: 0, text: 'a' },
    { key: 'out', offset: 1, text: 'bc' },
  ]);
});

test('a long text is cut on code points, and offsets count bytes', async () => {
  const text = '€'.repeat(6000);
  const pieces = await relayed([{ offset: 10, text }]);
  expect(pieces.map((piece) => piece.text).join('')).toBe(text);
  expect(pieces.map(({ offset }) => offset)).toEqual([10, 8200, 16390]);
});
