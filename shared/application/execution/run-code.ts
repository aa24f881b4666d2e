/**
 * Runs code in the sandbox of a session, an agent's or one of executions, and ends its contexts.
 *
 * The session counts as busy while the code runs: one of executions by a recorded call, an agent's by heartbeats, since its
 * status belongs to its turn. Code that fails is a result; only the platform's faults and refusals are thrown.
 */

import { idleLimit, type Lifetimes } from '../../domain/idle-time.ts';
import { codeAnswerMsMax, heartbeatMsMax } from '../../domain/limits.ts';
import type { Session } from '../../domain/session.ts';
import type { Language } from '../../domain/template.ts';
import { AppError } from '../../errors.ts';
import type { Deps, ExecutionDeps } from '../deps.ts';
import { renewUntilStopped } from '../renew-until-stopped.ts';
import { enterSandbox } from '../sandbox/acquire-with-heartbeat.ts';
import { refusalOf } from '../sandbox/sandbox-server-error.ts';
import { beginCall, endExecution } from './begin-execution.ts';
import { callInSandbox, type Ran } from './call-in-sandbox.ts';
import { type ProgramResult, readProgramResult } from './read-program-result.ts';

export type CodeRequest = {
  readonly code: string;
  readonly language: Language;
  /** Absent: the default context. */
  readonly context?: string | undefined;
  readonly timeoutSeconds: number;
  readonly lifetimes: Lifetimes;
  /** Interrupts the code when it is aborted. */
  readonly signal?: AbortSignal;
};

export type CodeOutcome = {
  readonly program: ProgramResult;
  /** The sandbox before this one is lost, with all variables. */
  readonly stateLost: boolean;
  /** Files that were not restored or could not be saved. */
  readonly notices: readonly string[];
};

export const runCode = async (
  ports: ExecutionDeps,
  session: Session,
  request: CodeRequest,
): Promise<CodeOutcome> => {
  const key = ports.world.uuid();
  const busy = await occupy(ports, session, { key, ...request });
  let calledIn: number | undefined;
  try {
    const { generation, ...outcome } = await runIn(ports, busy.session, { key, ...request });
    calledIn = generation;
    return outcome;
  } finally {
    await busy.release(calledIn);
  }
};

type Keyed = CodeRequest & { readonly key: string };
type Busy = { readonly session: Session; readonly release: (calledIn: number | undefined) => Promise<void> };

const occupy = async (ports: ExecutionDeps, session: Session, request: Keyed): Promise<Busy> => {
  if (session.kind === 'agent')
    return { session, release: keepActive(ports, session, request.lifetimes).stop };
  const entered = await beginCall(ports, session, request);
  return { session: entered, release: (calledIn) => endExecution(ports, entered, { ...request, calledIn }) };
};

/** Heartbeats until `stop`: several within each idle limit. */
const keepActive = (
  ports: Deps<'sessions' | 'telemetry' | 'world'>,
  session: Session,
  lifetimes: Lifetimes,
): { readonly stop: () => Promise<void> } => {
  const { sessions, world } = ports;
  const idleMs = idleLimit(session, lifetimes);
  return renewUntilStopped(ports, {
    name: 'the activity of a session',
    everyMs: Math.min(heartbeatMsMax, idleMs / 4),
    renew: async () => {
      await sessions.touch(session, { at: world.now(), lifetimes });
      return true;
    },
  });
};

const runIn = async (
  ports: ExecutionDeps,
  session: Session,
  { key, code, language, context, timeoutSeconds, lifetimes, signal }: Keyed,
): Promise<CodeOutcome & Pick<Ran, 'generation'>> => {
  const interrupted = signal === undefined ? {} : { signal };
  const reopen = () => enterSandbox(ports, session, { lifetimes, ...interrupted });
  const opened = await reopen();
  const args = {
    ...{ code, language, results: true, timeout: timeoutSeconds },
    ...(context === undefined ? {} : { context }),
  };
  const { structured, ...ran } = await callInSandbox(ports, session, {
    ...{ key, opened, reopen, tool: 'execute_code', args, ...interrupted },
    onProgress: () => undefined,
  });
  const { stateLost, generation } = ran;
  const notices = signal?.aborted ? [...ran.notices, tooLong] : ran.notices;
  return { program: readProgramResult(structured, { isCommand: false }), stateLost, generation, notices };
};

const tooLong = `[The code was interrupted after ${codeAnswerMsMax / 1000} s, the longest that a request waits. Run longer work as a process.]`;

export type ContextName = { readonly name: string; readonly language?: Language | undefined };

/** Ends the interpreters of a context. A sandbox that does not run has none, and none is started. */
export const endContext = async (
  { workspaces, link }: Deps<'workspaces' | 'link'>,
  session: Session,
  { name, language }: ContextName,
): Promise<void> => {
  const { sandbox } = (await workspaces.get(session.workspace)) ?? {};
  if (sandbox?.state !== 'ready' || sandbox.address === undefined) throw noContext(name);
  const { generation, address, flavor } = sandbox;
  const query = language === undefined ? '' : `?language=${language}`;
  const live = { workspaceId: session.workspace, generation, address, flavor };
  const response = await link.fetch(live, { method: 'DELETE', path: `/contexts/${name}${query}` });
  if (response.status === 404) {
    await response.body?.cancel();
    throw noContext(name);
  }
  if (!response.ok) throw await refusalOf(response);
  await response.body?.cancel();
};

const noContext = (name: string): AppError =>
  new AppError('not_found', `there is no context ${name}`, {
    suggestions: ['The first code that names a context creates it. A context ends with its sandbox.'],
  });
