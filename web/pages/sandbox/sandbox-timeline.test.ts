import { expect, test } from 'vitest';
import type { Session } from '#sdk/routes.ts';
import { stepsOf } from './sandbox-timeline.vue';

type Sandbox = NonNullable<Session['sandbox']>;
const requestedAt = '2026-01-01T00:00:00.000Z';
const readyAt = '2026-01-01T00:00:02.500Z';
const stoppedAt = '2026-01-01T01:00:00.000Z';

const stages = (sandbox: Sandbox | null) => stepsOf(sandbox).map(({ name, state }) => `${name} ${state}`);
const notes = (sandbox: Sandbox) => stepsOf(sandbox).map(({ note }) => note);

test('without a sandbox every step is ahead', () => {
  expect(stages(null)).toEqual(['Requested ahead', 'Starting ahead', 'Ready ahead', 'Stopped ahead']);
});

test.each([
  ['requested', 'requesting a machine'],
  ['placed', 'booting the machine'],
  ['booting', 'starting its server'],
] as const)('a start in phase %s has the note %s', (phase, note) => {
  const sandbox: Sandbox = { state: 'starting', source: 'cold', requestedAt, phase };
  expect(stages(sandbox)[1]).toBe('Starting current');
  expect(notes(sandbox)).toEqual(['cold start', note, '', '']);
});

test('a start that restores files says so, and no step is left that a new sandbox never takes', () => {
  const sandbox: Sandbox = { state: 'starting', source: 'pool', requestedAt, phase: 'restoring' };
  expect(stages(sandbox).slice(1, 3)).toEqual(['Starting current', 'Ready ahead']);
  expect(notes(sandbox)).toEqual(['warm start', 'restoring files', '', '']);
});

test('a ready sandbox has its start time and duration', () => {
  const steps = stepsOf({ state: 'ready', source: 'cold', requestedAt, readyAt, startMs: 2500 });
  expect(steps[2]).toEqual({ name: 'Ready', state: 'current', at: readyAt, note: 'after 2.5 s' });
  expect(steps[3]).toEqual({ name: 'Stopped', state: 'ahead', at: null, note: '' });
});

test('a stop has its reason, and is on its way before it is done', () => {
  const lived = { source: 'cold', requestedAt, readyAt, startMs: 2500, reason: 'idle' } as const;
  expect(stepsOf({ ...lived, state: 'stopping' })[3]).toEqual({
    name: 'Stopping',
    state: 'current',
    at: null,
    note: 'idle; saving files',
  });
  expect(stepsOf({ ...lived, state: 'stopped', stoppedAt })[3]).toEqual({
    name: 'Stopped',
    state: 'current',
    at: stoppedAt,
    note: 'idle',
  });
});

test('a sandbox that was never ready has failed', () => {
  const sandbox: Sandbox = {
    state: 'stopped',
    source: 'cold',
    requestedAt,
    stoppedAt,
    reason: 'no capacity',
  };
  expect(stages(sandbox)).toEqual(['Requested done', 'Starting ahead', 'Ready ahead', 'Stopped failed']);
});
