/** Interruptions of a turn's holder: another caller's version read twice, or the end of its function's time. */

import { expect, test } from 'vitest';
import { fake } from '../../../../tests/fake.ts';
import type { ConnectionId, SessionId } from '../../../domain/ids.ts';
import type { Subscriber } from '../../../domain/subscriber.ts';
import type { TurnStore } from '../../../ports/turn-store.ts';
import { monitorTurn } from './turn-monitor.ts';

type Version = {
  readonly isCancelAsked?: true;
  readonly version: number;
  readonly subscribers: readonly Subscriber[];
};

/** A clock that a test moves: each tick ends every sleep, and runs what follows it. */
const open = (handoverAt = 1_000_000) => {
  const clock = { now: 1000 };
  const warned: string[] = [];
  const refreshed: (readonly ConnectionId[])[] = [];
  let sleepers: (() => void)[] = [];
  let readVersion = (): Version => ({ version: 3, subscribers: [] });
  const monitor = monitorTurn(
    {
      turns: fake<TurnStore>({ readVersion: () => Promise.resolve().then(() => readVersion()) }),
      telemetry: {
        info: () => undefined,
        warn: (message) => warned.push(message),
        error: () => undefined,
        count: () => undefined,
        duration: () => undefined,
      },
      world: {
        now: () => clock.now,
        uuid: () => '',
        sha256: () => '',
        sleep: (milliseconds, signal) =>
          new Promise((resolve) => {
            clock.now += milliseconds;
            sleepers.push(resolve);
            signal?.addEventListener('abort', () => resolve(), { once: true });
          }),
      },
    },
    {
      sessionId: 's' as SessionId,
      version: 3,
      onSubscribers: (subscribers) => refreshed.push(subscribers.map(({ id }) => id)),
      startedAt: 0,
      handoverAt,
    },
  );
  return {
    monitor,
    warned,
    refreshed,
    see: (next: () => Version) => {
      readVersion = next;
    },
    seeVersion: (version: number) => {
      readVersion = () => ({ version, subscribers: [] });
    },
    asleep: () => sleepers.length,
    tick: async () => {
      const waking = sleepers;
      sleepers = [];
      for (const wake of waking) wake();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
};

test('a version seen ahead twice interrupts, and reports that another caller moved the turn', async () => {
  const { monitor, seeVersion, tick } = open();
  seeVersion(4);
  await tick();
  expect([monitor.interruption(), monitor.signal.aborted]).toEqual([undefined, false]);
  await tick();
  expect([monitor.interruption(), monitor.signal.aborted]).toEqual(['moved', true]);
});

test("the holder's own writes do not interrupt it, however long publishing them takes", async () => {
  const { monitor, seeVersion, tick } = open();
  for (const version of [4, 5, 6]) {
    monitor.expectVersion(version);
    await tick();
    seeVersion(version);
    for (let reads = 0; reads < 5; reads += 1) await tick();
  }
  expect(monitor.interruption()).toBeUndefined();
  monitor.stop();
});

test('a write seen before it is expected is forgiven once', async () => {
  const { monitor, seeVersion, tick } = open();
  seeVersion(4);
  await tick();
  monitor.expectVersion(4);
  await tick();
  await tick();
  expect(monitor.interruption()).toBeUndefined();
  monitor.stop();
});

test('two different versions ahead are two sightings, not one seen twice', async () => {
  const { monitor, seeVersion, tick } = open();
  seeVersion(4);
  await tick();
  seeVersion(5);
  await tick();
  expect(monitor.interruption()).toBeUndefined();
  await tick();
  expect(monitor.interruption()).toBe('moved');
});

test('a request to cancel interrupts, but not one beside a version that the holder has left', async () => {
  const { monitor, see, tick } = open();
  monitor.expectVersion(4);
  see(() => ({ version: 3, subscribers: [], isCancelAsked: true }));
  await tick();
  await tick();
  expect(monitor.interruption()).toBeUndefined();
  see(() => ({ version: 4, subscribers: [], isCancelAsked: true }));
  await tick();
  expect([monitor.interruption(), monitor.signal.aborted]).toEqual(['cancelled', true]);
});

test("near the end of the function's time it interrupts for a handover, and only then", async () => {
  const { monitor, tick } = open(2500);
  await tick();
  await tick();
  expect(monitor.interruption()).toBeUndefined();
  await tick();
  expect([monitor.interruption(), monitor.signal.aborted]).toEqual(['deadline', true]);
});

test('new subscribers are given to the publisher at every read', async () => {
  const { monitor, see, refreshed, tick } = open();
  see(() => ({ version: 3, subscribers: [{ id: 'c1' as ConnectionId }] }));
  await tick();
  see(() => ({ version: 3, subscribers: [{ id: 'c1' as ConnectionId }, { id: 'c2' as ConnectionId }] }));
  await tick();
  expect(refreshed).toEqual([['c1'], ['c1', 'c2']]);
  monitor.stop();
});

test('a read that fails is logged and repeated', async () => {
  const { monitor, see, seeVersion, warned, tick } = open();
  see(() => {
    throw new Error('throttled');
  });
  await tick();
  await tick();
  expect(warned).toEqual(['the version of a turn was not read', 'the version of a turn was not read']);
  seeVersion(4);
  await tick();
  await tick();
  expect(monitor.interruption()).toBe('moved');
});

test('the first reason stays, and a stopped monitor reads no more and interrupts nothing', async () => {
  const lost = open();
  lost.monitor.interrupt('lost');
  lost.monitor.interrupt('moved');
  expect(lost.monitor.interruption()).toBe('lost');
  const { monitor, tick, asleep } = open();
  monitor.stop();
  await tick();
  expect([monitor.signal.aborted, monitor.interruption(), asleep()]).toEqual([true, undefined, 0]);
});

test('work that ends before the deadline has time, and so has any work at the beginning', async () => {
  const { monitor, tick } = open(10_000);
  expect([monitor.hasTimeFor(4000), monitor.hasTimeFor(60_000)]).toEqual([true, true]);
  for (let eightSleeps = 0; eightSleeps < 8; eightSleeps += 1) await tick();
  expect([monitor.hasTimeFor(4000), monitor.hasTimeFor(60_000)]).toEqual([true, false]);
  await tick();
  await tick();
  await tick();
  expect(monitor.hasTimeFor(4000)).toBe(false);
  monitor.stop();
});

test('a restarted monitor starts from the latest read', async () => {
  const { monitor, seeVersion, tick } = open();
  seeVersion(9);
  await tick();
  await tick();
  expect(monitor.interruption()).toBe('moved');
  monitor.restart(9);
  await tick();
  await tick();
  expect([monitor.interruption(), monitor.signal.aborted]).toEqual([undefined, false]);
  monitor.stop();
});

test('one that has stopped stays so: nothing that its step still does begins it afresh', async () => {
  const { monitor, tick } = open();
  monitor.interrupt('deadline');
  monitor.stop();
  monitor.restart(9);
  await tick();
  expect([monitor.interruption(), monitor.signal.aborted, monitor.hasTimeFor(0)]).toEqual([
    'deadline',
    true,
    false,
  ]);
});
