/**
 * Runs one approved call once, in the sandbox or on a remote server, and gives its result as the turn's next event.
 *
 * If the sandbox was lost while a call ran, its outcome is unknown, and it is not run again. If no attempt sent a byte of a
 * call, the call never started: it is sent once more, to the next sandbox (`callUnsent` in the turn's `call-steps.ts`).
 */

import type { JsonObject } from '../../../domain/json.ts';
import { callEndMarginMs, executionSecondsMax, toolTimeoutSeconds } from '../../../domain/limits.ts';
import { problemOfArgs } from '../../../domain/requested-call.ts';
import type { Session } from '../../../domain/session.ts';
import { toolTimeout } from '../../../domain/tool-timeout.ts';
import { isSandboxTool } from '../../../domain/tools.ts';
import { tellPrinted } from '../../../domain/turn/printed.ts';
import type { EventOf, ToolEffect, ToolResult } from '../../../domain/turn/turn.ts';
import { isAppError } from '../../../errors.ts';
import type { AskedOutcome, Lost, ToolOutcome, ToolProgress } from '../../../ports/sandbox.ts';
import type { LoopDeps } from '../../deps.ts';
import { callForAWhile, callUntilKnown } from '../../sandbox/call-until-outcome-known.ts';
import { onRelayWanted } from '../../sandbox/start-relay.ts';
import { type ProgramCall, programCall, startInBackground } from './background-start.ts';
import { boundResult } from './bound-result.ts';
import { callRemoteServer, callStdioServer } from './call-mcp-server.ts';
import type { LazySandbox } from './lazy-sandbox.ts';
import { runProcessTool } from './process-tool.ts';

/** The times of calls in the sandbox. */
export type ToolTimes = {
  /** Milliseconds that a function waits for one: one that takes longer is detached. */
  readonly waitMs: number;
  /** The longest timeout of one, in seconds. */
  readonly secondsMax: number;
};

export type OneCall = {
  readonly effect: ToolEffect;
  readonly session: Session;
  /** The session may use the tool: a model can ask for what it was not offered. */
  readonly isAllowed: boolean;
  readonly lazySandbox: Pick<LazySandbox, 'get'>;
  readonly onProgress: (progress: ToolProgress) => void;
  /** Its output so far. */
  readonly printed: () => Promise<string>;
  readonly signal: AbortSignal;
  /** When it began, in epoch milliseconds; absent: now. */
  readonly since?: number;
} & ToolTimes;

/** The result of a call, or that it runs on without this function, or that it was never started. */
export type CallStep = ToolResult | EventOf<'call-detached'> | EventOf<'call-unsent'>;

type Failed = Extract<ToolOutcome, { status: 'failed' }> & {
  /** Its message is followed by what the call had printed. */
  readonly tellsPrinted?: true;
};

const failed = (code: string, message: string): Failed => ({ status: 'failed', code, message });

export const unknownOutcome: Failed = {
  ...failed(
    'tool_outcome_unknown',
    'its sandbox was lost while it ran: it may have run in part, and it is not run again',
  ),
  tellsPrinted: true,
};
const unknownRemoteOutcome = failed(
  'tool_outcome_unknown',
  'the connection to its server was lost while it ran: it may have run, and it is not run again',
);

const isProcessTool = ({ route }: Pick<ToolEffect, 'route'>): boolean =>
  route?.kind === 'platform' && route.tool === 'process';

/** True for a call that the function itself performs, and that ends with it. */
export const isOfFunction = (effect: Pick<ToolEffect, 'route'>): boolean =>
  effect.route?.kind === 'remote' || isProcessTool(effect);

export const runCall = async (ports: LoopDeps, call: OneCall): Promise<CallStep> => {
  const { callId, key } = call.effect;
  const startedAt = call.since ?? ports.world.now();
  const outcome = await outcomeOf(ports, call);
  if (outcome.status === 'running') return detachedAt(ports.world.now(), call.effect, startedAt);
  if (outcome.status === 'lost') {
    const { generation } = (await call.lazySandbox.get()).sandbox;
    return { type: 'call-unsent', at: ports.world.now(), callId, generation };
  }
  ports.telemetry.duration('ToolCallMs', ports.world.now() - startedAt);
  if (outcome.status === 'failed') {
    ports.telemetry.count('ToolCallsFailed');
    const { code } = outcome;
    const { message: said, tellsPrinted = false } = outcome;
    const message = tellsPrinted ? tellPrinted(said, await call.printed()) : said;
    return { type: 'call-failed', at: ports.world.now(), callId, code, message };
  }
  const { get } = call.lazySandbox;
  const { file: _file, ...bounded } = await boundResult(ports, outcome.content, { key, get });
  const at = ports.world.now();
  return { type: 'call-finished', at, callId, ...bounded, durationMs: at - startedAt };
};

