import { expect, test } from 'vitest';
import { unlessAbandoned } from './abandon-step.ts';
import type { Interruption, TurnMonitor } from './turn-monitor.ts';

/** A holder whose sleeps end when the test says so. */
const open = () => {
  const warned: string[] = [];
  const slept: (() => void)[] = [];
  let wait = new AbortController();
  let why: Interruption | undefined;
  const ports = {
    world: {
      sleep: (_: number, signal?: AbortSignal) =>
        new Promise<void>((resolve) => {
          signal?.addEventListener('abort', () => resolve());
          slept.push(resolve);
        }),
    },
    telemetry: { warn: (message: string) => warned.push(message) },
  } as unknown as Parameters<typeof unlessAbandoned>[0];
  const monitor: TurnMonitor = {
    get signal() {
      return wait.signal;
    },
    interruption: () => why,
    hasTimeFor: () => true,
    expectVersion: () => undefined,
    restart: () => {
      why = undefined;
      wait = new AbortController();
    },
    interrupt: () => undefined,
    stop: () => void warned.push('its monitor stopped'),
  };
  return {
    warned,
    monitor,
    unlessAbandoned: <T>(work: Promise<T>) => unlessAbandoned(ports, monitor, work),
    interrupt: (by: Interruption) => {
      why = by;
      wait.abort();
    },
    /** Resolves once something sleeps; it sleeps no longer then. */
    wakes: async () => {
      while (slept.length === 0) await new Promise(setImmediate);
      slept.shift()?.();
      await new Promise(setImmediate);
    },
  };
};

const never = new Promise<never>(() => undefined);

test('a step that ends in its time is waited for, also after an interruption', async () => {
  const { unlessAbandoned, interrupt, warned } = open();
  expect(await unlessAbandoned(Promise.resolve(1))).toBe(1);
  const late = Promise.withResolvers<number>();
  const left = unlessAbandoned(late.promise);
  interrupt('deadline');
  late.resolve(2);
  expect(await left).toBe(2);
  await expect(unlessAbandoned(Promise.reject(new Error('it failed')))).rejects.toThrow('it failed');
  expect(warned).toEqual([]);
});

test('a step that does not hear of an interruption is left, and what becomes of it is logged', async () => {
  const { unlessAbandoned, interrupt, wakes, warned } = open();
  const work = Promise.withResolvers<number>();
  const left = unlessAbandoned(work.promise);
  interrupt('deadline');
  await wakes();
  expect(await left).toBe('abandoned');
  work.reject(new Error('too late'));
  await new Promise(setImmediate);
  expect(warned).toEqual(['its monitor stopped', 'a step was left', 'a step that was left failed']);
});

test('a step that reads its turn again after an interruption goes on', async () => {
  const { unlessAbandoned, interrupt, monitor, wakes } = open();
  let isLeft = false;
  void unlessAbandoned(never).then(() => {
    isLeft = true;
  });
  interrupt('moved');
  monitor.restart(2);
  await wakes();
  expect(isLeft).toBe(false);
  interrupt('deadline');
  await wakes();
  expect(isLeft).toBe(true);
});
