/** The policy of repeated requests, in a world of one token: what a burst of them meets, and what an end of the tries is. */
import { expect, test } from 'vitest';
import { SallyportError } from './errors.ts';
import { retryPauseMs } from './retry.ts';

const refusal = (code: string, retryAfterMs?: number) =>
  new SallyportError(429, { code, message: 'busy' }, { retryAfterMs });
/** The limits of a fresh installation. */
const [perSecond, burst, retryAfterMs] = [10, 20, 1000];

/** Numbers from 0 to 1, the same in every run (Lehmer). */
const openChances = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
};

/** The number of requests at one moment that get through a bucket, and the time at which the last one does. */
const admit = (count: number, triesMax: number) => {
  const chance = openChances(count);
  const waiting = Array.from({ length: count }, () => ({ at: 0, tries: 1 }));
  let [tokens, filledAt, admitted, lastAt] = [burst, 0, 0, 0];
  for (;;) {
    waiting.sort((one, other) => one.at - other.at);
    const next = waiting.shift();
    if (next === undefined) return { admitted, lastAt };
    tokens = Math.min(burst, tokens + ((next.at - filledAt) * perSecond) / 1000);
    filledAt = next.at;
    if (tokens >= 1) {
      tokens -= 1;
      admitted += 1;
      lastAt = next.at;
      continue;
    }
    const asked = { repeat: 'limited', tries: next.tries, triesMax, chance: chance() } as const;
    const pauseMs = retryPauseMs(refusal('rate_limited', retryAfterMs), asked);
    if (pauseMs !== undefined) waiting.push({ at: next.at + pauseMs, tries: next.tries + 1 });
  }
};

test.each([30, 100, 200])('%d requests at once all get through the rate of one token', (count) => {
  const { admitted, lastAt } = admit(count, 6);
  expect(admitted).toBe(count);
  // No later than five times the moment at which the rate allows it.
  expect(lastAt).toBeLessThan((5 * 1000 * (count - burst)) / perSecond + 5000);
});

test('tries have an end, and none follows where the caller wants one', () => {
  const last = (code: string, triesMax: number) => {
    const error = refusal(code);
    for (let tries = 1; ; tries += 1)
      if (retryPauseMs(error, { repeat: 'refused', tries, triesMax, chance: 1 }) === undefined) return tries;
  };
  expect([last('rate_limited', 6), last('sandbox_starting', 6)]).toEqual([12, 6]);
  expect([last('rate_limited', 1), last('sandbox_starting', 1)]).toEqual([1, 1]);
});

test('a server that asks for a longer pause than a minute is not asked again', () => {
  const asked = { repeat: 'limited', tries: 1, triesMax: 6, chance: 0 } as const;
  expect(retryPauseMs(refusal('rate_limited', 60_001), asked)).toBeUndefined();
});

test('a function that ended before its answer is asked again, where that changes nothing the second time', () => {
  const gone = new SallyportError(500, { code: 'internal_error', message: 'the request failed' });
  const pauses = (['lost', 'refused', 'limited'] as const).map((repeat) =>
    retryPauseMs(gone, { repeat, tries: 1, triesMax: 6, chance: 1 }),
  );
  expect(pauses).toEqual([250, undefined, undefined]);
});
