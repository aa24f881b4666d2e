/**
 * Starts a program in the sandbox of a session, under an id of ours: a broken connection is asked again, and starts
 * nothing twice.
 *
 * The sandbox is marked with its start, or before the program's, so that its idle check asks for processes. The record of a process that may outlive its request is
 * written before its start.
 */
import { relayWantedField } from '../../contracts/relay/wanted.ts';
import { savedAsHeader } from '../../contracts/sandbox-call.ts';
import { processCommandCharactersMax } from '../../domain/limits.ts';
import type { ProcessRecord } from '../../domain/process.ts';
import type { LiveSandbox } from '../../domain/sandbox.ts';
import type { Session } from '../../domain/session.ts';
import type { Language } from '../../domain/template.ts';
import { AppError, type AppErrorDetails, type ErrorCode, isAppError } from '../../errors.ts';
import type { Deps, SandboxDeps } from '../deps.ts';
import type { AcquiredSandbox } from '../sandbox/acquire-sandbox.ts';
import { acquireWithHeartbeat, type Opening } from '../sandbox/acquire-with-heartbeat.ts';
import { refusalOf } from '../sandbox/sandbox-server-error.ts';
import { savedAs } from '../sandbox/save-workspace.ts';
import { onRelayWanted } from '../sandbox/start-relay.ts';

export type Program = {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly pty?: { readonly cols: number; readonly rows: number } | undefined;
  /** Base64. */
  readonly stdin?: string | undefined;
  readonly timeoutSeconds?: number | undefined;
};

type Start = {
  readonly program: Program;
  /** The time that the request waits for the end; absent: it is answered as soon as the process runs. */
  readonly waitMs?: number | undefined;
  /** Written before the start. */
  readonly isRecorded: boolean;
};

export type ProcessRequest = Start & { readonly opening: Opening };

export type StartedIn = {
  readonly id: string;
  readonly opened: AcquiredSandbox;
  /** The time at which the sandbox was asked to start it, in epoch milliseconds. */
  readonly askedAt: number;
  readonly response: Response;
};

export const startProcess = async (
  ports: SandboxDeps,
  session: Session,
  { opening, waitMs, ...start }: ProcessRequest,
): Promise<StartedIn> => {
  const until = ports.world.now() + (waitMs ?? 0);
  const opened = await openMarked(ports, session, opening);
  if (session.status === 'creating') await ports.sessions.recordRunning(session.id);
  const id = ports.world.uuid();
  // The answer is as silent while the sandbox starts as while the program runs.
  const askedAt = ports.world.now();
  const left = waitMs === undefined ? {} : { waitMs: Math.max(0, until - askedAt) };
  return {
    ...{ id, opened, askedAt },
    response: await startIn(ports, session, {
      ...{ id, sandbox: opened.sandbox, ...start, ...left },
      ...(waitMs === undefined ? {} : savedAs(ports, opened.workspace)),
    }),
  };
};

/** One that gave way, or ended, since it was found ready has no mark: the next one is opened. */
const openMarked = async (
  ports: SandboxDeps,
  session: Session,
  opening: Opening,
): Promise<AcquiredSandbox> => {
  for (let opens = 1; opens <= opensMax; opens += 1) {
    const opened = await acquireWithHeartbeat(ports, session, { ...opening, hasProcesses: true });
    if (await markProcesses(ports, opened)) return opened;
  }
  throw new AppError('sandbox_unavailable', 'the sandbox stopped each time before the program began', {
    suggestions: ['Try again.'],
    recoveryActions: ['retry_operation'],
  });
};

const opensMax = 3;

/**
 * Marks a sandbox before its first process: whatever happens to it from then on asks for processes, and counts those that end with
 * it. False when it is no longer ready.
 */
export const markProcesses = async (
  { workspaces }: Deps<'workspaces'>,
  { sandbox, workspace }: Pick<AcquiredSandbox, 'sandbox' | 'workspace'>,
): Promise<boolean> =>
  workspace.sandbox?.hasProcesses !== undefined ||
  workspaces.recordProcesses(sandbox.workspaceId, sandbox.generation);

type StartIn = Start & {
  /** A repeat starts no second process. */
  readonly id: string;
  /** One that is marked. */
  readonly sandbox: LiveSandbox;
  /** The checkpoint of the workspace: the answer says whether all is still as it has it. */
  readonly savedAs?: string;
};

