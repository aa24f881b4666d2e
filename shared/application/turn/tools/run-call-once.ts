/**
 * Runs one approved call once, in the sandbox or on a remote server, and gives its result as the turn's next event.
 *
 * A call whose sandbox was lost while it ran has an unknown outcome: it is not run again.
 */

import { problemOfArgs } from '../../../domain/asked-call.ts';
import type { ProjectId } from '../../../domain/ids.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { isSandboxTool } from '../../../domain/tools.ts';
import type { ToolEffect, ToolResult } from '../../../domain/turn/turn.ts';
import type { ToolOutcome, ToolProgress } from '../../../ports/sandbox.ts';
import type { LoopDeps } from '../../deps.ts';
import { callUntilKnown } from '../../sandbox/call-until-known.ts';
import { boundResult } from './bound-result.ts';
import { callRemoteServer, callStdioServer } from './call-mcp-server.ts';
import type { LazySandbox } from './lazy-sandbox.ts';

export type OneCall = {
  readonly effect: ToolEffect;
  readonly project: ProjectId;
  /** The session may use the tool: a model can ask for what it was not offered. */
  readonly isAllowed: boolean;
  readonly lazySandbox: Pick<LazySandbox, 'get'>;
  readonly correlationId: string;
  readonly onProgress: (progress: ToolProgress) => void;
  readonly signal: AbortSignal;
};

type Failed = Extract<ToolOutcome, { status: 'failed' }>;

const failed = (code: string, message: string): Failed => ({ status: 'failed', code, message });

export const unknownOutcome = failed(
  'tool_outcome_unknown',
  'its sandbox was lost while it ran: it may have run in part, and it is not run again',
);
const unknownRemoteOutcome = failed(
  'tool_outcome_unknown',
  'the connection to its server was lost while it ran: it may have run, and it is not run again',
);

export const isRemote = ({ route }: Pick<ToolEffect, 'route'>): boolean => route?.kind === 'remote';

export const runCall = async (ports: LoopDeps, call: OneCall): Promise<ToolResult> => {
  const { callId, key } = call.effect;
  const startedAt = ports.world.now();
  const outcome = await outcomeOf(ports, call);
  ports.telemetry.duration('ToolCallMs', ports.world.now() - startedAt);
  if (outcome.status === 'failed') {
    ports.telemetry.count('ToolCallsFailed');
    const { code, message } = outcome;
    return { type: 'call-failed', at: ports.world.now(), callId, code, message };
  }
  const { get } = call.lazySandbox;
  const { correlationId } = call;
  const { content, text } = await boundResult(ports, outcome.content, { key, get, correlationId });
  const at = ports.world.now();
  return { type: 'call-finished', at, callId, content, text, durationMs: at - startedAt };
};

type Known = Exclude<ToolOutcome, { status: 'lost' }>;

const outcomeOf = (ports: LoopDeps, call: OneCall): Promise<Known> | Known => {
  const { effect, isAllowed } = call;
  if (!isAllowed) return failed('invalid_request', `there is no tool ${effect.name}`);
  const problem = problemOfArgs(effect.args);
  if (problem !== undefined) return failed('invalid_request', problem);
  return isRemote(effect) ? remoteOutcome(ports, call) : sandboxOutcome(ports, call);
};

const remoteOutcome = async (ports: LoopDeps, call: OneCall): Promise<Known> => {
  const { project, onProgress, signal } = call;
  const { generation, route, args } = call.effect;
  if (generation !== undefined) return unknownRemoteOutcome;
  if (route?.kind !== 'remote') return failed('internal_error', 'a remote call needs a server');
  const outcome = await callRemoteServer(ports, { project, route, args, onProgress, signal });
  return outcome.status === 'lost' ? unknownRemoteOutcome : outcome;
};

const sandboxOutcome = async (ports: LoopDeps, call: OneCall): Promise<Known> => {
  const { effect, project, lazySandbox, correlationId, onProgress, signal } = call;
  const { generation, key: callKey, route, name, args } = effect;
  const { sandbox } = await lazySandbox.get();
  if (generation !== undefined && generation !== sandbox.generation) return unknownOutcome;
  if (route === undefined && !isSandboxTool(name))
    return failed('invalid_request', `there is no tool ${name}`);
  if (route?.kind === 'caller' || route?.kind === 'platform')
    return failed('internal_error', 'a delegated call does not run here');
  const ask = (request: { readonly name: string; readonly args: JsonObject }) =>
    callUntilKnown(ports, { sandbox, callKey, ...request, correlationId, onProgress, signal });
  const outcome =
    route === undefined
      ? await ask({ name, args })
      : await callStdioServer(ports, { project, route, args, onProgress, signal }, ask);
  return outcome.status === 'lost' ? unknownOutcome : outcome;
};
