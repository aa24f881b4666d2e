import { expect, test } from 'vitest';
import type { RunningCall, RunningCallStore } from '../../ports/calls.ts';
import type { Deps } from '../deps.ts';
import { cancelRunningCall, runCancellable } from './running-calls.ts';

/** Time passes when nothing else can happen: each sleep ends when all before it have. */
const openWorld = () => {
  let now = 0;
  const sleeping: { readonly until: number; readonly wake: () => void }[] = [];
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const world = {
    now: () => now,
    uuid: () => crypto.randomUUID(),
    sha256: (text: string) => `hash of ${text}`,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((wake) => {
        if (signal?.aborted) return wake();
        sleeping.push({ until: now + ms, wake });
        signal?.addEventListener('abort', () => wake(), { once: true });
        return undefined;
      }),
  };
  const pass = async (ms: number): Promise<void> => {
    for (const end = now + ms; ; ) {
      await settle();
      sleeping.sort((one, other) => one.until - other.until);
      const [next] = sleeping;
      if (next === undefined || next.until > end) {
        now = end;
        return;
      }
      sleeping.shift();
      now = Math.max(now, next.until);
      next.wake();
    }
  };
  return { world, pass };
};

const openStore = () => {
  const calls = new Map<string, RunningCall & { isCancelled?: boolean }>();
  const asked: string[] = [];
  const store: RunningCallStore = {
    put: async (call) => {
      asked.push('put');
      calls.set(call.id, call);
    },
    find: async (caller, now) =>
      [...calls.values()].filter((call) => call.caller === caller && call.until > now),
    cancel: async ({ id }) => {
      const call = calls.get(id);
      if (call !== undefined) calls.set(id, { ...call, isCancelled: true });
    },
    isCancelled: async ({ id }) => calls.get(id)?.isCancelled === true,
    remove: async ({ id }) => {
      asked.push('remove');
      calls.delete(id);
    },
  };
  return { store, calls, asked };
};

const open = () => {
  const { world, pass } = openWorld();
  const { store, calls, asked } = openStore();
  const warned: string[] = [];
  const telemetry = { warn: (message: string) => void warned.push(message) };
  const ports = { world, runningCalls: store, telemetry } as unknown as Deps<
    'runningCalls' | 'telemetry' | 'world'
  >;
  return { ports, pass, calls, asked, warned };
};

const request = { credential: 'abc', requestId: 7 };
const untilAborted = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve('cancelled'), { once: true }));
const lasting = (ports: Deps<'runningCalls' | 'telemetry' | 'world'>, wanted = request) => {
  const ended = { how: undefined as string | undefined };
  void runCancellable(ports, wanted, untilAborted).then((how) => (ended.how = how));
  return ended;
};

test('a short call costs nothing', async () => {
  const { ports, asked } = open();
  expect(await runCancellable(ports, request, async () => 'done')).toBe('done');
  expect(asked).toEqual([]);
});

test('a call that lasts is recorded while it runs, and cancelled within two seconds', async () => {
  const { ports, pass, calls } = open();
  const call = lasting(ports);
  await pass(10_000);
  expect(calls.size).toBe(1);
  const cancelled = cancelRunningCall(ports, request);
  await pass(2000);
  expect([await cancelled, call.how, calls.size]).toEqual([true, 'cancelled', 0]);
});

test('a call that has just begun is cancelled, too', async () => {
  const { ports, pass } = open();
  const call = lasting(ports);
  await pass(1);
  const cancelled = cancelRunningCall(ports, request);
  await pass(2000);
  expect([await cancelled, call.how]).toEqual([true, 'cancelled']);
});

test('of two calls under one token and request id none is cancelled, however new the second is', async () => {
  const { ports, pass } = open();
  const older = lasting(ports);
  await pass(10_000);
  const younger = lasting(ports);
  const cancelled = cancelRunningCall(ports, request);
  await pass(5000);
  expect([await cancelled, older.how, younger.how]).toEqual([false, undefined, undefined]);
});

test.each([
  ['another token', { credential: 'def', requestId: 7 }],
  ['another request', { credential: 'abc', requestId: 8 }],
  ['the same digits as a text', { credential: 'abc', requestId: '7' }],
])('%s cancels nothing', async (_, other) => {
  const { ports, pass } = open();
  const call = lasting(ports);
  const cancelled = cancelRunningCall(ports, other);
  await pass(5000);
  expect([await cancelled, call.how]).toEqual([false, undefined]);
});

test('a call that begins after the cancellation is not cancelled', async () => {
  const { ports, pass } = open();
  const cancelled = cancelRunningCall(ports, request);
  await pass(10);
  const call = lasting(ports);
  await pass(5000);
  expect([await cancelled, call.how]).toEqual([false, undefined]);
});

test('a failing store costs the call nothing', async () => {
  const { ports, pass, warned } = open();
  const broken = { ...ports.runningCalls, put: () => Promise.reject(new Error('no table')) };
  const running = runCancellable({ ...ports, runningCalls: broken }, request, async () => {
    await ports.world.sleep(3000);
    return 'done';
  });
  await pass(3000);
  expect([await running, warned]).toEqual(['done', ['a running call was not polled']]);
});
