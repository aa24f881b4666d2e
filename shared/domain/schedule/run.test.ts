/** A run: every state and event, how it is cut, when it is looked at. */
import { describe, expect, test } from 'vitest';
import type { LogEntry, LogEvent, StopReason } from '../event-log.ts';
import type { MessageId, TurnId } from '../ids.ts';
import {
  cutOutput,
  eventOfStop,
  isLateStart,
  isOpen,
  isOverdue,
  move,
  nextLook,
  type Run,
  type RunEvent,
  type RunState,
  readOutcome,
  runName,
} from './run.ts';
import type { ScheduleId } from './schedule.ts';

// biome-ignore format: a table is read by column
const table: Record<RunState, Record<RunEvent, RunState | 'ignored'>> = {
  claimed: { started: 'running', deferred: 'queued',  skipped: 'skipped', refused: 'failed',  answered: 'ignored', broke: 'ignored', lost: 'ignored' },
  queued:  { started: 'running', deferred: 'queued',  skipped: 'skipped', refused: 'failed',  answered: 'ignored', broke: 'ignored', lost: 'ignored' },
  running: { started: 'ignored', deferred: 'ignored', skipped: 'ignored', refused: 'ignored', answered: 'success', broke: 'failed',  lost: 'failed' },
  success: { started: 'ignored', deferred: 'ignored', skipped: 'ignored', refused: 'ignored', answered: 'ignored', broke: 'ignored', lost: 'ignored' },
  failed:  { started: 'ignored', deferred: 'ignored', skipped: 'ignored', refused: 'ignored', answered: 'ignored', broke: 'ignored', lost: 'ignored' },
  skipped: { started: 'ignored', deferred: 'ignored', skipped: 'ignored', refused: 'ignored', answered: 'ignored', broke: 'ignored', lost: 'ignored' },
};

const cells = Object.entries(table).flatMap(([state, events]) =>
  Object.entries(events).map(([event, next]) => [state, event, next] as const),
);

test.each(cells)('J5: a %s run that is %s becomes %s', (state, event, next) => {
  expect(move(state as RunState, event as RunEvent) ?? 'ignored').toBe(next);
});

test('J5: exactly the ended states have no transition', () => {
  for (const [state, events] of Object.entries(table))
    expect(isOpen(state as RunState)).toBe(Object.values(events).some((next) => next !== 'ignored'));
});

test('a turn that ends by itself is a success, any other end is a failure', () => {
  expect(eventOfStop).toEqual({
    end_turn: 'answered',
    max_tokens: 'answered',
    cancelled: 'broke',
    error: 'broke',
    budget_exceeded: 'broke',
    steps_exceeded: 'broke',
    refused: 'broke',
  });
});

const run = (change: Partial<Run> = {}): Run => ({
  schedule: 's' as ScheduleId,
  runAt: 0,
  part: '0',
  isManual: false,
  isLate: false,
  state: 'running',
  claimedAt: 1_000_000,
  version: 0,
  ...change,
});

describe('a run', () => {
  test('is named so that names sort by time', () => {
    const names = [run({ runAt: 999 }), run({ runAt: 1000 }), run({ runAt: 1000, part: '1' })].map(runName);
    expect(names).toEqual(['0000000000999#0', '0000000001000#0', '0000000001000#1']);
    expect(names.toSorted()).toEqual(names);
  });

  test.each([
    [60_000, false],
    [60_001, true],
  ])('that starts %d ms after its moment is late: %s', (after, isLate) => {
    expect(isLateStart(5000, 5000 + after)).toBe(isLate);
  });

  test.each<[RunState, number, boolean]>([
    ['claimed', 900_000, false],
    ['claimed', 900_001, true],
    ['queued', 900_001, false],
    ['queued', 86_400_001, true],
  ])('that is %s for %d ms is given up: %s', (state, age, isGivenUp) => {
    expect(isOverdue(run({ state }), 1_000_000 + age)).toBe(isGivenUp);
  });

  test.each([
    [0, 60_000],
    [240_000, 60_000],
    [1_200_000, 300_000],
    [86_400_000, 600_000],
  ])('that has run for %d ms is polled again after %d', (age, wait) => {
    expect(nextLook(run({ startedAt: 2_000_000 }), 2_000_000 + age)).toBe(2_000_000 + age + wait);
  });
});

