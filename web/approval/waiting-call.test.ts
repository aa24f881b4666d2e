/** The moment at which a prompt reads its call, and so has a sandbox restored that was stopped for the wait. */
import { expect, test } from 'vitest';
import { firstReadIn } from './waiting-call.ts';

const now = Date.parse('2026-01-01T00:10:00Z');
const after = (ms: number): string => new Date(now - ms).toISOString();

test.each([
  ['a call that has waited is read at once', after(600_000), 0],
  ['a call that has just become old is read at once', after(5000), 0],
  ['a fresh call is read when it is no longer fresh', after(2000), 3000],
  ['a clock that is late waits no longer than for a fresh call', after(-60_000), 5000],
])('%s', (_what, askedAt, ms) => {
  expect(firstReadIn(askedAt, now)).toBe(ms);
});
