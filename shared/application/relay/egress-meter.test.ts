import { expect, test } from 'vitest';
import type { SessionId } from '../../domain/ids.ts';
import type { RelayDeps } from '../deps.ts';
import { openEgressMeter } from './egress-meter.ts';

const session = 's' as SessionId;

const open = async ({ before = 0, isLost = false, left = Number.POSITIVE_INFINITY } = {}) => {
  const state = { bytes: before, left, isLost, payers: [] as unknown[] };
  const warnings: string[] = [];
  const told: string[] = [];
  const ports = {
    egressBytesMax: 2_000_000,
    egressUsage: {
      read: async () => ({ bytes: state.bytes, left: state.left }),
      add: async (_: SessionId, { bytes, payers }: { readonly bytes: number; readonly payers: unknown }) => {
        if (state.isLost) throw new Error('lost');
        state.payers.push(payers);
        state.bytes += bytes;
        state.left -= bytes;
        return { bytes: state.bytes, left: state.left };
      },
    },
    sessions: { get: async () => ({ id: session, tree: { root: 'r', parent: 'r', slices: ['r', 's'] } }) },
    telemetry: {
      warn: (text: string) => void warnings.push(text),
      info: (_: string, { event, measure }: Readonly<Record<string, unknown>>) =>
        void told.push(`${event} ${measure}`),
    },
  } as unknown as RelayDeps;
  return { meter: await openEgressMeter(ports, session), state, warnings, told };
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

test('bytes pass up to the slice, also where another has used it since (TM11)', async () => {
  const { meter, state, told } = await open({ left: 1000 });
  meter.count(400);
  await meter.store();
  expect(state.payers).toEqual([{ root: 'r', slices: ['r', 's'] }]);
  meter.count(599);
  expect(() => meter.count(1)).toThrow('the bytes of egress of this session are used up (max_egress_bytes)');
  state.left -= 100;
  await meter.store();
  expect(() => meter.requireRoom()).toThrow('max_egress_bytes');
  expect(told).toEqual(['slice_used_up egressBytes']);
  const none = await open({ left: 0 });
  expect(() => none.meter.requireRoom()).toThrow(
    expect.objectContaining({ code: 'resource_limit_exceeded' }),
  );
});
