/** What interrupts a turn's holder: somebody else's version seen twice, or the end of its function's time. */
import { expect, test } from 'vitest';
import type { ConnectionId, SessionId } from '../../domain/ids.ts';
import { watchTurn } from './turn-watch.ts';

type Glance = { readonly version: number; readonly watchers: readonly ConnectionId[] };

/** A clock that a test moves: each tick ends every sleep, and runs what follows it. */
const open = (handoverAt = 1_000_000) => {
  const clock = { now: 1000 };
  const warned: string[] = [];
  const refreshed: (readonly ConnectionId[])[] = [];
  let sleepers: (() => void)[] = [];
  let glance = (): Glance => ({ version: 3, watchers: [] });
  const watch = watchTurn(
    {
      sessions: { glance: () => Promise.resolve().then(() => glance()) },
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
      audience: {
        tell: () => Promise.resolve(),
        waitingChanged: () => Promise.resolve(),
        refresh: (watchers) => refreshed.push(watchers),
      },
      startedAt: 0,
      handoverAt,
    },
  );
  return {
    watch,
    warned,
    refreshed,
    see: (next: () => Glance) => {
      glance = next;
    },
    seeVersion: (version: number) => {
      glance = () => ({ version, watchers: [] });
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

test('a version that is seen ahead twice interrupts, and says that somebody moved the turn', async () => {
  const { watch, seeVersion, tick } = open();
  seeVersion(4);
  await tick();
  expect([watch.interruption(), watch.signal.aborted]).toEqual([undefined, false]);
  await tick();
  expect([watch.interruption(), watch.signal.aborted]).toEqual(['moved', true]);
});

test("the holder's own writes do not interrupt it, however long telling of them takes", async () => {
  const { watch, seeVersion, tick } = open();
  for (const version of [4, 5, 6]) {
    watch.expect(version);
    await tick();
    seeVersion(version);
    for (let glances = 0; glances < 5; glances += 1) await tick();
  }
  expect(watch.interruption()).toBeUndefined();
  watch.stop();
});

test('a write that is seen before it is expected is forgiven once', async () => {
  const { watch, seeVersion, tick } = open();
  seeVersion(4);
  await tick();
  watch.expect(4);
  await tick();
  await tick();
  expect(watch.interruption()).toBeUndefined();
  watch.stop();
});

test('two different versions ahead are two sightings, not one seen twice', async () => {
  const { watch, seeVersion, tick } = open();
  seeVersion(4);
  await tick();
  seeVersion(5);
  await tick();
  expect(watch.interruption()).toBeUndefined();
  await tick();
  expect(watch.interruption()).toBe('moved');
});

test("near the end of the function's time it interrupts for a handover, and only then", async () => {
  const { watch, tick } = open(2500);
  await tick();
  await tick();
  expect(watch.interruption()).toBeUndefined();
  await tick();
  expect([watch.interruption(), watch.signal.aborted]).toEqual(['deadline', true]);
});

test('new watchers are made known to the audience at every glance', async () => {
  const { watch, see, refreshed, tick } = open();
  see(() => ({ version: 3, watchers: ['c1' as ConnectionId] }));
  await tick();
  see(() => ({ version: 3, watchers: ['c1' as ConnectionId, 'c2' as ConnectionId] }));
  await tick();
  expect(refreshed).toEqual([['c1'], ['c1', 'c2']]);
  watch.stop();
});

test('a glance that fails is said and made again', async () => {
  const { watch, see, seeVersion, warned, tick } = open();
  see(() => {
    throw new Error('throttled');
  });
  await tick();
  await tick();
  expect(warned).toEqual(['a turn was not looked at', 'a turn was not looked at']);
  seeVersion(4);
  await tick();
  await tick();
  expect(watch.interruption()).toBe('moved');
});

test('the first reason stays, and a stopped watch looks no more and interrupts nobody', async () => {
  const lost = open();
  lost.watch.interrupt('lost');
  lost.watch.interrupt('moved');
  expect(lost.watch.interruption()).toBe('lost');
  const { watch, tick, asleep } = open();
  watch.stop();
  await tick();
  expect([watch.signal.aborted, watch.interruption(), asleep()]).toEqual([true, undefined, 0]);
});

test('there is time for what ends before the deadline, and always at the beginning', async () => {
  const { watch, tick } = open(10_000);
  expect([watch.hasTimeFor(4000), watch.hasTimeFor(60_000)]).toEqual([true, true]);
  for (let eightSleeps = 0; eightSleeps < 8; eightSleeps += 1) await tick();
  expect([watch.hasTimeFor(4000), watch.hasTimeFor(60_000)]).toEqual([true, false]);
  await tick();
  await tick();
  await tick();
  expect(watch.hasTimeFor(4000)).toBe(false);
  watch.stop();
});

test('a resumed watch begins afresh with what was read', async () => {
  const { watch, seeVersion, tick } = open();
  seeVersion(9);
  await tick();
  await tick();
  expect(watch.interruption()).toBe('moved');
  const next = watch.resume(9);
  await tick();
  await tick();
  expect([next.interruption(), next.signal.aborted]).toEqual([undefined, false]);
  next.stop();
});
