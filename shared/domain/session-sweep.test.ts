import { describe, expect, test } from 'vitest';
import { newSession } from '../../tests/conformance/session-fixture.ts';
import type { Session, SessionStatus } from './session.ts';
import { firstLookAt, isStalled, nextStall, type SweepStep, sweepStep } from './session-sweep.ts';

const lifetimes = { idleMs: 100, executionIdleMs: 300, historyMs: 1000, pausedMs: 5000, waitStopMs: 900_000 };
const activeAt = 10_000;

const session = (change: Partial<Session>): Session =>
  newSession({ status: 'idle', createdAt: 0, lastActiveAt: activeAt, ...change });
const agent = (status: SessionStatus, change: Partial<Session> = {}) => session({ status, ...change });
const execution = (status: SessionStatus, change: Partial<Session> = {}) =>
  session({ kind: 'execution', status, ...change });

const held = (until: number): Partial<Session> => ({ lease: { holder: 'a', fence: 1, until } });

/** Its age is how long ago it was last active. */
type Row = [what: string, session: Session, age: number, expected: SweepStep];

describe('the janitor’s action for a session without pending work', () => {
  const forget: SweepStep = { step: 'forget' };
  const end: SweepStep = { step: 'end' };
  const pause: SweepStep = { step: 'pause' };
  const wait = (until: number): SweepStep => ({ step: 'wait', until });
  const rest: SweepStep = { step: 'rest', next: 11_000 };

  const ended = [agent('completed'), agent('failed'), execution('stopped')].flatMap((one): Row[] => [
    [`${one.kind} ${one.status}, before its history goes`, one, 999, wait(11_000)],
    [`${one.kind} ${one.status}, when its history goes`, one, 1000, forget],
    [`${one.kind} ${one.status}, long after`, one, 90_000, forget],
  ]);
  const agents = (['created', 'running', 'idle'] as const).flatMap((status): Row[] => [
    [`agent ${status}, active`, agent(status), 99, wait(10_100)],
    [`agent ${status}, idle`, agent(status), 100, rest],
    [`agent ${status}, almost as idle as can be`, agent(status), 999, rest],
    [`agent ${status}, as idle as its history is kept`, agent(status), 1000, end],
  ]);
  const executions = (['creating', 'ready', 'running'] as const).flatMap((status): Row[] => {
    const until = (at: number) => execution(status, { runningCalls: { a: 5, b: at } });
    return [
      [`execution ${status}, active`, execution(status), 299, wait(10_300)],
      [`execution ${status}, idle`, execution(status), 300, pause],
      [`execution ${status}, a call beyond its idle time`, until(10_700), 300, wait(10_700)],
      [`execution ${status}, a call that cannot be running any more`, until(10_700), 700, pause],
      [`execution ${status}, an expired call within its idle time`, until(10_100), 200, wait(10_300)],
      [`execution ${status}, an expired call`, until(10_100), 300, pause],
    ];
  });
  const rows: Row[] = [
    ...ended,
    ...agents,
    ...executions,
    [
      'execution stopped with a call left over',
      execution('stopped', { runningCalls: { a: 99_999 } }),
      1000,
      forget,
    ],
    ['execution paused, within its time', execution('paused'), 5299, wait(15_300)],
    ['execution paused, after its time', execution('paused'), 5300, end],
    ['execution error, active', execution('error'), 0, end],
    ['execution error, long ago', execution('error'), 90_000, end],
  ];

  test.each(rows)('%s', (...[_what, one, age, expected]: Row) => {
    expect(sweepStep(one, 'none', { now: activeAt + age, lifetimes })).toEqual(expected);
  });
});

describe('the janitor’s action for a session with pending work', () => {
  test.each<Row>([
    ['running', agent('running'), 0, { step: 'drive', rests: false }],
    ['idle', agent('idle'), 50_000, { step: 'drive', rests: false }],
    ['in error', execution('error'), 0, { step: 'end' }],
    ['ended', agent('completed'), 0, { step: 'wait', until: 11_000 }],
    ['ended long ago', agent('failed'), 1000, { step: 'forget' }],
  ])('%s', (...[_what, one, age, expected]: Row) => {
    expect(sweepStep(one, 'own', { now: activeAt + age, lifetimes })).toEqual(expected);
  });
});

