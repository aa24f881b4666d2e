import { expect, test } from 'vitest';
import { expectsHolder, type Surroundings } from './expectation.ts';
import { relayHearerGapMs, relayHolderMsMax, relayPairingMsMax } from './limits.ts';

const now = 1_000_000;
const nobody: Surroundings = { isBusy: false, hasNetwork: true, hearers: 0 };
const expects = (more: Partial<Surroundings>): boolean => expectsHolder({ ...nobody, ...more }, now);

test('no holder is expected while nothing runs, whatever was heard before', () => {
  const before = { heardUntil: now, toldAt: now };
  expect([expects({}), expects(before), expects({ hearers: 1 })]).toEqual([false, false, false]);
});

test('one is expected while the platform hears a call, and for a moment between two requests', () => {
  expect(expects({ isBusy: true, hearers: 1 })).toBe(true);
  expect(expects({ isBusy: true, heardUntil: now - relayHearerGapMs + 1 })).toBe(true);
  expect(expects({ isBusy: true, heardUntil: now - relayHearerGapMs })).toBe(false);
});

test('a call that nobody hears any more brings no holder', () => {
  expect(expects({ isBusy: true })).toBe(false);
});

test('one is expected for as long as a function takes to start, after it was called', () => {
  expect(expects({ isBusy: true, toldAt: now - relayHolderMsMax + 1 })).toBe(true);
  expect(expects({ isBusy: true, toldAt: now - relayHolderMsMax })).toBe(false);
});

test('every use of a sandbox with a network calls one, but for a use while the relay was held', () => {
  const usedAt = now - relayHolderMsMax + 1;
  expect([expects({ usedAt }), expects({ usedAt, isBusy: true })]).toEqual([true, true]);
  expect(expects({ usedAt: usedAt - 1 })).toBe(false);
  expect(expects({ usedAt, hasNetwork: false })).toBe(false);
  expect([expects({ usedAt, heldUntil: usedAt - 1 }), expects({ usedAt, heldUntil: usedAt + 1 })]).toEqual([
    true,
    false,
  ]);
});

test('after a hand-over the next one is expected, even if nothing runs', () => {
  expect(expects({ handedOverAt: now - relayPairingMsMax + 1 })).toBe(true);
  expect(expects({ handedOverAt: now - relayPairingMsMax })).toBe(false);
});
