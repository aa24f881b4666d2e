/**
 * Runs one approved call in its sandbox and gives its end as the turn's next event.
 *
 * A result that is too long for the model, or for the log, is kept whole as a file in the workspace, and said.
 */
import type { ToolContent } from '../domain/event-log.ts';
import { resultBytesMax, toolResultCharactersMax } from '../domain/limits.ts';
import type { LiveSandbox } from '../domain/sandbox.ts';
import { cutBytes, cutMiddle, utf8Bytes } from '../domain/text.ts';
import { isSandboxTool } from '../domain/tools.ts';
import type { TurnEffect, TurnEvent } from '../domain/turn/turn.ts';
import type { SandboxLink } from '../ports/sandbox-link.ts';
import type { ToolProgress } from '../ports/sandbox-tools.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { type CallPorts, callUntilKnown } from './call-until-known.ts';

export type RunCallPorts = CallPorts & { readonly link: SandboxLink; readonly telemetry: Telemetry };

export type ToolEffect = Extract<TurnEffect, { type: 'run-tool' }>;
export type EndedCall = Extract<TurnEvent, { type: 'call-finished' | 'call-failed' }>;

export type OneCall = {
  readonly effect: ToolEffect;
  readonly sandbox: LiveSandbox;
  readonly correlationId: string;
  readonly onProgress: (progress: ToolProgress) => void;
  readonly signal: AbortSignal;
};

export const unknownOutcome = [
  'tool_outcome_unknown',
  'its sandbox was lost while it ran: it may have run in part, and it is not run again',
] as const;

/** Blocks of a result over its limit that the log keeps, cut; the file has all of them. */
const blocksShownMax = 100;
/** A file API request carries at most this much; what a tool prints is cut before. */
const fileBytesMax = 4 * 1_048_576;

export const runCall = async (ports: RunCallPorts, call: OneCall): Promise<EndedCall> => {
  const { effect, sandbox, ...rest } = call;
  const { callId, name, key: callKey, args } = effect;
  const startedAt = ports.world.now();
  ports.telemetry.count('ToolCalls');
  const failed = (code: string, message: string): EndedCall => {
    ports.telemetry.count('ToolCallsFailed');
    return { type: 'call-failed', at: ports.world.now(), callId, code, message };
  };
  if (!isSandboxTool(name)) return failed('invalid_request', `there is no tool ${name}`);
  if (effect.generation !== undefined && effect.generation !== sandbox.generation)
    return failed(...unknownOutcome);
  const outcome = await callUntilKnown(ports, { sandbox, callKey, name, args, ...rest });
  if (outcome.status === 'lost') return failed(...unknownOutcome);
  if (outcome.status === 'failed') return failed(outcome.code, outcome.message);
  const { content, text } = await bounded(ports, call, outcome.content);
  const at = ports.world.now();
  return { type: 'call-finished', at, callId, content, text, durationMs: at - startedAt };
};

type Result = { readonly content: readonly ToolContent[]; readonly text: string };

const bounded = async (
  ports: RunCallPorts,
  call: OneCall,
  content: readonly ToolContent[],
): Promise<Result> => {
  const whole = textOf(content);
  const isLong = whole.length > toolResultCharactersMax;
  const isHeavy = utf8Bytes(JSON.stringify(content)) > resultBytesMax;
  if (!isLong && !isHeavy) return { content, text: whole };
  const note = await keepWhole(ports, call, whole);
  return {
    content: isHeavy ? [...lightened(content), { type: 'text', text: note }] : content,
    text: `${cutMiddle(whole, toolResultCharactersMax)}\n${note}`,
  };
};

/** Where the whole is, in words. */
const keepWhole = async (
  { link, telemetry }: RunCallPorts,
  { effect, sandbox, correlationId }: OneCall,
  whole: string,
): Promise<string> => {
  const name = effect.key.replaceAll(/[^\w.-]+/g, '-').slice(-100);
  const path = `.sallyport/outputs/${name}.txt`;
  const body = new TextEncoder().encode(cutBytes(whole, fileBytesMax));
  const headers = { 'x-correlation-id': correlationId };
  try {
    const response = await link.fetch(sandbox, { method: 'PUT', path: `/files/${path}`, body, headers });
    await response.body?.cancel();
    if (response.ok) return `[The result was too long and is cut here; the whole is in /workspace/${path}.]`;
  } catch (error) {
    telemetry.warn('a long result was not kept', { error });
  }
  return '[The result was too long and is cut here; the whole could not be kept.]';
};

/** Text blocks share what the log has room for; pictures that do not fit are named. */
const lightened = (content: readonly ToolContent[]): readonly ToolContent[] => {
  const shown = content.slice(0, blocksShownMax);
  const share = Math.floor(resultBytesMax / 2 / Math.max(1, shown.length));
  return shown.map((block) => {
    if (typeof block['text'] === 'string')
      return { ...block, text: cutToJsonBytes(block['text'], share), truncated: true };
    return utf8Bytes(JSON.stringify(block)) <= share
      ? block
      : { type: 'text', text: `[${block.type}: too large to show]` };
  });
};

/** JSON writes a control character in six bytes, so that characters are no measure of what is stored. */
const cutToJsonBytes = (text: string, bytesMax: number): string => {
  let kept = text;
  for (let max = bytesMax; max >= 1 && utf8Bytes(JSON.stringify(kept)) > bytesMax; max /= 2)
    kept = cutMiddle(text, Math.floor(max));
  return kept;
};

/** What the model reads of a result; what is no text is named by its type. */
const textOf = (content: readonly ToolContent[]): string =>
  content.map((block) => (typeof block['text'] === 'string' ? block['text'] : `[${block.type}]`)).join('\n');
