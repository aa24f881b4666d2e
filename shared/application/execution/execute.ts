/**
 * Runs one program in an execution session: finds or creates the session, acquires its sandbox, runs the call
 * under a key of its own, saves the workspace, answers.
 *
 * While it runs the session is `running` and cannot be evicted; a function that dies here leaves a call that
 * expires, after which the janitor ignores it. Code that fails is a result; only the platform's faults and
 * refusals are thrown.
 */

import { startNotice } from '../../contracts/sandbox-start.ts';
import { checkpointEveryMs } from '../../domain/checkpoint.ts';
import type { ToolContent } from '../../domain/event-log.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Session } from '../../domain/session.ts';
import { idleLimit } from '../../domain/session-sweep.ts';
import { AppError, type AppErrorDetails, errorBody, isAppError, isErrorCode } from '../../errors.ts';
import type { ToolOutcome, ToolProgress } from '../../ports/sandbox.ts';
import type { ExecutionDeps } from '../deps.ts';
import type { AcquiredSandbox } from '../sandbox/acquire-sandbox.ts';
import { callUntilKnown } from '../sandbox/call-until-known.ts';
import { openSandbox } from '../sandbox/open-sandbox.ts';
import { keepSaving, saveWorkspace } from '../sandbox/save-workspace.ts';
import { endSession } from '../turn/requests/end-session.ts';
import { type Entered, type ExecutionOptions, enterExecution } from './enter-execution.ts';

export type Execution = ExecutionOptions & {
  readonly tool: string;
  /** The arguments of the tool, given the session it runs in. */
  readonly argsFor: (session: Session) => JsonObject;
  readonly onProgress: (progress: ToolProgress) => void;
};

export type Executed = {
  readonly session: Session;
  readonly sessionCreated: boolean;
  readonly content: readonly ToolContent[];
  readonly structured: JsonObject;
  /** The sandbox before this one is lost, and all that ran in it. */
  readonly stateLost: boolean;
  /** Files that were not restored or could not be saved. */
  readonly notices: readonly string[];
};

export const execute = async (ports: ExecutionDeps, execution: Execution): Promise<Executed> => {
  const key = ports.world.uuid();
  const entered = await enterExecution(ports, execution, key);
  const { session, sessionCreated } = entered;
  try {
    const opened = await openFirst(ports, execution, entered);
    const ran = await runCall(ports, { execution, session, key, opened });
    return { session, sessionCreated, ...ran };
  } catch (error) {
    throw sessionCreated ? withSession(ports, error, session) : error;
  } finally {
    await leave(ports, { execution, session, key });
  }
};

const openFirst = async (
  ports: ExecutionDeps,
  { defaults, wait, onPhase }: Execution,
  { session, sessionCreated }: Entered,
): Promise<AcquiredSandbox> => {
  const { correlationId, signal } = wait;
  const opening = {
    lifetimes: defaults.lifetimes,
    correlationId,
    ...(onPhase === undefined ? {} : { onPhase }),
    ...(signal === undefined ? {} : { signal }),
  };
  try {
    return await openSandbox(ports, session, opening);
  } catch (error) {
    if (sessionCreated) await giveUp(ports, session, correlationId);
    refuseCancelled(signal);
    throw error;
  }
};

/** A session whose first sandbox never came is of no use. The start's error is the one that the client gets. */
const giveUp = async (ports: ExecutionDeps, session: Session, correlationId: string): Promise<void> => {
  try {
    await endSession(ports, session, { reason: 'its first sandbox did not start', correlationId });
  } catch (error) {
    ports.telemetry.warn('a session without a sandbox was not ended', { sessionId: session.id, error });
  }
};

/** The caller whose call created the session learns its id only here: the call's files are in it. */
const withSession = ({ telemetry }: ExecutionDeps, error: unknown, { id: sessionId }: Session): AppError => {
  if (!isAppError(error)) telemetry.error('an execution failed', { error, sessionId });
  const { code, message, suggestions, recoveryActions } = errorBody(error, '').error;
  const details: AppErrorDetails = isAppError(error) ? error.details : { suggestions, recoveryActions };
  return new AppError(code, message, { ...details, cause: error, facts: { ...details.facts, sessionId } });
};

/** A call that was not ended counts until it expires: its result is worth more. */
const leave = async (
  ports: ExecutionDeps,
  { execution, session, key }: Pick<Call, 'execution' | 'session' | 'key'>,
): Promise<void> => {
  const at = ports.world.now();
  const dueAt = at + idleLimit(session, execution.defaults.lifetimes);
  try {
    await ports.sessions.endCall(session.id, { key, at, dueAt });
  } catch (error) {
    ports.telemetry.warn('the end of a call was not recorded', { sessionId: session.id, error });
  }
};

type Call = {
  readonly execution: Execution;
  readonly session: Session;
  readonly key: string;
  readonly opened: AcquiredSandbox;
};

const runCall = async (
  ports: ExecutionDeps,
  { execution, session, key, opened }: Call,
): Promise<Pick<Executed, 'content' | 'structured' | 'stateLost' | 'notices'>> => {
  const { wait, tool, argsFor, onProgress } = execution;
  const { correlationId, signal } = wait;
  const { sandbox, start, workspace } = opened;
  refuseCancelled(signal);
  if (session.status === 'creating') await ports.sessions.recordRunning(session.id);
  const startedAt = ports.world.now();
  const saving = keepSaving(ports, sandbox);
  const call = {
    sandbox,
    callKey: `${session.id}/${key}`,
    name: tool,
    args: argsFor(session),
    correlationId,
    onProgress,
    ...(signal === undefined ? {} : { signal }),
  };
  const outcome = await callUntilKnown(ports, call).finally(saving.stop);
  ports.telemetry.duration('ToolCallMs', ports.world.now() - startedAt);
  if (outcome.status !== 'finished') ports.telemetry.count('ToolCallsFailed');
  const ended = resultOf(outcome);
  // After a long call the checkpoint that was read before may have been replaced.
  const isFresh = ports.world.now() - startedAt < checkpointEveryMs;
  const saved = await saveWorkspace(ports, sandbox, isFresh ? { workspace } : {});
  const notice = start === undefined ? undefined : startNotice(start);
  return {
    ...ended,
    stateLost: start !== undefined && start.generation > 1,
    notices: [
      ...(notice === undefined ? [] : [notice]),
      ...(saved.status === 'failed' ? [`[The workspace was not saved: ${saved.message}.]`] : []),
      ...(saved.sharedFailed === undefined
        ? []
        : [`[The shared volume was not saved: ${saved.sharedFailed}.]`]),
    ],
  };
};

/** A call that was cancelled while its sandbox started does not begin. */
const refuseCancelled = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted) throw new AppError('conflict', 'the call was cancelled; it did not run');
};

/** A limit that was reached is a result with the output; a refusal or a lost sandbox is not. */
const resultOf = (outcome: ToolOutcome): Pick<Executed, 'content' | 'structured'> => {
  if (outcome.status === 'finished')
    return { content: outcome.content, structured: outcome.structured ?? {} };
  if (outcome.status === 'failed' && outcome.structured !== undefined)
    return { content: [], structured: outcome.structured };
  const code =
    outcome.status === 'failed' && isErrorCode(outcome.code) ? outcome.code : 'tool_outcome_unknown';
  throw new AppError(code, outcome.message, {
    suggestions: ['Check the workspace before you run it again.'],
    recoveryActions: ['retry_operation'],
  });
};
