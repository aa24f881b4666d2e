/**
 * Anthropic's stream of events, read as one answer: text at once, calls whole, then the end.
 *
 * Calls are emitted after the stop reason is known, since a call that the output limit cut off must not run with
 * half of its arguments. Thinking is shown as it comes; signed, the provider wants it back while tools run
 * (https://platform.claude.com/docs/en/build-with-claude/thinking), and thus it is the answer's provider state.
 * An answer without a stop reason was cut off: `provider_unavailable`.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { CallId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { AnswerEnd, ModelChunk, TokenUsage } from '#shared/domain/model.ts';
import { argsOf, parsedObject } from './call-arguments.ts';
import { meanings, providerError } from './provider-errors.ts';
import { type ModelRef, providerStateOf, type StatePart } from './provider-state.ts';
import { readThoughts, type ThoughtsReader } from './shown-thoughts.ts';
import type { AnswerReader } from './stream-answer.ts';
import type { ToolNames } from './tool-names.ts';

type OpenCall = { readonly kind: 'call'; readonly block: Anthropic.ToolUseBlock; json: string };
type Part =
  | OpenCall
  | { readonly kind: 'text'; characters: number }
  | { readonly kind: 'thinking'; thinking: string; signature: string }
  | { readonly kind: 'redacted'; readonly data: string };

type Reading = {
  readonly thoughts: ThoughtsReader;
  /** By the index of the block; blocks that mean nothing here are left out. */
  readonly parts: Map<number, Part>;
  newestIndex: number;
  /** Absent before the answer has begun. */
  usage: Partial<Anthropic.MessageDeltaUsage> | undefined;
  stopReason: Anthropic.StopReason | null;
};

type Readable = { readonly names: ToolNames; readonly modelRef: ModelRef };

export const readAnswer = (readable: Readable): AnswerReader<Anthropic.RawMessageStreamEvent> => {
  const reading: Reading = {
    thoughts: readThoughts(),
    parts: new Map(),
    newestIndex: -1,
    usage: undefined,
    stopReason: null,
  };
  return {
    take: (event) => take(reading, event),
    end: () => endChunks(reading, readable),
    usage: () => reading.usage && usageOf(reading.usage),
  };
};

const endChunks = (reading: Reading, { names, modelRef }: Readable): readonly ModelChunk[] => {
  if (reading.stopReason === null) throw providerError(meanings.brokenOff);
  const end = endOf(reading.stopReason);
  const parts = wholeParts(reading);
  const calls = parts.flatMap((part): ModelChunk[] => {
    if (part.kind !== 'call') return [];
    const { block, json } = part;
    const args = json === '' ? (block.input as JsonObject) : argsOf(json);
    return [{ type: 'call', callId: block.id as CallId, name: names.fromWire(block.name), args }];
  });
  const state = providerStateOf(modelRef, stateParts(parts));
  return [...calls, { type: 'end', end, usage: usageOf(reading.usage), ...state }];
};

/** Records one event, and returns the text or the thoughts in it. */
const take = (reading: Reading, event: Anthropic.RawMessageStreamEvent): readonly ModelChunk[] => {
  switch (event.type) {
    case 'message_start':
      reading.usage = event.message.usage;
      return [];
    case 'content_block_start':
      return open(reading, event);
    case 'content_block_delta':
      return takeDelta(reading, event);
    case 'message_delta':
      // Cumulative counts; a field that this event leaves out or has null stays as it was at the start.
      reading.usage = { ...reading.usage, ...withoutNulls(event.usage) };
      reading.stopReason = event.delta.stop_reason ?? reading.stopReason;
      return [];
    default:
      return [];
  }
};

