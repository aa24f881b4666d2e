import { expect, test } from 'vitest';
import type { SessionId } from '../../domain/ids.ts';
import type { RelayDeps } from '../deps.ts';
import { openEgressMeter } from './egress-meter.ts';

const session = 's' as SessionId;

const open = async ({ before = 0, isLost = false } = {}) => {
  const state = { bytes: before, isLost };
  const warnings: string[] = [];
  const ports = {
    egressBytesMax: 2_000_000,
    egressUsage: {
      read: async () => state.bytes,
      add: async (_: SessionId, bytes: number) => {
        if (state.isLost) throw new Error('lost');
        state.bytes += bytes;
        return state.bytes;
      },
    },
    telemetry: { warn: (text: string) => void warnings.push(text) },
  } as unknown as RelayDeps;
  return { meter: await openEgressMeter(ports, session), state, warnings };
};

test('bytes pass up to the limit, also those of holders before (EG7)', async () => {
  const { meter } = await open({ before: 1_500_000 });
  meter.count(400_000);
  meter.requireRoom();
  expect(() => meter.count(100_000)).toThrow('this session has used its 2 MB of traffic');
  expect(() => meter.requireRoom()).toThrow('2 MB');
  const used = await open({ before: 2_000_000 });
  expect(() => used.meter.requireRoom()).toThrow('2 MB');
});

test('bytes are stored once, and those that could not be stored later', async () => {
  const { meter, state, warnings } = await open({ isLost: true });
  meter.count(10);
  await meter.store();
  expect([state.bytes, warnings.length]).toEqual([0, 1]);
  state.isLost = false;
  meter.count(5);
  await meter.store();
  await meter.store();
  expect(state.bytes).toBe(15);
});
