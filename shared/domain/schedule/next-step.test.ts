/** The next step of a schedule, and its next moment. */
import { describe, expect, test } from 'vitest';
import type { Principal } from '../principal.ts';
import { nextRunOf, nextStep, rescheduled, type ScheduleStep, scheduleDueAt } from './next-step.ts';
import type { Schedule, ScheduleId } from './schedule.ts';

const minute = 60_000;
const at = Date.parse('2026-11-21T10:00:00Z');
type Waiting = Parameters<typeof nextStep>[0];

const rows: readonly [string, Waiting, number, ScheduleStep, number | undefined][] = [
  ['deleted', { isDeleted: true, armedFor: at }, at, { step: 'clear' }, at + 15_000],
  ['disabled', {}, at, { step: 'rest' }, undefined],
  ['disabled and armed', { armedFor: at }, at, { step: 'disarm', disarm: at }, at + 15_000],
  ['not armed', { nextRunAt: at + minute }, at, { step: 'arm', runAt: at + minute }, at + 15_000],
  [
    'armed for another',
    { nextRunAt: at + minute, armedFor: at + 2 * minute },
    at,
    { step: 'arm', runAt: at + minute, disarm: at + 2 * minute },
    at + 15_000,
  ],
  [
    'not armed, and its moment is just ahead',
    { nextRunAt: at + 5000 },
    at,
    { step: 'run', runAt: at + 5000, waitMs: 5000 },
    at + 15_000,
  ],
  [
    'not armed, and its moment has passed',
    { nextRunAt: at - 1 },
    at,
    { step: 'run', runAt: at - 1, waitMs: 0 },
    at + 15_000,
  ],
  ['armed', { nextRunAt: at + minute, armedFor: at + minute }, at, { step: 'rest' }, at + 150_000],
  [
    'armed, and the scheduler has time yet',
    { nextRunAt: at, armedFor: at },
    at + 89_999,
    { step: 'rest' },
    at + 90_000,
  ],
  [
    'armed, and nobody came',
    { nextRunAt: at, armedFor: at },
    at + 90_000,
    { step: 'run', runAt: at, waitMs: 0 },
    at + 90_000,
  ],
];

describe('J3, J4: a schedule that is', () => {
  test.each(rows)('%s', (...[, schedule, now, step, dueAt]) => {
    expect(nextStep(schedule, now)).toEqual(step);
    expect(scheduleDueAt(schedule, now)).toBe(dueAt);
  });
});

describe('J1: the next moment', () => {
  test.each([
    ['* * * * *', undefined, at, at + minute],
    ['* * * * *', undefined, at - 1, at],
    ['* * * * *', at, at - 1, at + minute],
    ['* * * * *', at - 60 * minute, at + 1, at + minute],
    ['0 0 31 2 *', undefined, at, undefined],
  ])('of %s, last run %s, at %d, is %s', (...[cron, lastRunAt, now, next]) => {
    expect(nextRunOf({ cron, ...(lastRunAt === undefined ? {} : { lastRunAt }) }, now)).toBe(next);
  });

  const schedule: Schedule = {
    id: 'x' as ScheduleId,
    name: 'n',
    cron: '* * * * *',
    prompt: 'p',
    targets: [],
    isEnabled: true,
    overlap: 'skip',
    sessions: 'resume',
    creator: {} as Principal,
    createdAt: 0,
    updatedAt: 0,
    version: 0,
  };

  test('is there exactly while it is enabled', () => {
    expect(rescheduled(schedule, at)).toEqual({ ...schedule, nextRunAt: at + minute });
    const disabled = { ...schedule, isEnabled: false };
    expect(rescheduled({ ...disabled, nextRunAt: at }, at)).toEqual(disabled);
  });
});