const detachedAt = (
  at: number,
  { callId, key, args: { timeout } }: ToolEffect,
  since: number,
): EventOf<'call-detached'> => {
  // The sandbox has refused any other timeout.
  const seconds = typeof timeout === 'number' ? timeout : toolTimeoutSeconds;
  const endsBy = at + Math.min(seconds, executionSecondsMax) * 1000 + callEndMarginMs;
  return { type: 'call-detached', at, callId, wait: { id: key, since, endsBy } };
};

type Known = Exclude<ToolOutcome, { status: 'lost' | 'failed' }> | Failed;
/** `lost`: it was never started. */
type KnownOrRunning = Known | Exclude<AskedOutcome, ToolOutcome> | Unsent;
type Unsent = Lost & { readonly isUnsent: true };

const outcomeOf = (ports: LoopDeps, call: OneCall): Promise<KnownOrRunning> | Known => {
  const { effect, isAllowed } = call;
  if (!isAllowed) return failed('invalid_request', `there is no tool ${effect.name}`);
  const problem = problemOfArgs(effect.args);
  if (problem !== undefined) return failed('invalid_request', problem);
  if (isProcessTool(effect)) return runProcessTool(ports, call);
  return effect.route?.kind === 'remote' ? remoteOutcome(ports, call) : sandboxOutcome(ports, call);
};

const remoteOutcome = async (ports: LoopDeps, call: OneCall): Promise<Known> => {
  const { session, onProgress, signal } = call;
  const { project } = session;
  const { generation, route, args } = call.effect;
  if (generation !== undefined) return unknownRemoteOutcome;
  if (route?.kind !== 'remote') return failed('internal_error', 'a remote call needs a server');
  const outcome = await callRemoteServer(ports, { project, route, args, onProgress, signal });
  return outcome.status === 'lost' ? unknownRemoteOutcome : outcome;
};

const sandboxOutcome = async (ports: LoopDeps, call: OneCall): Promise<KnownOrRunning> => {
  const { effect, session, lazySandbox, onProgress, signal } = call;
  const { generation, key: callKey, route, name, args } = effect;
  const used = await lazySandbox.get();
  const { sandbox } = used;
  if (generation !== undefined && generation !== sandbox.generation) return unknownOutcome;
  if (route === undefined && !isSandboxTool(name))
    return failed('invalid_request', `there is no tool ${name}`);
  if (route?.kind === 'caller' || route?.kind === 'platform' || route?.kind === 'runtime')
    return failed('internal_error', 'a delegated call does not run here');
  const use = { ...ports, sessionId: session.id };
  const wanted = onRelayWanted(ports.invoker, sandbox, use);
  const asked = { sandbox, callKey, onProgress, onRelayWanted: wanted, signal };
  const known = knownOf({ isFirst: generation === undefined });
  if (route !== undefined) {
    const { project } = session;
    const registered = { project, route, args, onProgress, signal };
    return known(
      await callStdioServer(ports, registered, (ask) => callUntilKnown(ports, { ...asked, ...ask })),
    );
  }
  const program = programOf(name, args);
  if ('status' in program) return program;
  if (program.kind === 'background')
    return known(await startInBackground(ports, { session, key: callKey, used, program: program.program }));
  const timed = generation === undefined ? timedArgs(program.args, call.secondsMax) : program.args;
  if (typeof timed === 'string') return failed('invalid_request', timed);
  return known(await callForAWhile(ports, { ...asked, name, args: timed, waitMs: call.waitMs }));
};

/** The arguments within the limit of the deployment, or the reason against them. A call that has started keeps its own. */
const timedArgs = (args: JsonObject, secondsMax: number): JsonObject | string => {
  const { timeout } = args;
  if (timeout != null && typeof timeout !== 'number') return args;
  const within = toolTimeout(timeout ?? toolTimeoutSeconds, secondsMax);
  if (within.problem !== undefined) return within.problem;
  const isOwn = timeout === undefined && secondsMax >= toolTimeoutSeconds;
  return isOwn ? args : { ...args, timeout: within.seconds };
};

/** A call that an earlier holder began may have been sent by it. */
const knownOf =
  ({ isFirst }: { readonly isFirst: boolean }) =>
  (outcome: AskedOutcome): KnownOrRunning => {
    if (outcome.status !== 'lost') return outcome;
    return isFirst && isUnsent(outcome) ? outcome : unknownOutcome;
  };

const isUnsent = (outcome: Lost): outcome is Unsent => outcome.isUnsent === true;

const programOf = (name: string, args: JsonObject): ProgramCall | Failed => {
  try {
    return programCall(name, args);
  } catch (error) {
    if (isAppError(error)) return failed(error.code, error.message);
    throw error;
  }
};
