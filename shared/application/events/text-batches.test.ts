import { expect, test, vi } from 'vitest';
import type { Frame } from '../../contracts/frames.ts';
import { unnumberedFrame } from '../../contracts/frames.ts';
import type { SessionId } from '../../domain/ids.ts';
import { utf8Bytes } from '../../domain/text.ts';
import type { World } from '../../ports/world.ts';
import { openTextBatches } from './text-batches.ts';

const world: World = { now: () => 0, uuid: () => '', sha256: () => '', sleep: () => Promise.resolve() };

/** Sleeps only end when they are broken off. */
const openSleeplessWorld = () => {
  const sleeping = new Set<AbortSignal>();
  const sleep: World['sleep'] = (_milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal === undefined) return;
      sleeping.add(signal);
      signal.addEventListener('abort', () => {
        sleeping.delete(signal);
        resolve();
      });
    });
  return { sleeping, sleepless: { ...world, sleep } };
};

const open = (world: World, tell: (frames: readonly Frame[]) => Promise<void>) =>
  openTextBatches(
    {
      publisher: { publish: tell, waitingChanged: () => Promise.resolve(), setSubscribers: () => undefined },
      world,
      lengthOf: utf8Bytes,
    },
    (key: string, piece) =>
      unnumberedFrame('tool:progress', { sessionId: 's' as SessionId, at: 0, data: { key, ...piece } }),
  );

const relayed = async (pieces: readonly { offset: number; text: string }[]) => {
  const frames: Frame[] = [];
  const relay = open(world, async (told) => void frames.push(...told));
  for (const piece of pieces) relay.push('out', piece);
  await relay.flush();
  return frames.map(({ data }) => data as { offset: number; text: string });
};

test('the first piece is sent at once, later pieces are combined', async () => {
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

test('the end of a text does not wait for more, and leaves no timer', async () => {
  const { sleeping, sleepless } = openSleeplessWorld();
  const told: unknown[] = [];
  const relay = open(sleepless, async (frames) => void told.push(...frames.map(({ data }) => data)));
  relay.push('out', { offset: 0, text: 'a' });
  await vi.waitUntil(() => sleeping.size === 1, { timeout: 50_000 });
  relay.push('out', { offset: 1, text: 'b' });
  await relay.flush();
  expect(told).toEqual([
    { key: 'out', offset: 0, text: 'a' },
    { key: 'out', offset: 1, text: 'b' },
  ]);
  expect(sleeping.size).toBe(0);
  // It gathers again afterwards, as before.
  relay.push('out', { offset: 2, text: 'c' });
  await vi.waitUntil(() => sleeping.size === 1, { timeout: 50_000 });
  relay.push('out', { offset: 3, text: 'd' });
  expect(told).toHaveLength(3);
});

test('the end of one text does not wait for another that continues', async () => {
  const told: string[] = [];
  let isOver = false;
  const relay = open(world, async (frames) => {
    told.push(...frames.map(({ data }) => (data as { key: string }).key));
    await new Promise(setImmediate);
    if (!isOver) relay.push('endless', { offset: 0, text: 'x' });
  });
  relay.push('endless', { offset: 0, text: 'x' });
  relay.push('ended', { offset: 0, text: 'last' });
  await relay.flush();
  expect(told).toContain('ended');
  isOver = true;
});
