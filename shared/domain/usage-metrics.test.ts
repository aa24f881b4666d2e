import { expect, test } from 'vitest';
import {
  binOf,
  historySummary,
  measurementOfEvent,
  msOfBin,
  noteOfCount,
  type UsageCounts,
  usagePointMs,
  usagePointStart,
  usagePoints,
  usageStepMs,
} from './usage-metrics.ts';

const none = { count: 0, p50Ms: null, p95Ms: null };
const quiet = {
  activeAgents: null,
  activeExecutions: null,
  sandboxes: null,
  poolReady: null,
  cold: none,
  warm: none,
  startsFailed: 0,
  approvals: none,
  errors: {},
};
const minute = 60_000;
const step = 5 * minute;

test('only metrics for operators are counted', () => {
  const project = 'p';
  expect(measurementOfEvent({ event: 'sandbox_started', project, source: 'cold', startMs: 1000 })).toEqual({
    project,
    add: 'cold|40',
  });
  expect(measurementOfEvent({ event: 'sandbox_started', project, source: 'pool', startMs: 1 })).toEqual({
    project,
    add: 'warm|0',
  });
  expect(measurementOfEvent({ event: 'sandbox_start_failed' })).toEqual({ add: 'failed' });
  expect(measurementOfEvent({ event: 'approval_decided', waitedMs: 4 })).toEqual({ add: 'wait|8' });
  expect(measurementOfEvent({ event: 'turn_ended', code: 'context_too_long' })).toEqual({
    add: 'error|context_too_long',
  });
  expect(measurementOfEvent({ event: 'slots_counted', holder: 'agent#p', taken: 3 })).toEqual({
    set: 'active|agent#p',
    to: 3,
  });
  expect(
    measurementOfEvent({ event: 'turn_ended', stopReason: 'end_turn', code: undefined }),
  ).toBeUndefined();
  expect(measurementOfEvent({ event: 'message_accepted' })).toBeUndefined();
  expect(measurementOfEvent({})).toBeUndefined();
  expect(noteOfCount('SandboxesRunning', 7)).toEqual({ set: 'sandboxes', to: 7 });
  expect(noteOfCount('TurnsStarted', 7)).toBeUndefined();
});

test('of refusals, errors and limits are counted, but not mistakes of clients', () => {
  const refused = (code: string, status?: number) =>
    measurementOfEvent({ event: 'request_refused', code, ...(status === undefined ? {} : { status }) });
  expect(refused('internal_error')).toEqual({ add: 'error|internal_error' });
  expect(refused('sandbox_unavailable', 503)).toEqual({ add: 'error|sandbox_unavailable' });
  expect(refused('resource_limit_exceeded', 429)).toEqual({ add: 'error|resource_limit_exceeded' });
  expect(refused('unauthenticated', 401)).toBeUndefined();
  expect(refused('rate_limited', 429)).toBeUndefined();
});

test.each([1, 37, 850, 12_345, 3_600_000])('a bin resolves %d ms to a tenth', (ms) => {
  expect(Math.abs(msOfBin(binOf(ms)) / ms - 1)).toBeLessThan(0.1);
});

test('a range has no more points than a chart can show', () => {
  const minutes = [60, 360, 361, 1440, 10_080, 20_160];
  expect(minutes.map((range) => usageStepMs(range * minute) / minute)).toEqual([5, 5, 30, 30, 180, 180]);
  expect(usagePointStart(usagePointMs + 1)).toBe(usagePointMs);
});

test('every step has a point, a level is carried forward, and counts are at their time', () => {
  const counted: readonly UsageCounts[] = [
    { at: 0, counts: { 'active|agent#a': 2, 'active|execution#x': 4, 'cold|40': 9 } },
    { at: 2 * step, counts: { 'cold|40': 1, 'cold|44': 1, 'error|b': 1, 'error|a': 2, failed: 1 } },
    { at: 3 * step, counts: { 'active|agent#b': 1, sandboxes: 3, pool: 2, 'wait|8': 1 } },
  ];
  const points = usagePoints(counted, { from: step, to: 4 * step, stepMs: step });
  const before = { ...quiet, activeAgents: 2, activeExecutions: 4 };
  expect(points).toEqual([
    { ...before, at: step },
    {
      ...before,
      at: 2 * step,
      cold: { count: 2, p50Ms: 1024, p95Ms: 2048 },
      startsFailed: 1,
      errors: { a: 2, b: 1 },
    },
    {
      ...before,
      at: 3 * step,
      activeAgents: 3,
      sandboxes: 3,
      poolReady: 2,
      approvals: { count: 1, p50Ms: 4, p95Ms: 4 },
    },
  ]);
  expect(Object.keys(points[1]?.errors ?? {})).toEqual(['a', 'b']);
});

test('a summary covers only the range, with percentiles over all of it', () => {
  const counted = [
    { at: 0, counts: { 'warm|20': 50 } },
    { at: step, counts: { 'warm|20': 18 } },
    { at: 2 * step, counts: { 'warm|24': 2, 'error|a': 1 } },
  ];
  expect(historySummary(counted, step)).toEqual({
    cold: none,
    warm: { count: 20, p50Ms: 32, p95Ms: 64 },
    startsFailed: 0,
    approvals: none,
    errors: { a: 1 },
  });
});
