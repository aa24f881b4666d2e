/**
 * Gemini's stream of chunks, read as one answer: text at once, calls whole, then the end.
 *
 * Summaries of thoughts are shown; the signatures beside text and calls are the answer's provider state. An answer without
 * a reason for its end was cut off: `provider_unavailable`; so is one that the model itself garbled.
 */
import type { FinishReason, GenerateContentResponse, Part } from '@google/genai';
import type { CallId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { AnswerEnd, ModelChunk, TokenUsage } from '#shared/domain/model.ts';
import { said, tokenUsage } from './answer-parts.ts';
import { meanings, providerError } from './provider-errors.ts';
import { providerStateOf, type StatePart } from './provider-state.ts';
import type { AnswerReader, Readable } from './stream-answer.ts';

type Usage = NonNullable<GenerateContentResponse['usageMetadata']>;

type Reading = {
  readonly calls: NonNullable<Part['functionCall']>[];
  readonly state: StatePart[];
  usage: Usage | undefined;
  reason: FinishReason | undefined;
};

export const readAnswer = (readable: Readable): AnswerReader<GenerateContentResponse> => {
  const reading: Reading = { calls: [], state: [], usage: undefined, reason: undefined };
  return {
    take: (chunk) => take(reading, chunk),
    end: () => endChunks(reading, readable),
    usage: () => reading.usage && usageOf(reading.usage),
  };
};

const endChunks = (reading: Reading, { names, modelRef }: Readable): readonly ModelChunk[] => {
  const { reason, calls } = reading;
  if (reason === undefined) throw providerError(meanings.brokenOff);
  const end = endOf(reason, calls.length);
  const state = providerStateOf(modelRef, reading.state);
  return [
    ...calls.map(({ id, name = '', args = {} }) => ({
      type: 'call' as const,
      ...(id ? { callId: id as CallId } : {}),
      name: names.fromWire(name),
      args: args as JsonObject,
    })),
    { type: 'end', end, usage: usageOf(reading.usage), ...state },
  ];
};

/** Records one chunk, and returns the texts and the thoughts in it. */
const take = (reading: Reading, chunk: GenerateContentResponse): readonly ModelChunk[] => {
  const candidate = chunk.candidates?.[0];
  if (candidate === undefined && chunk.promptFeedback?.blockReason !== undefined)
    throw providerError(meanings.refusedContent, { type: chunk.promptFeedback.blockReason });
  reading.usage = chunk.usageMetadata ?? reading.usage;
  reading.reason = candidate?.finishReason ?? reading.reason;
  return (candidate?.content?.parts ?? []).flatMap((part) => takePart(reading, part));
};

const takePart = (
  { calls, state }: Reading,
  { functionCall, text, thought, thoughtSignature }: Part,
): readonly ModelChunk[] => {
  const marked = thoughtSignature === undefined ? {} : { mark: { thoughtSignature } };
  if (functionCall !== undefined) {
    calls.push(functionCall);
    state.push({ call: true, ...marked });
    return [];
  }
  if (text === undefined) return [];
  if (thought) return text === '' ? [] : [{ type: 'reasoning', text }];
  state.push({ text: text.length, ...marked });
  return said(text);
};

const endOf = (reason: FinishReason, calls: number): AnswerEnd => {
  switch (reason as string) {
    case 'MAX_TOKENS':
    case 'CONTINUATION':
      return 'max_tokens';
    case 'SAFETY':
    case 'RECITATION':
    case 'LANGUAGE':
    case 'BLOCKLIST':
    case 'PROHIBITED_CONTENT':
    case 'SPII':
      return 'refused';
    case 'MALFORMED_FUNCTION_CALL':
    case 'UNEXPECTED_TOOL_CALL':
    case 'TOO_MANY_TOOL_CALLS':
    case 'MALFORMED_RESPONSE':
    case 'OTHER':
      throw providerError(meanings.garbled, { type: reason });
    default:
      return calls > 0 ? 'tool_use' : 'end_turn';
  }
};

/** The prompt's count includes the cached part; thoughts are paid as output. */
const usageOf = (usage: Usage | undefined): TokenUsage =>
  tokenUsage({
    input: [usage?.promptTokenCount, usage?.toolUsePromptTokenCount],
    output: [usage?.candidatesTokenCount, usage?.thoughtsTokenCount],
    cached: usage?.cachedContentTokenCount,
  });
