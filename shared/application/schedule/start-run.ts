/**
 * Starts one claimed run, once, as the overlap table and the pinning table decide.
 *
 * The session and the message of a run are named after the run, so that a repeat creates the same ones. The session in which it
 * sends its message is recorded before the message is sent, since the tables would choose another one as soon as a session or
 * an earlier run has ended (J6). If a pinned session was deleted or can no longer be resumed, the run's own session is recorded
 * instead. A pin is written before the run is: otherwise a run that died in between would leave its session without a pin.
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
  type PinnedState,
  pinnedState,
  pinStep,
} from '../../domain/schedule/run-start.ts';
import { type Pin, type ScheduleTarget, targetKey } from '../../domain/schedule/schedule.ts';
import { type AppError, isAppError } from '../../errors.ts';
import { end } from './poll-run.ts';
import type { Conversation, RunDeps, Spawn } from './schedule-conversation.ts';

export type Start = {
  /** Its open runs are those of the same target that come before this one. */
  readonly state: ScheduleState;
  readonly run: Run & { readonly target: ScheduleTarget };
};

/** The run as it is saved next: running, waiting, or ended at once. Undefined when it must not start. */
export const startRun = async (ports: RunDeps, start: Start): Promise<Run | undefined> => {
  const { state, run } = start;
  const pin = state.pins.get(targetKey(run.target));
  const pinned = pinnedState(pin, pin && (await ports.sessions.get(pin.session)));
  if (run.session !== undefined) return speakOrFail(ports, start, { chosen: run, pinned });
  const openBefore = state.open.length;
  const step = overlapStep(state.schedule, { openBefore, isPinActive: pinned === 'active' });
  const at = ports.world.now();
  if (step === 'skip') return end(run, 'skipped', { endedAt: at, problem: overlapProblem({ openBefore }) });
  if (step === 'wait')
    return { ...run, state: move(run.state, 'deferred') ?? run.state, dueAt: at + runLookMsMin };
  const choice = { ...run, ...choose(ports, start, { step, pinned }) };
  if (!(await ports.schedules.beginRun(choice))) return undefined;
  return speakOrFail(ports, start, { chosen: { ...choice, version: run.version + 1 }, pinned });
};

type Way = {
  readonly step: Exclude<OverlapStep, 'skip' | 'wait'>;
  readonly pinned: PinnedState;
};

/** The session in which it speaks: the pinned one, or one of its own. */
const choose = (
  ports: RunDeps,
  start: Start,
  { step, pinned }: Way,
): Required<Pick<Run, 'session'>> & Pick<Run, 'isAlone'> => {
  const { schedule, pins } = start.state;
  const pin = pins.get(targetKey(start.run.target));
  const isFollowing =
    step === 'follow' || (step === 'start' && pinStep(schedule.sessions, pinned) !== 'spawn');
  if (isFollowing && pin !== undefined) return { session: pin.session };
  const session = ownSession(ports, start);
  return step === 'beside' || schedule.sessions === 'new' ? { session, isAlone: true } : { session };
};

type Chosen = { readonly chosen: Run; readonly pinned: PinnedState };

/** A run that is refused before it spoke has no session; one that was taken over may have spoken before. */
const speakOrFail = async (
  ports: RunDeps,
  start: Start,
  { chosen, pinned }: Chosen,
): Promise<Run | undefined> => {
  try {
    const spoken = await speak(ports, start, { chosen, pinned });
    return begun(start, { ...spoken, chosen, at: ports.world.now() });
  } catch (error) {
    if (!isAppError(error)) throw error;
    const session = ownSession(ports, start);
    const lost = chosen.session === session ? undefined : await lostPin(ports, chosen, error);
    // A run that was taken over may have spoken in a session that was deleted since; no other one hears it.
    const isUnknown = lost === 'gone' && start.run.session !== undefined;
    if (lost !== undefined && !isUnknown) {
      const own = { ...chosen, session };
      if (!(await ports.schedules.beginRun(own))) return undefined;
      const next = { ...own, version: own.version + 1 };
      return speakOrFail(ports, start, { chosen: next, pinned: lost });
    }
    return end({ ...start.run, version: chosen.version }, 'refused', {
      endedAt: ports.world.now(),
      problem: isUnknown ? deletedProblem : cutOutput(`${error.code}: ${error.message}`),
    });
  }
};

const deletedProblem =
  'session_not_found: its session was deleted before it was recorded whether the prompt had reached it';

/**
 * The reason why the pinned session takes no message: it has ended and can no longer be resumed, or it was deleted since it was
 * chosen.
 */
const lostPin = async (
  { sessions }: RunDeps,
  { session }: Run,
  { code }: AppError,
): Promise<'ended' | 'gone' | undefined> => {
  if (code === 'invalid_session_state') return 'ended';
  if (code !== 'session_not_found' || session === undefined) return undefined;
  return (await sessions.get(session)) === undefined ? 'gone' : undefined;
};

const speak = async (ports: RunDeps, start: Start, { chosen, pinned }: Chosen): Promise<Spoken> => {
  const { state, run } = start;
  const { isAlone = false, session } = chosen;
  const spawn = spawnOf(ports, start);
  if (session !== undefined && session !== spawn.id)
    return { conversation: await ports.converse.message({ ...spawn, session }), isAlone: false };
  if (isAlone && state.schedule.sessions === 'resume')
    return { conversation: await ports.converse.spawn(spawn), isAlone };
  const pin = state.pins.get(targetKey(run.target));
  const conversation =
    !isAlone && pinned === 'ended' && pin !== undefined
      ? await resumeOrSpawn(ports, spawn, pin)
      : await ports.converse.spawn(spawn);
  const { workspace } = conversation;
  const isPinned = await ports.schedules.pin(run.schedule, run.target, {
    pin: { session: conversation.session, workspace },
    former: pin,
  });
  return { conversation, isAlone: isAlone || !isPinned };
};

/** An ended session that cannot be resumed continues as a new one in its workspace. */
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

/** The message that it sends, in whichever session. */
export const messageOf = ({ schedule, runAt, part }: Pick<Run, 'schedule' | 'runAt' | 'part'>): MessageId =>
  `run-${schedule}-${runAt}-${part}` as MessageId;

const ownSession = ({ world }: RunDeps, { run }: Start): SessionId =>
  uuidOf(world.sha256(messageOf(run))) as SessionId;

const spawnOf = (ports: RunDeps, start: Start): Spawn => {
  const { state, run } = start;
  const { creator: principal, prompt: text } = state.schedule;
  const { project, workspace } = run.target;
  return {
    id: ownSession(ports, start),
    messageId: messageOf(start.run),
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

type Begun = { readonly chosen: Run; readonly at: number };

/** A run that was driven before may have sent its message already: its whole log is searched. */
const begun = (start: Start, { conversation, isAlone, chosen, at }: Spoken & Begun): Run => {
  const { run } = start;
  const state = move(run.state, 'started');
  if (state === undefined) throw new InvariantError(`a run that is ${run.state} was started`);
  const { session, lastEventIndex } = conversation;
  return {
    ...chosen,
    state,
    startedAt: at,
    session,
    message: messageOf(run),
    since: run.version === 0 ? lastEventIndex : -1,
    ...(isAlone ? { isAlone } : {}),
    dueAt: at + runLookMsMin,
  };
};
