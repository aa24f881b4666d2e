/** Functions that handle frames of one connection: what each lets through, and how often the connection is told. */
import { expect, test } from 'vitest';
import type { ConnectionId } from '../../domain/ids.ts';
import { frameBurstMax, frameRefusalMs } from '../../domain/limits.ts';
import { openFrameMeter } from './frame-meter.ts';

const openShared = () => {
  const clock = { now: 1_000_000 };
  const fullAt = new Map<string, number>();
  let charges = 0;
  const told = new Map<string, number>();
  const ports = {
    frames: {
      take: async (key: string, options: { takenMs: number; bucketMs: number; now: number }) => {
        charges += 1;
        const before = Math.max(fullAt.get(key) ?? 0, options.now);
        const next = before + options.takenMs;
        if (next > options.now + options.bucketMs) return { isTaken: false, fullAt: before };
        fullAt.set(key, next);
        return { isTaken: true, fullAt: next };
      },
    },
    refusals: {
      take: async (key: string, now: number) => {
        if (now - (told.get(key) ?? 0) < frameRefusalMs) return false;
        told.set(key, now);
        return true;
      },
    },
    world: { now: () => clock.now },
  };
  return { clock, ports, charges: () => charges };
};

const id = (name: string) => name as ConnectionId;

test('AC8: beyond the burst frames are refused, and all functions together notify the connection once a second', async () => {
  const { clock, ports } = openShared();
  const meters = [openFrameMeter(ports), openFrameMeter(ports), openFrameMeter(ports)];
  const send = async (frames: number) => {
    const verdicts: (string | undefined)[] = [];
    for (let index = 0; index < frames; index += 1)
      verdicts.push(await meters[index % meters.length]?.take(id('a'), clock.now));
    return (wanted: string) => verdicts.filter((verdict) => verdict === wanted).length;
  };
  const first = await send(2 * frameBurstMax);
  expect(first('allowed')).toBe(frameBurstMax);
  expect(first('refused')).toBe(1);
  clock.now += frameRefusalMs;
  expect((await send(400))('refused')).toBe(1);
});

test('each connection has its own bucket, and a closed one is forgotten', async () => {
  const { clock, ports, charges } = openShared();
  const meter = openFrameMeter(ports);
  for (let index = 0; index < frameBurstMax; index += 1) await meter.take(id('a'), clock.now);
  expect(await meter.take(id('a'), clock.now)).toBe('refused');
  expect(await meter.take(id('b'), clock.now)).toBe('allowed');
  const before = charges();
  meter.forget(id('a'));
  expect(await meter.take(id('a'), clock.now)).toBe('quiet');
  expect(charges()).toBe(before + 1);
});

test('a thousand concurrent frames are counted by their arrival, however long they wait', async () => {
  const { clock, ports, charges } = openShared();
  const slow = {
    ...ports,
    frames: {
      take: async (key: string, options: { takenMs: number; bucketMs: number; now: number }) => {
        clock.now += 40;
        return ports.frames.take(key, options);
      },
    },
  };
  const meter = openFrameMeter(slow);
  const at = clock.now;
  const verdicts = await Promise.all(Array.from({ length: 1000 }, () => meter.take(id('a'), at)));
  expect(verdicts.filter((verdict) => verdict === 'allowed')).toHaveLength(frameBurstMax);
  expect(charges()).toBe(frameBurstMax);
});