test.each([
  [99, false],
  [100, true],
])('a session that only waits for others is continued; after %i ms without its sandbox: %s', (age, rests) => {
  const at = { now: activeAt + age, lifetimes };
  expect(sweepStep(agent('running'), 'others', at)).toEqual({ step: 'drive', rests });
});

describe('a session that a connection made and that never got a message', () => {
  const unused = agent('created', { isFleeting: true, createdAt: activeAt });
  const day = 86_400_000;
  // The two hours of a connection, and two minutes in which it may have begun.
  const lookMs = 7_320_000;
  const lookOf = (one: Session, times: Partial<typeof lifetimes>) =>
    firstLookAt(one, { ...lifetimes, ...times });

  test('is looked at first when its connection must have ended, any other when its time is over', () => {
    expect(lookOf(unused, { historyMs: day })).toBe(activeAt + lookMs);
    expect(lookOf(unused, { historyMs: 1000 })).toBe(activeAt + 1000);
    expect(lookOf(agent('created', { createdAt: activeAt }), { historyMs: day })).toBe(activeAt + day);
    expect(lookOf(execution('ready', { createdAt: activeAt, idleMs: day }), {})).toBe(activeAt + day);
  });

  test.each([
    ['wait', { idleMs: 2 * day }],
    ['rest', { idleMs: 100 }],
  ])('is looked at again as soon while it is left to %s', (step, times) => {
    const now = activeAt + 1000;
    const at = { now, lifetimes: { ...lifetimes, historyMs: day, ...times } };
    expect(sweepStep(unused, 'none', at)).toMatchObject({
      step,
      [step === 'wait' ? 'until' : 'next']: now + lookMs,
    });
  });
});

test('an agent session with a retention shorter than its idle time ends without idling', () => {
  const short = { ...lifetimes, historyMs: 60 };
  expect(sweepStep(agent('idle'), 'none', { now: 10_060, lifetimes: short })).toEqual({
    step: 'wait',
    until: 10_100,
  });
  expect(sweepStep(agent('idle'), 'none', { now: 10_100, lifetimes: short })).toEqual({ step: 'end' });
});

test.each(['none', 'others'] as const)(
  'a lease that outlasts the idle time is waited for, since no sandbox is released under it: %s',
  (work) => {
    const at = (now: number) =>
      sweepStep(agent('running', held(activeAt + 700)), work, { now: activeAt + now, lifetimes });
    const rests = (now: number) => {
      const step = at(now);
      return step.step === 'rest' || (step.step === 'drive' && step.rests);
    };
    expect([rests(699), rests(700)]).toEqual([false, true]);
    if (work === 'none') expect(at(150)).toEqual({ step: 'wait', until: activeAt + 700 });
  },
);

test.each([
  { tries: 3, fence: 4, ms: 900_000, stalled: false },
  { tries: 4, fence: 4, ms: 119_999, stalled: false },
  { tries: 4, fence: 4, ms: 120_000, stalled: true },
  { tries: 10, fence: 3, ms: 900_000, stalled: false },
  { tries: 11, fence: 3, ms: 900_000, stalled: true },
])('after $ms ms, try $tries since fence $fence is given up: $stalled', ({ tries, fence, ms, stalled }) => {
  const lease = { holder: '', fence: 4, until: 0 };
  expect(isStalled({ version: 1, fence, tries, since: 1000 }, { lease }, 1000 + ms)).toBe(stalled);
});

test('tries are counted per version of the turn', () => {
  const lease = { holder: '', fence: 4, until: 0 };
  const first = nextStall({ lease }, 7, 1000);
  expect(first).toEqual({ version: 7, fence: 4, tries: 1, since: 1000 });
  expect(nextStall({ lease, stall: first }, 7, 2000)).toEqual({ ...first, tries: 2 });
  expect(nextStall({ lease, stall: first }, 8, 2000)).toEqual({ ...first, version: 8, since: 2000 });
});
