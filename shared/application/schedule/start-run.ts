/**
 * Starts one claimed run, once, as the overlap table and the pinning table decide.
 *
 * The session and the message of a run are named after it, so that driving it again creates the same ones. A pin
 * is written before the run is, or a run that died in between would leave its session without a pin.
 */

import { InvariantError } from '../../domain/assert.ts';
import type { MessageId, SessionId } from '../../domain/ids.ts';
import { runLookMsMin } from '../../domain/schedule/limits.ts';
import type { ScheduleState } from '../../domain/schedule/next-step.ts';
import { cutOutput, move, type Run } from '../../domain/schedule/run.ts';
import {
  type OverlapStep,
  overlapProblem,
  overlapStep,
  pinnedState,
  pinStep,
} from '../../domain/schedule/run-start.ts';
import { type Pin, type ScheduleTarget, targetKey } from '../../domain/schedule/schedule.ts';
import { isAppError } from '../../errors.ts';
import { end } from './poll-run.ts';
import type { Conversation, RunDeps, Spawn } from './schedule-conversation.ts';

export type Start = {
  /** Its open runs include the earlier ones of the same target. */
  readonly state: ScheduleState;
  readonly run: Run & { readonly target: ScheduleTarget };
};

/** The run as it is saved next: running, waiting, or ended at once. */
export const startRun = async (ports: RunDeps, start: Start): Promise<Run> => {
  const { state, run } = start;
  const pin = state.pins.get(targetKey(run.target));
  const pinned = pinnedState(pin, pin && (await ports.sessions.get(pin.session)));
  const openBefore = state.open.length;
  const step = overlapStep(state.schedule, { openBefore, isPinActive: pinned === 'active' });
  const at = ports.world.now();
  if (step === 'skip') return end(run, 'skipped', { endedAt: at, problem: overlapProblem({ openBefore }) });
  if (step === 'wait')
    return { ...run, state: move(run.state, 'deferred') ?? run.state, dueAt: at + runLookMsMin };
  try {
    const spoken = await speak(ports, start, { step, pinned });
    return begun(start, spoken, ports.world.now());
  } catch (error) {
    if (!isAppError(error)) throw error;
    return end(run, 'refused', {
      endedAt: ports.world.now(),
      problem: cutOutput(`${error.code}: ${error.message}`),
    });
  }
};

type Way = {
  readonly step: Exclude<OverlapStep, 'skip' | 'wait'>;
  readonly pinned: ReturnType<typeof pinnedState>;
};

const speak = async (ports: RunDeps, start: Start, { step, pinned }: Way): Promise<Spoken> => {
  const { state, run } = start;
  const { sessions: behavior } = state.schedule;
  const pin = state.pins.get(targetKey(run.target));
  const spawn = spawnOf(ports, start);
  if (step === 'beside') return { conversation: await ports.converse.spawn(spawn), isAlone: true };
  const wanted = step === 'follow' ? 'message' : pinStep(behavior, pinned);
  if (wanted === 'message' && pin !== undefined)
    return {
      conversation: await ports.converse.message({ ...spawn, session: pin.session }),
      isAlone: false,
    };
  const conversation =
    wanted === 'resume' && pin !== undefined
      ? await resumeOrSpawn(ports, spawn, pin)
      : await ports.converse.spawn(spawn);
  const { session, workspace } = conversation;
  await ports.schedules.pin(run.schedule, run.target, { session, workspace });
  return { conversation, isAlone: behavior === 'new' };
};

/** An ended session continues as a new one in its workspace. */
const resumeOrSpawn = async (
  { converse }: RunDeps,
  spawn: Spawn,
  { workspace }: Pin,
): Promise<Conversation> => {
  try {
    return await converse.spawn({ ...spawn, workspace });
  } catch (error) {
    if (!isAppError(error)) throw error;
    return converse.spawn(spawn);
  }
};

const messageOf = ({ run }: Start): MessageId => `run-${run.schedule}-${run.runAt}-${run.part}` as MessageId;

const spawnOf = ({ world }: RunDeps, start: Start): Spawn => {
  const { state, run } = start;
  const { creator: principal, prompt: text } = state.schedule;
  const { project, workspace } = run.target;
  const messageId = messageOf(start);
  return {
    id: uuidOf(world.sha256(messageId)) as SessionId,
    messageId,
    principal,
    text,
    project,
    ...(workspace === undefined ? {} : { workspace }),
  };
};

/** In the form of a random UUID (RFC 9562, version 8: its contents are free). */
const uuidOf = (hash: string): string =>
  [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');

type Spoken = { readonly conversation: Conversation; readonly isAlone: boolean };

/** A run that was driven before may have sent its message already: its whole log is searched. */
const begun = (start: Start, { conversation, isAlone }: Spoken, at: number): Run => {
  const { run } = start;
  const state = move(run.state, 'started');
  if (state === undefined) throw new InvariantError(`a run that is ${run.state} was started`);
  const { session, lastEventIndex } = conversation;
  return {
    ...run,
    state,
    startedAt: at,
    session,
    message: messageOf(start),
    since: run.version === 0 ? lastEventIndex : -1,
    ...(isAlone ? { isAlone } : {}),
    dueAt: at + runLookMsMin,
  };
};
