import { describe, expect, test } from 'vitest';
import { newExecution, newSession } from '../../tests/conformance/session-fixture.ts';
import { idleFrom, idleLimit, isResting } from './idle-time.ts';
import type { Session, SessionStatus } from './session.ts';

const lifetimes = { idleMs: 100, executionIdleMs: 300, historyMs: 1000, pausedMs: 5000, waitStopMs: 900_000 };
const lastActiveAt = 10_000;

const agent = (status: SessionStatus, change: Partial<Session> = {}) =>
  newSession({ status, lastActiveAt, ...change });
const execution = (status: SessionStatus, change: Partial<Session> = {}) =>
  newExecution({ status, lastActiveAt, ...change });

const held = (until: number): Partial<Session> => ({ lease: { holder: 'a', fence: 1, until } });

/** Its age is how long ago it was last active. */
type Row = [what: string, session: Session, age: number, expected: boolean];

test('a session may be idle as long as its kind may', () => {
  expect([idleLimit({ kind: 'agent' }, lifetimes), idleLimit({ kind: 'execution' }, lifetimes)]).toEqual([
    100, 300,
  ]);
});

describe('a sandbox may be stopped', () => {
  test.each<Row>([
    ['an active agent session', agent('idle'), 99, false],
    ['an idle agent session', agent('idle'), 100, true],
    ['an agent session whose turn is held', agent('running', held(10_500)), 499, false],
    ['an agent session whose turn nobody holds any more', agent('running', held(10_500)), 500, true],
    ['an active execution session', execution('ready'), 299, false],
    ['an idle execution session', execution('ready'), 300, true],
    ['an execution session with a call', execution('running', { runningCalls: { a: 10_700 } }), 699, false],
    [
      'an execution session with an expired call',
      execution('running', { runningCalls: { a: 10_700 } }),
      700,
      true,
    ],
    ['an ended session', agent('completed'), 0, true],
    [
      'an ended session with all that',
      execution('stopped', { ...held(99_999), runningCalls: { a: 99_999 } }),
      0,
      true,
    ],
  ])('%s', (...[_what, one, age, expected]: Row) => {
    expect(isResting(one, lastActiveAt + age, lifetimes)).toBe(expected);
  });
});

type IdleRow = {
  readonly what: string;
  readonly one: Session;
  readonly readyAt?: number;
  readonly from: number;
};

test.each<IdleRow>([
  { what: 'before the last use', one: agent('running', { waits: true }), readyAt: 9000, from: 10_060 },
  { what: 'long after it was asked for', one: agent('running', { waits: true }), from: 10_560 },
  { what: 'for a session that waits for nobody', one: agent('idle'), from: 10_600 },
  { what: 'for a longer call', one: execution('running', { runningCalls: { a: 99_000 } }), from: 99_000 },
  { what: 'for a session that has ended', one: agent('completed'), from: 0 },
])('the idle time of a sandbox that became ready $what begins with the later of both', (row) => {
  const { one, readyAt = 10_500, from } = row;
  expect(idleFrom(one, { ...lifetimes, waitStopMs: 60 }, readyAt)).toBe(from);
});
