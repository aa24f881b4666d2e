/**
 * Runs one program in an execution session: finds or creates the session, acquires its sandbox, runs the call
 * under a key of its own, saves the workspace, answers.
 *
 * While it runs the session is `running` and cannot be evicted; a function that dies here leaves a call that
 * expires, after which the janitor ignores it. Code that fails is a result; only the platform's faults and
 * refusals are thrown.
 */

import type { JsonObject } from '../../domain/json.ts';
import type { Session } from '../../domain/session.ts';
import { AppError, type AppErrorDetails, errorBody, isAppError } from '../../errors.ts';
import type { ToolProgress } from '../../ports/sandbox.ts';
import type { ExecutionDeps } from '../deps.ts';
import { type EnteredSandbox, enterSandbox } from '../sandbox/acquire-with-heartbeat.ts';
import { endSession } from '../turn/requests/end-session.ts';
import { beginExecution, type Entered, type ExecutionOptions, endExecution } from './begin-execution.ts';
import { callInSandbox, type Ran, refuseCancelled } from './call-in-sandbox.ts';

export type Execution = ExecutionOptions & {
  readonly tool: string;
  /** The arguments of the tool, given the session it runs in. */
  readonly argsFor: (session: Session) => JsonObject;
  readonly onProgress: (progress: ToolProgress) => void;
};

export type Executed = Ran & {
  readonly session: Session;
  readonly sessionCreated: boolean;
};

export const execute = async (ports: ExecutionDeps, execution: Execution): Promise<Executed> => {
  const key = ports.world.uuid();
  const entered = await beginExecution(ports, execution, key);
  const { session, sessionCreated } = entered;
  let opened: EnteredSandbox | undefined;
  let calledIn: number | undefined;
  try {
    opened = await openFirst(ports, execution, entered);
    const { tool, argsFor, onProgress, wait } = execution;
    const reopen = () => openFirst(ports, execution, { ...entered, sessionCreated: false });
    const call = { key, opened, reopen, tool, args: argsFor(session), onProgress, ...wait };
    const ran = await callInSandbox(ports, session, call);
    calledIn = ran.generation;
    return { session, sessionCreated, ...ran };
  } catch (error) {
    throw sessionCreated && !isRefused(error) ? withSession(ports, error, session) : error;
  } finally {
    const isWithoutSandbox = opened === undefined;
    const { lifetimes } = execution.defaults;
    await endExecution(ports, session, { key, lifetimes, isWithoutSandbox, calledIn });
  }
};

/** The sandbox of the session; a new session whose sandbox does not start is ended: in `error`, if that was the platform's fault. */
export const openFirst = async (
  ports: ExecutionDeps,
  { defaults, wait, onPhase }: ExecutionOptions,
  { session, sessionCreated }: Entered,
): Promise<EnteredSandbox> => {
  const { signal } = wait;
  const opening = {
    lifetimes: defaults.lifetimes,
    ...(onPhase === undefined ? {} : { onPhase }),
    slotWaitSeconds: wait.waitSeconds,
    evictsIdle: wait.evictIdle,
    ...(signal === undefined ? {} : { signal }),
  };
  try {
    return await enterSandbox(ports, session, opening);
  } catch (error) {
    const isStartFailed = !isRefused(error) && !signal?.aborted;
    if (sessionCreated) await giveUp(ports, session, { cause: error, isStartFailed });
    refuseCancelled(signal);
    throw error;
  }
};

/** No slot was free: the session was never told to a client. */
export const isRefused = (error: unknown): boolean =>
  isAppError(error) && error.code === 'resource_limit_exceeded';

/** A session whose first sandbox never came is of no use. The start's error is the one that the client gets. */
const giveUp = async (
  ports: ExecutionDeps,
  session: Session,
  { cause, isStartFailed }: { readonly cause: unknown; readonly isStartFailed: boolean },
): Promise<void> => {
  try {
    if (isRefused(cause) && (await ports.sessions.removeUnused(session))) return;
    const status = isStartFailed ? 'error' : 'stopped';
    await endSession(ports, session, { reason: 'its first sandbox did not start', status });
  } catch (error) {
    ports.telemetry.warn('a session without a sandbox was not ended', { sessionId: session.id, error });
  }
};

/** The caller whose call created the session learns its id only here: the call's files are in it. */
export const withSession = (
  { telemetry }: ExecutionDeps,
  error: unknown,
  { id: sessionId }: Session,
): AppError => {
  if (!isAppError(error)) telemetry.error('an execution failed', { error, sessionId });
  const { code, message, suggestions, recoveryActions } = errorBody(error, '').error;
  const details: AppErrorDetails = isAppError(error) ? error.details : { suggestions, recoveryActions };
  return new AppError(code, message, { ...details, cause: error, facts: { ...details.facts, sessionId } });
};
