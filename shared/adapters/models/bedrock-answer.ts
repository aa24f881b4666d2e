/**
 * Bedrock's stream of events, read as one answer: text and thoughts at once, calls whole, then the end.
 *
 * Signed and redacted thoughts are the answer's provider state. An answer without a stop reason was cut off:
 * `provider_unavailable`; so is one that the model itself garbled.
 */
import type {
  TokenUsage as BedrockUsage,
  ContentBlockDelta,
  ConverseStreamOutput,
  StopReason,
} from '@aws-sdk/client-bedrock-runtime';
import type { CallId } from '#shared/domain/ids.ts';
import type { AnswerEnd, ModelChunk, TokenUsage } from '#shared/domain/model.ts';
import { argsOf, parsedObject } from './call-arguments.ts';
import { meanings, providerError } from './provider-errors.ts';
import { type ModelRef, providerStateOf, type StatePart } from './provider-state.ts';
import { readThoughts, type ThoughtsReader } from './shown-thoughts.ts';
import type { AnswerReader } from './stream-answer.ts';
import type { ToolNames } from './tool-names.ts';

type Part =
  | { readonly kind: 'call'; readonly id: string; readonly name: string; json: string }
  | { readonly kind: 'text'; characters: number }
  | { readonly kind: 'thinking'; text: string; signature: string }
  | { readonly kind: 'redacted'; readonly pieces: Uint8Array[] };

type Reading = {
  readonly thoughts: ThoughtsReader;
  /** By the index of the block. */
  readonly parts: Map<number, Part>;
  usage: BedrockUsage | undefined;
  reason: StopReason | undefined;
};

type Readable = { readonly names: ToolNames; readonly modelRef: ModelRef };

export const readAnswer = (readable: Readable): AnswerReader<ConverseStreamOutput> => {
  const reading: Reading = {
    thoughts: readThoughts(),
    parts: new Map(),
    usage: undefined,
    reason: undefined,
  };
  return {
    take: (event) => take(reading, event),
    end: () => endChunks(reading, readable),
    usage: () => reading.usage && usageOf(reading.usage),
  };
};

const endChunks = (reading: Reading, { names, modelRef }: Readable): readonly ModelChunk[] => {
  if (reading.reason === undefined) throw providerError(meanings.brokenOff);
  const end = endOf(reading.reason);
  const parts = [...reading.parts.values()].filter((part, index, { length }) => {
    const isCut = end === 'max_tokens' && index === length - 1 && part.kind === 'call';
    return !isCut || parsedObject(part.json) !== undefined;
  });
  const calls = parts.flatMap((part): ModelChunk[] => {
    if (part.kind !== 'call') return [];
    const args = part.json === '' ? {} : argsOf(part.json);
    return [{ type: 'call', callId: part.id as CallId, name: names.fromWire(part.name), args }];
  });
  const state = providerStateOf(modelRef, stateParts(parts));
  return [...calls, { type: 'end', end, usage: usageOf(reading.usage), ...state }];
};

/** Records one event, and returns the text or the thoughts in it. */
const take = (reading: Reading, event: ConverseStreamOutput): readonly ModelChunk[] => {
  reading.usage = event.metadata?.usage ?? reading.usage;
  reading.reason = event.messageStop?.stopReason ?? reading.reason;
  const { contentBlockStart: start, contentBlockDelta: delta } = event;
  if (start?.start?.toolUse !== undefined) {
    const { toolUseId = '', name = '' } = start.start.toolUse;
    reading.parts.set(start.contentBlockIndex ?? 0, { kind: 'call', id: toolUseId, name, json: '' });
  }
  return delta?.delta === undefined ? [] : takeDelta(reading, delta.contentBlockIndex ?? 0, delta.delta);
};

const takeDelta = (
  { parts, thoughts }: Reading,
  index: number,
  { text, toolUse, reasoningContent }: ContentBlockDelta,
): readonly ModelChunk[] => {
  if (text !== undefined) {
    const part = opened(parts, index, { kind: 'text', characters: 0 });
    part.characters += text.length;
    return text === '' ? [] : [{ type: 'text', text }];
  }
  const call = parts.get(index);
  if (toolUse !== undefined && call?.kind === 'call') call.json += toolUse.input ?? '';
  if (reasoningContent?.redactedContent !== undefined) {
    const pieces: Uint8Array[] = [];
    opened(parts, index, { kind: 'redacted', pieces }).pieces.push(reasoningContent.redactedContent);
    return [];
  }
  if (reasoningContent === undefined) return [];
  const part = opened(parts, index, { kind: 'thinking', text: '', signature: '' });
  part.text += reasoningContent.text ?? '';
  part.signature += reasoningContent.signature ?? '';
  return thoughts(index, reasoningContent.text ?? '');
};

/** Blocks of text and thoughts have no start of their own. */
const opened = <P extends Part>(parts: Map<number, Part>, index: number, fresh: P): P => {
  const known = parts.get(index);
  if (known?.kind === fresh.kind) return known as P;
  parts.set(index, fresh);
  return fresh;
};

/** Thinking that was cut before its signature is refused; models that sign nothing want nothing back. */
const stateParts = (parts: readonly Part[]): readonly StatePart[] =>
  parts.some((part) => part.kind === 'thinking' && part.signature === '') ? [] : parts.map(statePart);

const statePart = (part: Part): StatePart => {
  switch (part.kind) {
    case 'call':
      return { call: true };
    case 'text':
      return { text: part.characters };
    case 'thinking':
      return { own: { text: part.text, signature: part.signature } };
    case 'redacted':
      return { own: { redacted: Buffer.concat(part.pieces).toString('base64') } };
  }
};

const endOf = (reason: StopReason): AnswerEnd => {
  switch (reason) {
    case 'max_tokens':
    case 'tool_use':
      return reason;
    case 'guardrail_intervened':
    case 'content_filtered':
      return 'refused';
    case 'model_context_window_exceeded':
      throw providerError(meanings.tooLong);
    case 'malformed_model_output':
    case 'malformed_tool_use':
      throw providerError(meanings.garbled, { type: reason });
    default:
      return (reason as string) === 'refusal' ? 'refused' : 'end_turn';
  }
};

/** `inputTokens` excludes reads from and writes to the cache; a turn pays for all of it. */
const usageOf = (usage: BedrockUsage | undefined): TokenUsage => {
  const cachedInputTokens = usage?.cacheReadInputTokens ?? 0;
  const cacheWriteInputTokens = usage?.cacheWriteInputTokens ?? 0;
  return {
    inputTokens: (usage?.inputTokens ?? 0) + cachedInputTokens + cacheWriteInputTokens,
    outputTokens: usage?.outputTokens ?? 0,
    ...(cachedInputTokens === 0 ? {} : { cachedInputTokens }),
    ...(cacheWriteInputTokens === 0 ? {} : { cacheWriteInputTokens }),
  };
};
