/**
 * OpenAI's stream of events, read as one answer: text at once, calls whole, then the end.
 *
 * Calls are emitted after the answer has ended. Of the reasoning a summary is shown; encrypted, it is the answer's
 * provider state, with the phase of each message. An answer without a last event was cut off: `provider_unavailable`.
 */
import type OpenAI from 'openai';
import type { CallId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { AnswerEnd, ModelChunk, TokenUsage } from '#shared/domain/model.ts';
import { readThoughts, said, type ThoughtsReader, tokenUsage } from './answer-parts.ts';
import { argsOf, parsedObject } from './call-arguments.ts';
import { translateFailure } from './openai-errors.ts';
import { meanings, providerError } from './provider-errors.ts';
import { providerStateOf, type StatePart } from './provider-state.ts';
import type { AnswerReader, Readable } from './stream-answer.ts';

type Event = OpenAI.Responses.ResponseStreamEvent;

type Reading = {
  readonly thoughts: ThoughtsReader;
  readonly items: OpenAI.Responses.ResponseOutputItem[];
  isRefused: boolean;
  final: OpenAI.Responses.Response | undefined;
};

export const readAnswer = (readable: Readable): AnswerReader<Event> => {
  const reading: Reading = { thoughts: readThoughts(), items: [], isRefused: false, final: undefined };
  return {
    take: (event) => take(reading, event),
    end: () => endChunks(reading, readable),
    usage: () => reading.final?.usage && usageOf(reading.final.usage),
  };
};

const endChunks = (reading: Reading, { names, modelRef }: Readable): readonly ModelChunk[] => {
  const { final } = reading;
  if (final === undefined) throw providerError(meanings.brokenOff);
  const items = reading.items.filter(isWhole);
  const calls = items.filter((item) => item.type === 'function_call');
  const end = endOf(reading, final, calls.length);
  const state = providerStateOf(modelRef, items.flatMap(stateParts));
  return [
    ...calls.map(({ call_id, name, arguments: json }) => ({
      ...{ type: 'call' as const, callId: call_id as CallId },
      ...{ name: names.fromWire(name), args: argsIn(json) },
    })),
    { type: 'end', end, usage: usageOf(final.usage), ...state },
  ];
};

/** Records one event, and returns the text or the thoughts in it. */
const take = (reading: Reading, event: Event): readonly ModelChunk[] => {
  switch (event.type) {
    case 'response.output_text.delta':
      return said(event.delta);
    case 'response.refusal.delta':
      reading.isRefused = true;
      return said(event.delta);
    case 'response.reasoning_summary_text.delta':
      return reading.thoughts(`${event.item_id} ${event.summary_index}`, event.delta);
    // Models that others serve over the same wire show their reasoning itself.
    case 'response.reasoning_text.delta':
      return reading.thoughts(`${event.item_id} ${event.content_index}`, event.delta);
    case 'response.output_item.done':
      reading.items.push(event.item);
      return [];
    case 'response.completed':
    case 'response.incomplete':
      reading.final = event.response;
      return [];
    case 'response.failed':
      throw translateFailure(event.response.error);
    case 'error':
      throw translateFailure(event);
    default:
      return [];
  }
};

/** At the output limit, the call that was being written counts only if its arguments are complete. */
const isWhole = (item: OpenAI.Responses.ResponseOutputItem): boolean =>
  item.type !== 'function_call' || item.status !== 'incomplete' || parsedObject(item.arguments) !== undefined;

const argsIn = (json: string): JsonObject => (json === '' ? {} : argsOf(json));

const endOf = (
  { isRefused }: Reading,
  { status, incomplete_details: incomplete }: OpenAI.Responses.Response,
  calls: number,
): AnswerEnd => {
  if (isRefused || incomplete?.reason === 'content_filter') return 'refused';
  // Any future reason for a cut answer counts, too: the answer is not whole.
  if (status === 'incomplete' || incomplete?.reason !== undefined) return 'max_tokens';
  return calls > 0 ? 'tool_use' : 'end_turn';
};

/** `input_tokens` includes reads from and writes to the cache. */
const usageOf = (usage: OpenAI.Responses.ResponseUsage | undefined): TokenUsage =>
  tokenUsage({
    input: [usage?.input_tokens],
    output: [usage?.output_tokens],
    cached: usage?.input_tokens_details?.cached_tokens,
    cacheWrite: usage?.input_tokens_details?.cache_write_tokens,
  });

const stateParts = (item: OpenAI.Responses.ResponseOutputItem): StatePart[] => {
  switch (item.type) {
    case 'reasoning':
      return item.encrypted_content ? [{ own: reasoningBlock(item, item.encrypted_content) }] : [];
    case 'function_call':
      return [{ call: true }];
    case 'message':
      return [{ text: lengthOf(item), ...(item.phase ? { mark: { phase: item.phase } } : {}) }];
    default:
      return [];
  }
};

const reasoningBlock = (
  { id, summary }: OpenAI.Responses.ResponseReasoningItem,
  encrypted_content: string,
): JsonObject => ({
  type: 'reasoning',
  id,
  summary: summary.map(({ text }) => ({ type: 'summary_text', text })),
  encrypted_content,
});

const lengthOf = ({ content }: OpenAI.Responses.ResponseOutputMessage): number =>
  content.reduce((sum, part) => sum + (part.type === 'refusal' ? part.refusal : part.text).length, 0);
