/**
 * Runs one approved call, where its route says, and gives its end as the turn's next event.
 *
 * A call that was started before and whose place is gone has an outcome that nobody knows: it is not run again.
 */
import type { ProjectId } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import { isSandboxTool } from '../../domain/tools.ts';
import type { TurnEffect, TurnEvent } from '../../domain/turn/turn.ts';
import type { ToolOutcome, ToolProgress } from '../../ports/sandbox-tools.ts';
import { type CallPorts, callUntilKnown } from '../sandbox/call-until-known.ts';
import { type BoundPorts, boundResult } from './bound-result.ts';
import { callRemote, callStdio, type RegisteredPorts } from './call-registered.ts';
import type { SandboxEntry } from './sandbox-entry.ts';

export type RunCallPorts = CallPorts & BoundPorts & RegisteredPorts;

export type ToolEffect = Extract<TurnEffect, { type: 'run-tool' }>;
export type EndedCall = Extract<TurnEvent, { type: 'call-finished' | 'call-failed' }>;

export type OneCall = {
  readonly effect: ToolEffect;
  readonly project: ProjectId;
  /** The session may use the tool: a model can ask for what it was not offered. */
  readonly isAllowed: boolean;
  readonly entry: Pick<SandboxEntry, 'enter'>;
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
const unknownOutside = failed(
  'tool_outcome_unknown',
  'the connection to its server was lost while it ran: it may have run, and it is not run again',
);

export const isOutside = ({ route }: Pick<ToolEffect, 'route'>): boolean => route?.kind === 'remote';

export const runCall = async (ports: RunCallPorts, call: OneCall): Promise<EndedCall> => {
  const { callId, key } = call.effect;
  const startedAt = ports.world.now();
  const outcome = !call.isAllowed
    ? failed('invalid_request', `there is no tool ${call.effect.name}`)
    : isOutside(call.effect)
      ? await outsideOutcome(ports, call)
      : await insideOutcome(ports, call);
  ports.telemetry.duration('ToolCallMs', ports.world.now() - startedAt);
  if (outcome.status === 'failed') {
    ports.telemetry.count('ToolCallsFailed');
    const { code, message } = outcome;
    return { type: 'call-failed', at: ports.world.now(), callId, code, message };
  }
  const { enter } = call.entry;
  const { correlationId } = call;
  const { content, text } = await boundResult(ports, outcome.content, { key, enter, correlationId });
  const at = ports.world.now();
  return { type: 'call-finished', at, callId, content, text, durationMs: at - startedAt };
};

type Known = Exclude<ToolOutcome, { status: 'lost' }>;

const outsideOutcome = async (ports: RunCallPorts, call: OneCall): Promise<Known> => {
  const { project, onProgress, signal } = call;
  const { generation, route, args } = call.effect;
  if (generation !== undefined) return unknownOutside;
  if (route?.kind !== 'remote') return failed('internal_error', 'a call outside needs a server');
  const outcome = await callRemote(ports, { project, route, args, onProgress, signal });
  return outcome.status === 'lost' ? unknownOutside : outcome;
};

const insideOutcome = async (ports: RunCallPorts, call: OneCall): Promise<Known> => {
  const { effect, project, entry, correlationId, onProgress, signal } = call;
  const { generation, key: callKey, route, name, args } = effect;
  const { sandbox } = await entry.enter();
  if (generation !== undefined && generation !== sandbox.generation) return unknownOutcome;
  if (route === undefined && !isSandboxTool(name))
    return failed('invalid_request', `there is no tool ${name}`);
  if (route?.kind === 'caller' || route?.kind === 'platform')
    return failed('internal_error', 'a call that is handed out does not run here');
  const ask = (asked: { readonly name: string; readonly args: JsonObject }) =>
    callUntilKnown(ports, { sandbox, callKey, ...asked, correlationId, onProgress, signal });
  const outcome =
    route === undefined
      ? await ask({ name, args })
      : await callStdio(ports, { project, route, args, onProgress, signal }, ask);
  return outcome.status === 'lost' ? unknownOutcome : outcome;
};
