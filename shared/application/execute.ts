/**
 * Runs one program in an execution session: finds or makes the session, has its sandbox, runs the call under
 * a key of its own, saves the workspace, answers.
 *
 * While it runs the session is `running` and nobody's to take; whoever dies here leaves a call whose time is
 * over, which the janitor no longer counts. Code that fails is a result; only the platform's faults and
 * refusals are thrown.
 */
import { startNotice } from '../contracts/sandbox-start.ts';
import type { ToolContent } from '../domain/event-log.ts';
import type { SessionId } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import { sandboxWaitMsMax } from '../domain/limits.ts';
import type { Principal } from '../domain/principal.ts';
import { isEnded, type Session } from '../domain/session.ts';
import { idleLimit } from '../domain/session-lifetime.ts';
import { AppError, isErrorCode } from '../errors.ts';
import type { SandboxTools, ToolOutcome, ToolProgress } from '../ports/sandbox-tools.ts';
import { callUntilKnown } from './call-until-known.ts';
import type { SessionDefaults, SessionWish } from './create-session.ts';
import { createWithPlace, type Patience, type PlacePorts } from './create-with-place.ts';
import { endSession } from './end-session.ts';
import { findSession } from './find-session.ts';
import { type OpenSandboxPorts, openSandbox } from './open-sandbox.ts';
import { keepSaving, saveWorkspace } from './save-workspace.ts';

export type ExecutePorts = PlacePorts & OpenSandboxPorts & { readonly tools: SandboxTools };

export type Execution = {
  readonly principal: Principal;
  /** Absent: a new session. */
  readonly sessionId?: string | undefined;
  readonly wish: SessionWish;
  readonly defaults: SessionDefaults;
  readonly patience: Patience;
  readonly tool: string;
  /** The arguments of the tool, given the session it runs in. */
  readonly argsFor: (session: Session) => JsonObject;
  readonly timeoutSeconds: number;
  readonly onProgress: (progress: ToolProgress) => void;
};

export type Executed = {
  readonly session: Session;
  readonly sessionCreated: boolean;
  readonly content: readonly ToolContent[];
  readonly structured: JsonObject;
  /** The sandbox before this one, and all that ran in it, is gone. */
  readonly stateLost: boolean;
  /** What did not come back or could not be saved. */
  readonly notices: readonly string[];
};

/** What a call may take beyond its timeout and its sandbox's start: the kill, and the save. */
const marginMs = 60_000;

export const execute = async (ports: ExecutePorts, execution: Execution): Promise<Executed> => {
  const key = ports.world.uuid();
  const now = ports.world.now();
  const until = now + execution.timeoutSeconds * 1000 + sandboxWaitMsMax + marginMs;
  const { session, sessionCreated } = await sessionFor(ports, execution, { key, until });
  try {
    const ran = await runCall(ports, { execution, session, key });
    return { session, sessionCreated, ...ran };
  } catch (error) {
    if (sessionCreated) await giveUp(ports, session, execution);
    throw error;
  } finally {
    const at = ports.world.now();
    const dueAt = at + idleLimit(session, execution.defaults.lifetimes);
    await ports.sessions.endCall(session.id, { key, at, dueAt });
  }
};

/** A session whose first sandbox never came is of no use to anybody. */
const giveUp = async (ports: ExecutePorts, session: Session, { patience }: Execution): Promise<void> => {
  const { correlationId } = patience;
  await endSession(ports, session, { reason: 'its first sandbox did not start', correlationId });
};

type CallSlot = { readonly key: string; readonly until: number };

const sessionFor = async (
  ports: ExecutePorts,
  execution: Execution,
  call: CallSlot,
): Promise<{ readonly session: Session; readonly sessionCreated: boolean }> => {
  const { sessionId, principal, wish, defaults, patience } = execution;
  if (sessionId !== undefined) return { session: await enter(ports, execution, call), sessionCreated: false };
  const request = {
    id: ports.world.uuid() as SessionId,
    principal,
    wish: { ...wish, kind: 'execution' as const, firstCall: call },
    defaults,
  };
  const session = await createWithPlace(ports, request, patience);
  if (session === undefined) throw new Error('a new session id was taken');
  return { session, sessionCreated: true };
};

const enter = async (
  ports: ExecutePorts,
  { sessionId = '', principal, wish, defaults }: Execution,
  call: CallSlot,
): Promise<Session> => {
  const { session } = await findSession(ports.sessions, { id: sessionId, principal, intent: 'write' });
  if (session.kind !== 'execution')
    throw new AppError('invalid_session_state', 'this is an agent session: programs run in its turns', {
      suggestions: ['Leave session_id out for a new session.'],
      recoveryActions: ['create_new_session'],
    });
  refuseOtherSize(session, wish);
  const at = ports.world.now();
  const dueAt = at + idleLimit(session, defaults.lifetimes);
  const entered = isEnded(session.status)
    ? undefined
    : await ports.sessions.beginCall(session.id, { ...call, at, dueAt });
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

/** A session keeps its size: another one is asked for in a new session. */
const refuseOtherSize = (session: Session, { flavor }: SessionWish): void => {
  if (flavor === undefined || flavor.toLowerCase() === session.flavor) return;
  throw new AppError('invalid_session_state', `the session has flavor ${session.flavor}`, {
    suggestions: ['Leave the flavor out, or make a new session.'],
    recoveryActions: ['create_new_session'],
  });
};

type Call = { readonly execution: Execution; readonly session: Session; readonly key: string };

const runCall = async (
  ports: ExecutePorts,
  { execution, session, key }: Call,
): Promise<Pick<Executed, 'content' | 'structured' | 'stateLost' | 'notices'>> => {
  const { defaults, patience, tool, argsFor, onProgress } = execution;
  const { correlationId, signal } = patience;
  const { lifetimes } = defaults;
  const { sandbox, start } = await openSandbox(ports, session, { lifetimes, correlationId });
  await ports.sessions.noteRunning(session.id);
  ports.telemetry.count('ToolCalls');
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
  if (outcome.status !== 'finished') ports.telemetry.count('ToolCallsFailed');
  const ended = resultOf(outcome);
  const saved = await saveWorkspace(ports, sandbox);
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

/** A limit that was hit is a result with what was printed; a refusal or a lost sandbox is not. */
const resultOf = (outcome: ToolOutcome): Pick<Executed, 'content' | 'structured'> => {
  if (outcome.status === 'finished')
    return { content: outcome.content, structured: outcome.structured ?? {} };
  if (outcome.status === 'failed' && outcome.structured !== undefined)
    return { content: [], structured: outcome.structured };
  const code =
    outcome.status === 'failed' && isErrorCode(outcome.code) ? outcome.code : 'tool_outcome_unknown';
  throw new AppError(code, outcome.message, {
    suggestions: ['Look at what the call left in the workspace before it is run again.'],
    recoveryActions: ['retry_operation'],
  });
};