describe('an answer', () => {
  test('of a thousand characters is stored whole', () => {
    expect(cutOutput('x'.repeat(1000))).toBe('x'.repeat(1000));
  });

  test('that is longer is cut between characters, and marked', () => {
    const cut = cutOutput('😀'.repeat(600));
    expect(cut.length).toBeLessThanOrEqual(1000);
    expect(cut.isWellFormed()).toBe(true);
    expect(cut.endsWith(' … (truncated)')).toBe(true);
  });
});

const mine = 'mine' as MessageId;
const said = (messageId: string): LogEntry => ({
  type: 'message',
  data: { messageId: messageId as MessageId, role: 'user', text: 'x' },
});
const answered = (text: string): LogEntry => ({
  type: 'message',
  data: { messageId: 'a' as MessageId, role: 'assistant', text },
});
const completed = (stopReason: StopReason = 'end_turn', text = 'done'): LogEntry => ({
  type: 'completion',
  data: {
    turnId: 't' as TurnId,
    stopReason,
    text,
    usage: { inputTokens: 0, outputTokens: 0 },
    sessionCostUsd: 0,
  },
});
const broke = (code: string, callId?: string): LogEntry => ({
  type: 'agent:error',
  data: { code, message: 'why', ...(callId === undefined ? {} : { callId: callId as never }) },
});
const logOf = (...entries: readonly LogEntry[]): readonly LogEvent[] =>
  entries.map((entry, index) => ({ ...entry, seq: 10 + index, at: 1000 * index }));
const ask = { message: mine, hasBegun: false, since: 9 };

test('a turn that has not begun is open, and entries of other turns are ignored', () => {
  const log = logOf(said('other'), completed());
  expect(readOutcome(log, ask)).toEqual({ kind: 'open', hasBegun: false, since: 9 });
  expect(readOutcome([], ask)).toEqual({ kind: 'open', hasBegun: false, since: 9 });
});

test('a turn that has begun is open from its message on', () => {
  const log = logOf(said('other'), completed(), said('mine'), answered('x'));
  expect(readOutcome(log, ask)).toEqual({ kind: 'open', hasBegun: true, since: 12 });
});

test('the first completion after its message is its end', () => {
  const log = logOf(said('other'), completed('error'), said('mine'), completed('end_turn', 'the answer'));
  expect(readOutcome(log, ask)).toEqual({
    kind: 'ended',
    event: 'answered',
    startedAt: 2000,
    endedAt: 3000,
    output: 'the answer',
    isLast: true,
  });
});

test('a later message in the session is noticed', () => {
  const log = logOf(said('mine'), completed(), said('other'));
  expect(readOutcome(log, ask)).toMatchObject({ kind: 'ended', isLast: false });
});

test('a failed turn has a reason: its own error, not that of a call', () => {
  const log = logOf(
    said('mine'),
    broke('tool', 'call'),
    broke('provider_overloaded'),
    completed('error', ''),
  );
  expect(readOutcome(log, ask)).toMatchObject({
    event: 'broke',
    problem: 'provider_overloaded: why',
    output: '',
  });
  const cancelled = logOf(said('mine'), broke('tool', 'call'), completed('cancelled', ''));
  expect(readOutcome(cancelled, ask)).toMatchObject({ event: 'broke', problem: 'cancelled' });
});

test('a turn whose message the log has dropped ends with the first remaining completion', () => {
  const log = logOf(answered('x'), completed('end_turn', 'mine'), said('other'), completed('error', 'other'));
  const outcome = readOutcome(log, { ...ask, hasBegun: true });
  expect(outcome).toMatchObject({ kind: 'ended', event: 'answered', output: 'mine', isLast: false });
  expect(outcome).not.toHaveProperty('startedAt');
});

test('a run is checked at a whole millisecond, as its record requires', () => {
  for (let age = 0; age < 400_000; age += 997)
    expect(Number.isInteger(nextLook(run({ startedAt: 2_000_000 }), 2_000_000 + age))).toBe(true);
});