/** Starts it in this sandbox; the sandbox's answer, which is no refusal. */
export const startIn = async (
  ports: SandboxDeps,
  session: Session,
  { id, sandbox, program, waitMs, isRecorded, savedAs: checkpoint }: StartIn,
): Promise<Response> => {
  if (isRecorded) await recordProcess(ports, session, { id, sandbox, program, startedAt: ports.world.now() });
  const { timeoutSeconds, ...rest } = program;
  const timeoutMs = timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000;
  const request = {
    method: 'POST',
    path: '/processes',
    headers: {
      'content-type': 'application/json',
      ...(checkpoint === undefined ? {} : { [savedAsHeader]: checkpoint }),
    },
  };
  const until = ports.world.now() + (waitMs ?? 0);
  const ask = (relayAfterMs: number) => {
    const leftMs = waitMs === undefined ? undefined : Math.max(0, until - ports.world.now());
    const asked = waitMs === undefined ? {} : { waitMs: leftMs, relayAfterMs };
    const body = JSON.stringify({ id, ...rest, timeoutMs, ...asked });
    return untilAnswered(ports, () => ports.link.fetch(sandbox, { ...request, body }));
  };
  const wanted = onRelayWanted(ports.invoker, sandbox, { ...ports, sessionId: session.id });
  const response = await answered(ask, wanted);
  if (response.ok) return response;
  // It never ran: no list has it.
  if (isRecorded) await ports.processes.remove(sandbox.workspaceId, id);
  throw await refusalOf(response, adviceOn);
};

/** A wait that ended early, since a program wants the relay, goes on. */
const answered = async (
  ask: (relayAfterMs: number) => Promise<Response>,
  onWanted: () => void,
): Promise<Response> => {
  let response = await ask(0);
  while (response.status === 202) {
    const body = (await response.clone().json()) as Readonly<Record<string, unknown>>;
    if (body[relayWantedField] !== true) break;
    onWanted();
    response = await ask(relayPauseMs);
  }
  return response;
};

/** Long enough for a function to start, in milliseconds. */
const relayPauseMs = 10_000;

const adviceOn = (code: ErrorCode): AppErrorDetails => {
  switch (code) {
    case 'resource_limit_exceeded':
      return { suggestions: ['GET /api/sessions/{id}/processes lists those that run.'] };
    case 'file_not_found':
      return {
        suggestions: [
          '`cwd` is relative to /workspace; POST /api/sessions/{id}/files/{path}?op=mkdir makes a folder.',
        ],
      };
    default:
      return {};
  }
};

type Recorded = Pick<ProcessRecord, 'id' | 'startedAt'> & {
  readonly sandbox: LiveSandbox;
  readonly program: Program;
};

export const recordProcess = (
  { processes }: Deps<'processes'>,
  session: Session,
  { id, sandbox: { workspaceId: workspace, generation }, program, startedAt }: Recorded,
): Promise<void> => {
  const whole = [program.command, ...(program.args ?? [])].join(' ');
  const command = whole.slice(0, processCommandCharactersMax).toWellFormed();
  const isPty = program.pty !== undefined;
  return processes.put({
    ...{ id, workspace, generation, session: session.id, command, isPty, startedAt },
  });
};

const triesMax = 4;
const pauseMs = 500;

const untilAnswered = async ({ world }: Deps<'world'>, ask: () => Promise<Response>): Promise<Response> => {
  for (let tried = 1; ; tried += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!isAppError(error) || error.code !== 'sandbox_unavailable') throw error;
      if (tried === triesMax)
        throw new AppError(
          'tool_outcome_unknown',
          'the sandbox stopped responding: the program may have run',
          {
            cause: error,
            suggestions: ['Check the workspace before you run it again.'],
            recoveryActions: ['retry_operation'],
          },
        );
      await world.sleep(pauseMs * tried);
    }
  }
};

/** Code as a program of its own, for the background: an interpreter without the variables of earlier calls. */
export const codeProgram = (code: string, language: Language): Program =>
  language === 'node'
    ? { command: 'node', args: ['-e', code] }
    : { command: 'python3', args: ['-u', '-c', code] };
