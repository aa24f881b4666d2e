/**
 * Begins an execution in its session: a new one, or a named one that has not ended, which includes a paused one. From then on the call
 * counts as running, until it cannot be running any more (L5).
 */

import { idleOfKind, type Lifetimes } from '../../domain/idle-time.ts';
import type { SessionId } from '../../domain/ids.ts';
import { sandboxWaitMsMax, saveMsMax, toolSilenceMsMax } from '../../domain/limits.ts';
import type { Principal } from '../../domain/principal.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import { AppError } from '../../errors.ts';
import { findSession } from '../access/find-session.ts';
import type { Deps, SessionDeps } from '../deps.ts';
import { createSession } from '../session/create-session.ts';
import type { SessionDefaults, SessionOptions } from '../session/new-session.ts';

export type WaitOptions = {
  /** Seconds to wait for a slot. */
  readonly waitSeconds: number;
  /** An idle sandbox gives way, whatever the operator's setting. */
  readonly evictIdle: boolean;
  readonly signal?: AbortSignal;
};

export type ExecutionOptions = {
  readonly principal: Principal;
  /** Absent: a new session. */
  readonly sessionId?: string | undefined;
  readonly options: SessionOptions;
  readonly defaults: SessionDefaults;
  readonly wait: WaitOptions;
  readonly timeoutSeconds: number;
  /** Receives the id of the session, also of one that is still to be created, before anything else. */
  readonly onSession?: (id: SessionId) => void;
  /** Receives the phase of a slow start. */
  readonly onPhase?: (phase: string) => void;
};

/** The time for killing a program and for the requests between the steps. */
const marginMs = 60_000;

/** The longest a call runs from here: its sandbox's start, its timeout, a sandbox that falls silent, and the save. */
const callMsMax = ({ timeoutSeconds }: Pick<ExecutionOptions, 'timeoutSeconds'>): number =>
  sandboxWaitMsMax + timeoutSeconds * 1000 + toolSilenceMsMax + saveMsMax + marginMs;

export type Entered = { readonly session: Session; readonly sessionCreated: boolean };

export const beginExecution = async (
  ports: SessionDeps,
  execution: ExecutionOptions,
  key: string,
): Promise<Entered> => {
  if (execution.sessionId !== undefined)
    return { session: await enter(ports, execution, key), sessionCreated: false };
  const { principal, options, defaults } = execution;
  const firstCall = { key, forMs: callMsMax(execution) };
  const request = {
    id: ports.world.uuid() as SessionId,
    principal,
    options: { ...options, kind: 'execution' as const, firstCall },
    defaults,
  };
  execution.onSession?.(request.id);
  const session = await createSession(ports, request);
  if (session === undefined) throw new Error('a new session id was taken');
  return { session, sessionCreated: true };
};

const enter = async (ports: SessionDeps, execution: ExecutionOptions, key: string): Promise<Session> => {
  const { sessionId = '', principal, options, defaults, timeoutSeconds } = execution;
  const { session } = await findSession(ports.turns, { id: sessionId, principal, intent: 'write' });
  execution.onSession?.(session.id);
  if (session.kind !== 'execution')
    throw new AppError('invalid_session_state', 'this is an agent session: programs run in its turns', {
      suggestions: ['Leave out session_id to create a new session.'],
      recoveryActions: ['create_new_session'],
    });
  refuseOtherSize(session, options);
  return beginCall(ports, session, { key, timeoutSeconds, lifetimes: defaults.lifetimes });
};

type Beginning = {
  readonly key: string;
  readonly timeoutSeconds: number;
  readonly lifetimes: Lifetimes;
};

/** Begins a call in an execution session that still lives; the session as it is then. */
export const beginCall = async (
  ports: Deps<'sessions' | 'world'>,
  session: Session,
  { key, timeoutSeconds, lifetimes }: Beginning,
): Promise<Session> => {
  const at = ports.world.now();
  const idleMs = idleOfKind(session, lifetimes);
  const until = at + callMsMax({ timeoutSeconds });
  const entered = isEnded(session.status)
    ? undefined
    : await ports.sessions.beginCall(session.id, { key, at, until, idleMs });
  if (entered !== undefined) return entered;
  throw new AppError(
    'invalid_session_state',
    `the session is ${isEnded(session.status) ? session.status : 'over'}`,
    {
      suggestions: ['Leave out session_id to create a new session.'],
      recoveryActions: ['create_new_session'],
    },
  );
};

type Leaving = Pick<Beginning, 'key' | 'lifetimes'> & {
  /** True when the sandbox of the call never came. */
  readonly isWithoutSandbox?: boolean;
  /** The generation of the sandbox in which it ran; absent: it did not run, or its outcome is not known. */
  readonly calledIn?: number | undefined;
};

/** A call that was not ended counts until it expires: its result is worth more. */
export const endExecution = async (
  ports: Deps<'sessions' | 'telemetry' | 'world'>,
  session: Session,
  { key, lifetimes, isWithoutSandbox = false, calledIn }: Leaving,
): Promise<void> => {
  const at = ports.world.now();
  const idleMs = idleOfKind(session, lifetimes);
  try {
    await ports.sessions.endCall(session.id, { key, at, idleMs, isWithoutSandbox, calledIn });
  } catch (error) {
    ports.telemetry.warn('the end of a call was not recorded', { sessionId: session.id, error });
  }
};

/** A session retains its size: another one needs a new session. */
const refuseOtherSize = (session: Session, { flavor }: SessionOptions): void => {
  if (flavor === undefined || flavor.toLowerCase() === session.flavor) return;
  throw new AppError('invalid_session_state', `the session has flavor ${session.flavor}`, {
    suggestions: ['Leave the flavor out, or create a new session.'],
    recoveryActions: ['create_new_session'],
  });
};