const open = (
  reading: Reading,
  { index, content_block: block }: Anthropic.RawContentBlockStartEvent,
): readonly ModelChunk[] => {
  reading.newestIndex = index;
  switch (block.type) {
    case 'tool_use':
      reading.parts.set(index, { kind: 'call', block, json: '' });
      return [];
    case 'text':
      reading.parts.set(index, { kind: 'text', characters: block.text.length });
      return said(block.text);
    case 'thinking':
      reading.parts.set(index, {
        kind: 'thinking',
        // Not each server of this wire begins with them.
        thinking: block.thinking ?? '',
        signature: block.signature ?? '',
      });
      return reading.thoughts(index, block.thinking ?? '');
    case 'redacted_thinking':
      reading.parts.set(index, { kind: 'redacted', data: block.data });
      return [];
    default:
      return [];
  }
};

const takeDelta = (
  reading: Reading,
  { index, delta }: Anthropic.RawContentBlockDeltaEvent,
): readonly ModelChunk[] => {
  if (delta.type === 'text_delta') return takeText(reading, index, delta.text);
  const part = reading.parts.get(index);
  if (delta.type === 'input_json_delta' && part?.kind === 'call') part.json += delta.partial_json;
  if (delta.type === 'signature_delta' && part?.kind === 'thinking') part.signature += delta.signature;
  if (delta.type !== 'thinking_delta' || part?.kind !== 'thinking') return [];
  part.thinking += delta.thinking;
  return reading.thoughts(index, delta.thinking);
};

const takeText = ({ parts }: Reading, index: number, text: string): readonly ModelChunk[] => {
  const part = parts.get(index);
  if (part?.kind === 'text') part.characters += text.length;
  else parts.set(index, { kind: 'text', characters: text.length });
  return said(text);
};

const said = (text: string): readonly ModelChunk[] => (text === '' ? [] : [{ type: 'text', text }]);

/** At the output limit, the call that was being written counts only if its arguments are complete. */
const wholeParts = ({ parts, newestIndex, stopReason }: Reading): readonly Part[] =>
  [...parts]
    .filter(
      ([index, part]) =>
        stopReason !== 'max_tokens' ||
        index !== newestIndex ||
        part.kind !== 'call' ||
        parsedObject(part.json) !== undefined,
    )
    .map(([, part]) => part);

/** Thinking that was cut before its signature is refused, and so is the thinking beside it. */
const stateParts = (parts: readonly Part[]): readonly StatePart[] =>
  parts.some((part) => part.kind === 'thinking' && part.signature === '') ? [] : parts.map(statePart);

const statePart = (part: Part): StatePart => {
  switch (part.kind) {
    case 'call':
      return { call: true };
    case 'text':
      return { text: part.characters };
    case 'thinking':
      return { own: { type: 'thinking', thinking: part.thinking, signature: part.signature } };
    case 'redacted':
      return { own: { type: 'redacted_thinking', data: part.data } };
  }
};

const endOf = (reason: Anthropic.StopReason): AnswerEnd => {
  switch (reason) {
    case 'max_tokens':
    case 'tool_use':
      return reason;
    case 'refusal':
      return 'refused';
    case 'model_context_window_exceeded':
      throw providerError(meanings.tooLong);
    default:
      // `stop_sequence` and `pause_turn` too: no request of ours has stop sequences or server tools.
      return 'end_turn';
  }
};

/** `input_tokens` excludes reads from and writes to the cache; a turn pays for all of it. */
const usageOf = (usage: Partial<Anthropic.MessageDeltaUsage> = {}): TokenUsage => {
  const cachedInputTokens = usage.cache_read_input_tokens ?? 0;
  const cacheWriteInputTokens = usage.cache_creation_input_tokens ?? 0;
  return {
    inputTokens: (usage.input_tokens ?? 0) + cachedInputTokens + cacheWriteInputTokens,
    outputTokens: usage.output_tokens ?? 0,
    ...(cachedInputTokens === 0 ? {} : { cachedInputTokens }),
    ...(cacheWriteInputTokens === 0 ? {} : { cacheWriteInputTokens }),
  };
};

const withoutNulls = (usage: Partial<Anthropic.MessageDeltaUsage>): Partial<Anthropic.MessageDeltaUsage> =>
  Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== null));
