/**
 * Lifecycle of a sandbox as steps, from the server's state and times. Pure.
 */
import type { Session } from '#sdk/routes.ts';
import { duration } from '../../components/format.ts';

export type StepState = 'done' | 'current' | 'ahead' | 'failed';

export type Step = {
  readonly name: string;
  readonly state: StepState;
  readonly at: string | null;
  readonly note: string;
};

type Sandbox = NonNullable<Session['sandbox']>;

const names = ['Requested', 'Starting', 'Restoring', 'Ready', 'Stopped'] as const;

export const stepsOf = (sandbox: Session['sandbox']): readonly Step[] => {
  const reached = sandbox === null ? -1 : reachedStep(sandbox);
  const hasFailed = sandbox?.state === 'stopped' && sandbox.readyAt === undefined;
  return names.map((name, index) => ({
    name: index === 4 && sandbox?.state === 'stopping' ? 'Stopping' : name,
    state: stateOf({ index, reached, hasFailed }),
    at: momentOf(sandbox, index),
    note: sandbox === null ? '' : noteOf(sandbox, index, reached),
  }));
};

const reachedStep = ({ state, phase }: Sandbox): number => {
  if (state === 'ready') return 3;
  if (state !== 'starting') return 4;
  return phase === 'restoring' ? 2 : 1;
};

type Position = { readonly index: number; readonly reached: number; readonly hasFailed: boolean };

const stateOf = ({ index, reached, hasFailed }: Position): StepState => {
  if (hasFailed && index > 0) return index === 4 ? 'failed' : 'ahead';
  if (index === reached) return 'current';
  return index < reached ? 'done' : 'ahead';
};

const momentOf = (sandbox: Session['sandbox'], index: number): string | null => {
  if (index === 0) return sandbox?.requestedAt ?? null;
  if (index === 3) return sandbox?.readyAt ?? null;
  return (index === 4 && sandbox?.stoppedAt) || null;
};

const phaseLabels = {
  requested: 'requesting a machine',
  placed: 'booting the machine',
  booting: 'starting its server',
  restoring: 'restoring files',
} as const;

const noteOf = (sandbox: Sandbox, index: number, reached: number): string => {
  const { source, phase, startMs } = sandbox;
  if (index === 0) return source === 'pool' ? 'warm start' : 'cold start';
  if (index === 3) return startMs === undefined ? '' : `after ${duration(startMs)}`;
  if (index !== reached) return '';
  return index === 4 ? endNote(sandbox) : phase === undefined ? '' : phaseLabels[phase];
};

const endNote = ({ state, reason }: Sandbox): string =>
  state === 'stopping' ? `${reason ?? 'requested'}; saving files` : (reason ?? '');
