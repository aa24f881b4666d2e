/** The pinning table, row by row. */
import { expect, test } from 'vitest';
import type { SessionStatus } from '../session.ts';
import { type PinnedState, type PinStep, pinnedState, pinStep } from './pinning.ts';
import type { SessionBehavior } from './schedule.ts';

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
  error: 'active',
  stopped: 'ended',
};

test.each(Object.entries(states))('a pinned session that is %s is %s', (status, state) => {
  expect(pinnedState({}, { status: status as SessionStatus })).toBe(state);
});

test('a pin without a session is gone, no pin is none', () => {
  expect([pinnedState({}, undefined), pinnedState(undefined, undefined)]).toEqual(['gone', 'none']);
});
