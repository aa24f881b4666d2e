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
      publisher: {
        ...{ publish: tell, waitingChanged: () => Promise.resolve() },
        ...{ subscribers: () => [], setSubscribers: () => undefined },
      },
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
  const text = '€'.repeat(20_000);
  const pieces = await relayed([{ offset: 10, text }]);
  expect(pieces.map((piece) => piece.text).join('')).toBe(text);
  expect(pieces.map(({ offset }) => offset)).toEqual([10, 28_681, 57_352]);
});

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html */
const gatewayFrameBytesMax = 32 * 1024;

test.each([
  ['plain', 'a'],
  ['escaped to two bytes', '"'],
  ['escaped to six bytes', '\u001b'],
])('a text that is %s in JSON fits into frames of the gateway, which are filled', async (_how, character) => {
  const frames: Frame[] = [];
  const batches = open(world, async (told) => void frames.push(...told));
  batches.push('out', { offset: 0, text: character.repeat(50_000) });
  await batches.flush();
  const sizes = frames.map((frame) => utf8Bytes(JSON.stringify(frame)));
  expect(Math.max(...sizes)).toBeLessThan(gatewayFrameBytesMax);
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(27 * 1024);
});

test('a stream of small pieces is posted in few frames, and a full one does not wait for more to gather', async () => {
  const { sleepless } = openSleeplessWorld();
  const lengths: number[] = [];
  const batches = open(sleepless, async (frames) => {
    await new Promise(setImmediate);
    lengths.push(...frames.map(({ data }) => String(data['text']).length));
  });
  const [pieces, characters] = [10_000, 20];
  for (let at = 0; at < pieces; at += 1) {
    batches.push('out', { offset: at * characters, text: 'x'.repeat(characters) });
    // As the packets of a provider come.
    if (at % 400 === 399) await new Promise(setImmediate);
  }
  await new Promise(setImmediate);
  const sum = (): number => lengths.reduce((all, length) => all + length, 0);
  expect(sum()).toBeGreaterThan((pieces * characters * 3) / 4);
  await batches.flush();
  expect(sum()).toBe(pieces * characters);
  expect(lengths.length).toBeLessThanOrEqual(10);
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
