/**
 * Runs a queue's approved calls: one sandbox, all calls in parallel, each failure its own.
 *
 * Before the first call starts the turn records in which sandbox generation: if that sandbox is gone when
 * somebody comes back to the call, its outcome is unknown and said so, and the call is never run again.
 */
import { unnumberedFrame } from '../contracts/frames.ts';
import type { LogEntry, ToolContent } from '../domain/event-log.ts';
import type { CallId } from '../domain/ids.ts';
import { toolResultCharactersMax } from '../domain/limits.ts';
import type { LiveSandbox } from '../domain/sandbox.ts';
import { cutMiddle, utf8Bytes } from '../domain/text.ts';
import { isSandboxTool } from '../domain/tools.ts';
import type { TurnEffect, TurnEvent } from '../domain/turn/turn.ts';
import { isAppError } from '../errors.ts';
import type { SandboxTools, ToolProgress } from '../ports/sandbox-tools.ts';
import { type AcquirePorts, acquireSandbox } from './acquire-sandbox.ts';
import { advance, type Desk, type DeskLimits, type DeskPorts } from './desk.ts';
import { openTextRelay } from './text-relay.ts';

export type ToolPorts = AcquirePorts & DeskPorts & { readonly tools: SandboxTools };

type ToolEffect = Extract<TurnEffect, { type: 'run-tool' }>;
type EndedCall = Extract<TurnEvent, { type: 'call-finished' | 'call-failed' }>;
type Work = { readonly desk: Desk; readonly limits: DeskLimits; readonly correlationId: string };

const lostTriesMax = 5;
const lostPauseMs = 500;

export const runTools = async (
  ports: ToolPorts,
  work: Work,
  effects: readonly ToolEffect[],
): Promise<Desk> => {
  const { workspace: workspaceId, flavor, template } = work.desk.session;
  try {
    const { sandbox, startMs } = await acquireSandbox(ports, { workspaceId, flavor, template });
    const said: readonly LogEntry[] =
      startMs === undefined
        ? []
        : [{ type: 'system', data: { kind: 'sandbox_started', startMs, source: 'cold' } }];
    return await runInside(ports, { ...work, sandbox, said }, effects);
  } catch (error) {
    if (!isAppError(error)) throw error;
    return failAll(ports, work, { effects, code: error.code, message: error.message });
  }
};

const failAll = async (
  ports: ToolPorts,
  { desk, limits }: Work,
  { effects, code, message }: { effects: readonly ToolEffect[]; code: string; message: string },
): Promise<Desk> => {
  let current = desk;
  for (const { callId, generation } of effects) {
    const [sayCode, sayMessage] = generation === undefined ? [code, message] : unknownOutcome;
    const at = ports.world.now();
    const event = { type: 'call-failed' as const, at, callId, code: sayCode, message: sayMessage };
    current = await advance(ports, { desk: current, event, limits });
  }
  return current;
};

const runInside = async (
  ports: ToolPorts,
  work: Work & { readonly sandbox: LiveSandbox; readonly said: readonly LogEntry[] },
  effects: readonly ToolEffect[],
): Promise<Desk> => {
  const { sandbox, said, limits, correlationId } = work;
  const fresh = effects.filter(({ generation }) => generation === undefined);
  let { desk } = work;
  if (fresh.length > 0) {
    const callIds = fresh.map(({ callId }) => callId);
    const event = {
      type: 'calls-started' as const,
      at: ports.world.now(),
      callIds,
      generation: sandbox.generation,
    };
    desk = await advance(ports, { desk, event, limits, said });
    if (desk.lease === 'left') return desk;
  }
  const relay = openTextRelay<`${CallId} ${ToolProgress['stream']}`>(
    { audience: desk.audience, world: ports.world, lengthOf: utf8Bytes },
    (key, piece) => {
      const [callId = '', stream = ''] = key.split(' ');
      const data = { callId, stream, ...piece };
      return unnumberedFrame('tool:progress', {
        sessionId: work.desk.session.id,
        at: ports.world.now(),
        data,
      });
    },
  );
  const running = new Map(
    effects.map((effect) => {
      const onProgress = ({ stream, offset, text }: ToolProgress): void =>
        relay.push(`${effect.callId} ${stream}`, { offset, text });
      return [effect.callId, runOne(ports, { effect, sandbox, correlationId, onProgress })];
    }),
  );
  while (running.size > 0 && desk.lease !== 'left') {
    const event = await Promise.race(running.values());
    running.delete(event.callId);
    await relay.flush();
    desk = await advance(ports, { desk, event, limits });
  }
  return desk;
};

type OneCall = {
  readonly effect: ToolEffect;
  readonly sandbox: LiveSandbox;
  readonly correlationId: string;
  readonly onProgress: (progress: ToolProgress) => void;
};

const runOne = async (ports: ToolPorts, call: OneCall): Promise<EndedCall> => {
  const { effect, sandbox } = call;
  const { callId, name } = effect;
  const startedAt = ports.world.now();
  ports.telemetry.count('ToolCalls');
  const failed = (code: string, message: string): EndedCall => {
    ports.telemetry.count('ToolCallsFailed');
    return { type: 'call-failed', at: ports.world.now(), callId, code, message };
  };
  if (!isSandboxTool(name)) return failed('invalid_request', `there is no tool ${name}`);
  if (effect.generation !== undefined && effect.generation !== sandbox.generation)
    return failed(...unknownOutcome);
  const outcome = await callUntilKnown(ports, call);
  if (outcome.status === 'lost') return failed(...unknownOutcome);
  if (outcome.status === 'failed') return failed(outcome.code, outcome.message);
  const { content } = outcome;
  const at = ports.world.now();
  return { type: 'call-finished', at, callId, content, text: textOf(content), durationMs: at - startedAt };
};

const unknownOutcome = [
  'tool_outcome_unknown',
  'its sandbox was lost while it ran: it may have run in part, and it is not run again',
] as const;

/** A broken connection is no outcome: the same sandbox is asked again under the same key and gives the first result. */
const callUntilKnown = async (ports: ToolPorts, { effect, sandbox, correlationId, onProgress }: OneCall) => {
  const { key: callKey, name, args } = effect;
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await ports.tools.call({ sandbox, callKey, name, args, correlationId, onProgress });
    if (outcome.status !== 'lost' || attempt === lostTriesMax) return outcome;
    await ports.world.sleep(lostPauseMs);
    const now = (await ports.workspaces.get(sandbox.workspaceId))?.sandbox;
    if (now?.generation !== sandbox.generation || now.state !== 'ready') return outcome;
  }
};

/** What the model reads of a result; what is no text is named by its type. */
const textOf = (content: readonly ToolContent[]): string => {
  const parts = content.map((block) =>
    typeof block['text'] === 'string' ? block['text'] : `[${block.type}]`,
  );
  return cutMiddle(parts.join('\n'), toolResultCharactersMax);
};
