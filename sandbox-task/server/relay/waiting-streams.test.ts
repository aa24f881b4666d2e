/** Streams that wait for a holder, and those that are refused at once (RL4, RL7): without a clock, since a refusal needs no timer. */
import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { RelayTarget } from '#shared/contracts/relay/frame.ts';
import { relayHolderMsMax } from '#shared/domain/relay/limits.ts';
import { createRelay, RelayRefusal, type SandboxRelay } from './relay.ts';

const platform: RelayTarget = { type: 'platform' };
const sink = { onData: () => undefined, onEnd: () => undefined, onReset: () => undefined };

const openRelay = ({ isBusy = true, isUsed = false } = {}) =>
  createRelay({ isBusy: () => isBusy, usedAt: () => (isUsed ? performance.now() : undefined) });

const open = (relay: SandboxRelay): Promise<string> =>
  relay.open(platform, sink, new AbortController().signal).then(
    () => 'open',
    (cause: unknown) => (cause instanceof RelayRefusal ? `${cause.status} ${cause.message}` : 'broken'),
  );
/** As it stands before any timer has passed. */
const soon = (opening: Promise<string>): Promise<string> =>
  Promise.race([opening, setImmediate('waits').then((waits) => setImmediate(waits))]);

const nobodyHolds = expect.stringMatching(
  /^503 nothing holds .*run this program in a call, or follow its output$/,
);
const nobodyComes = expect.stringMatching(/^503 nothing holds .*try again in a minute$/);

test('while nothing runs a stream is refused at once, and learns what to do', async () => {
  const relay = openRelay({ isBusy: false });
  relay.setNetwork(true);
  expect(await soon(open(relay))).toEqual(nobodyHolds);
});

test('a call that the platform does not hear brings no holder', async () => {
  expect(await soon(open(openRelay()))).toEqual(nobodyComes);
});

test('while the platform hears a call the stream waits, and the platform is told', async () => {
  const relay = openRelay();
  let told = 0;
  relay.onWanted(() => {
    told += 1;
  });
  const opening = open(relay);
  expect([await soon(opening), told]).toEqual(['waits', 1]);
  relay.hold({ id: 'a', idleMs: 1000 });
  expect(await opening).toBe('open');
});

test('between two requests of a turn a stream still waits', async () => {
  const relay = openRelay();
  const leave = relay.onWanted(() => undefined);
  leave();
  const opening = open(relay);
  expect(await soon(opening)).toBe('waits');
  relay.hold({ id: 'a', idleMs: 1000 });
  expect(await opening).toBe('open');
});

test('every use of a sandbox with a network has the relay held: it is waited for', async () => {
  const relay = openRelay({ isBusy: false, isUsed: true });
  relay.setNetwork(true);
  const opening = open(relay);
  expect(await soon(opening)).toBe('waits');
  relay.dismiss();
  expect(await opening).toEqual(nobodyHolds);
});

test('those who wait are refused when the platform says that none comes', async () => {
  const relay = openRelay();
  relay.onWanted(() => undefined);
  const openings = [open(relay), open(relay)];
  expect(await soon(openings[0] as Promise<string>)).toBe('waits');
  relay.dismiss();
  expect(await Promise.all(openings)).toEqual([nobodyComes, nobodyComes]);
});

test('a wish that nobody heard is told to the next request, until a holder has come', async () => {
  const relay = openRelay();
  let told = 0;
  const listen = () =>
    relay.onWanted(() => {
      told += 1;
    });
  await open(relay);
  listen()();
  expect(told).toBe(1);
  relay.hold({ id: 'a', idleMs: 1000 });
  listen()();
  expect(told).toBe(1);
});

test('after one wait in vain the next ones are refused soon, until a holder has come', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  try {
    const relay = openRelay();
    relay.onWanted(() => undefined);
    const first = open(relay);
    await vi.advanceTimersByTimeAsync(relayHolderMsMax - 500);
    expect(await soon(first)).toBe('waits');
    await vi.advanceTimersByTimeAsync(1000);
    expect(await soon(first)).toEqual(nobodyComes);
    const second = open(relay);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await soon(second)).toEqual(nobodyComes);
  } finally {
    vi.useRealTimers();
  }
});
