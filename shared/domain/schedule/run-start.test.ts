/** The overlap table, row by row. */
import { describe, expect, test } from 'vitest';
import type { SessionStatus } from '../session.ts';
import {
  type OverlapStep,
  overlapProblem,
  overlapStep,
  type PinnedState,
  type PinStep,
  pinnedState,
  pinStep,
} from './run-start.ts';
import type { OverlapBehavior, SessionBehavior } from './schedule.ts';

type Row = [OverlapBehavior, SessionBehavior, boolean, OverlapStep];

describe('while an earlier run goes on', () => {
  test.each<Row>([
    ['skip', 'resume', true, 'skip'],
    ['skip', 'resume', false, 'skip'],
    ['skip', 'new', true, 'skip'],
    ['skip', 'new', false, 'skip'],
    ['queue', 'resume', true, 'follow'],
    ['queue', 'resume', false, 'wait'],
    ['queue', 'new', true, 'wait'],
    ['queue', 'new', false, 'wait'],
    ['parallel', 'resume', true, 'beside'],
    ['parallel', 'resume', false, 'beside'],
    ['parallel', 'new', true, 'start'],
    ['parallel', 'new', false, 'start'],
  ])('%s, %s, the pinned session takes messages: %s → %s', (...[overlap, sessions, isPinActive, step]) => {
    expect(overlapStep({ overlap, sessions }, { openBefore: 1, isPinActive })).toBe(step);
    expect(overlapStep({ overlap, sessions }, { openBefore: 19, isPinActive })).toBe(step);
    expect(overlapStep({ overlap, sessions }, { openBefore: 20, isPinActive })).toBe('skip');
    expect(overlapStep({ overlap, sessions }, { openBefore: 0, isPinActive })).toBe('start');
  });
});

test('a skipped run has a reason', () => {
  expect(overlapProblem({ openBefore: 3 })).toBe('an earlier run has not ended');
  expect(overlapProblem({ openBefore: 20 })).toBe('20 earlier runs have not ended');
});

test.each<[SessionBehavior, PinnedState, PinStep]>([
  ['resume', 'none', 'spawn'],
  ['resume', 'active', 'message'],
  ['resume', 'ended', 'resume'],
  ['resume', 'gone', 'spawn'],
  ['new', 'none', 'spawn'],
  ['new', 'active', 'spawn'],
  ['new', 'ended', 'spawn'],
  ['new', 'gone', 'spawn'],
])('%s: a pin that is %s → %s', (behavior, state, step) => {
  expect(pinStep(behavior, state)).toBe(step);
});

const states: Record<SessionStatus, PinnedState> = {
  created: 'active',
  running: 'active',
  idle: 'active',
  completed: 'ended',
  failed: 'ended',
  creating: 'active',
  ready: 'active',
  paused: 'active',
  error: 'active',
  stopped: 'ended',
};

test.each(Object.entries(states))('a pinned session that is %s is %s', (status, state) => {
  expect(pinnedState({}, { status: status as SessionStatus })).toBe(state);
});

test('a pin without a session is lost, and no pin is none', () => {
  expect([pinnedState({}, undefined), pinnedState(undefined, undefined)]).toEqual(['gone', 'none']);
});
