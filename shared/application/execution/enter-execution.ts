/**
 * Enters an execution into its session: a new one, after waiting for a slot, or a named one that still lives.
 * From then on the call counts as running, until it cannot be running any more (L5).
 */

import type { SessionId } from '../../domain/ids.ts';
import { sandboxWaitMsMax, saveMsMax, toolSilenceMsMax } from '../../domain/limits.ts';
import type { Principal } from '../../domain/principal.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import { idleLimit } from '../../domain/session-sweep.ts';
import { AppError } from '../../errors.ts';
import { findSession } from '../access/find-session.ts';
import type { Deps, SessionDeps } from '../deps.ts';
import type { SessionDefaults, SessionOptions } from '../session/create-session.ts';
import { createSessionWhenFree, type WaitOptions } from '../session/create-session-when-free.ts';

export type ExecutionOptions = {
  readonly principal: Principal;
  /** Absent: a new session. */
  readonly sessionId?: string | undefined;
  readonly options: SessionOptions;
  readonly defaults: SessionDefaults;
  readonly wait: WaitOptions;
  readonly timeoutSeconds: number;
  /** Receives the phase of a slow start. */
  readonly onPhase?: (phase: string) => void;
};

/** The time for killing a program and for the requests between the steps. */
const marginMs = 60_000;

/** The longest a call runs from here: its sandbox's start, its timeout, a sandbox that falls silent, and the save. */
const callMsMax = ({ timeoutSeconds }: ExecutionOptions): number =>
  sandboxWaitMsMax + timeoutSeconds * 1000 + toolSilenceMsMax + saveMsMax + marginMs;

export type Entered = { readonly session: Session; readonly sessionCreated: boolean };

export const enterExecution = async (
  ports: SessionDeps & Deps<'slots'>,
  execution: ExecutionOptions,
  key: string,
): Promise<Entered> => {
  if (execution.sessionId !== undefined)
    return { session: await enter(ports, execution, key), sessionCreated: false };
  const { principal, options, defaults, wait } = execution;
  // Its time begins when the session is created, after the wait for a slot.
  const firstCall = { key, forMs: callMsMax(execution) };
  const request = {
    id: ports.world.uuid() as SessionId,
    principal,
    options: { ...options, kind: 'execution' as const, firstCall },
    defaults,
  };
  const onWait = (): void => execution.onPhase?.('waiting for a slot');
  const session = await createSessionWhenFree(ports, request, { ...wait, onWait });
  if (session === undefined) throw new Error('a new session id was taken');
  return { session, sessionCreated: true };
};

const enter = async (
  ports: SessionDeps & Deps<'slots'>,
  execution: ExecutionOptions,
  key: string,
): Promise<Session> => {
  const { sessionId = '', principal, options, defaults } = execution;
  const { session } = await findSession(ports.turns, { id: sessionId, principal, intent: 'write' });
  if (session.kind !== 'execution')
    throw new AppError('invalid_session_state', 'this is an agent session: programs run in its turns', {
      suggestions: ['Leave session_id out for a new session.'],
      recoveryActions: ['create_new_session'],
    });
  refuseOtherSize(session, options);
  const at = ports.world.now();
  const dueAt = at + idleLimit(session, defaults.lifetimes);
  const entered = isEnded(session.status)
    ? undefined
    : await ports.sessions.beginCall(session.id, { key, at, until: at + callMsMax(execution), dueAt });
  if (entered !== undefined) return entered;
  throw new AppError(
    'invalid_session_state',
    `the session is ${isEnded(session.status) ? session.status : 'over'}`,
    {
      suggestions: ['Leave session_id out for a new session.'],
      recoveryActions: ['create_new_session'],
    },
  );
};

/** A session retains its size: another one needs a new session. */
const refuseOtherSize = (session: Session, { flavor }: SessionOptions): void => {
  if (flavor === undefined || flavor.toLowerCase() === session.flavor) return;
  throw new AppError('invalid_session_state', `the session has flavor ${session.flavor}`, {
    suggestions: ['Leave the flavor out, or create a new session.'],
    recoveryActions: ['create_new_session'],
  });
};
