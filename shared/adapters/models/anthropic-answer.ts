/**
 * Anthropic's stream of events, read as one answer: text at once, calls whole, then the end.
 *
 * Calls are given after the stop reason is known, since a call that the output limit cut off must not run
 * with half of its arguments. Thinking is not given: the history has no place for it, and with adaptive
 * thinking earlier answers need none (https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking).
 * An answer without a stop reason was cut off: `provider_unavailable`.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { CallId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { AnswerEnd, ModelChunk, TokenUsage } from '#shared/domain/model.ts';
import { AppError } from '#shared/errors.ts';
import type { ToolNames } from './tool-names.ts';

type OpenCall = { readonly block: Anthropic.ToolUseBlock; readonly index: number; json: string };

type Reading = {
  readonly calls: OpenCall[];
  newestIndex: number;
  usage: Partial<Anthropic.MessageDeltaUsage>;
  stopReason: Anthropic.StopReason | null;
};

export async function* answerChunks(
  events: AsyncIterable<Anthropic.RawMessageStreamEvent>,
  { fromWire }: ToolNames,
): AsyncGenerator<ModelChunk> {
  const reading: Reading = { calls: [], newestIndex: -1, usage: {}, stopReason: null };
  for await (const event of events) {
    const text = take(reading, event);
    if (text !== '') yield { type: 'text', text };
  }
  if (reading.stopReason === null)
    throw new AppError('provider_unavailable', 'the model broke off in the middle of its answer');
  const end = endOf(reading.stopReason);
  for (const { block, json } of wholeCalls(reading)) {
    const args = json === '' ? (block.input as JsonObject) : argsOf(json);
    yield { type: 'call', callId: block.id as CallId, name: fromWire(block.name), args };
  }
  yield { type: 'end', end, usage: usageOf(reading.usage) };
}

/** Notes what one event says, and gives the text in it. */
const take = (reading: Reading, event: Anthropic.RawMessageStreamEvent): string => {
  switch (event.type) {
    case 'message_start':
      reading.usage = event.message.usage;
      return '';
    case 'content_block_start':
      reading.newestIndex = event.index;
      if (event.content_block.type === 'tool_use')
        reading.calls.push({ block: event.content_block, index: event.index, json: '' });
      return event.content_block.type === 'text' ? event.content_block.text : '';
    case 'content_block_delta':
      return takeDelta(reading, event);
    case 'message_delta':
      // Cumulative counts; what this event leaves out or has null stays as the start said it.
      reading.usage = { ...reading.usage, ...withoutNulls(event.usage) };
      reading.stopReason = event.delta.stop_reason ?? reading.stopReason;
      return '';
    default:
      return '';
  }
};

const takeDelta = (reading: Reading, { index, delta }: Anthropic.RawContentBlockDeltaEvent): string => {
  if (delta.type === 'text_delta') return delta.text;
  const call = reading.calls.find((open) => open.index === index);
  if (delta.type === 'input_json_delta' && call !== undefined) call.json += delta.partial_json;
  return '';
};

/** At the output limit, the call that was being written counts only if its arguments are complete. */
const wholeCalls = ({ calls, newestIndex, stopReason }: Reading): readonly OpenCall[] =>
  stopReason === 'max_tokens'
    ? calls.filter(({ index, json }) => index !== newestIndex || parsedObject(json) !== undefined)
    : calls;

/** What is no JSON object goes on as it is: no tool takes it, and its refusal is what the model hears. */
const argsOf = (json: string): JsonObject => parsedObject(json) ?? { arguments_not_json: json };

const parsedObject = (json: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
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
      throw new AppError('context_too_long', 'the conversation is longer than the model can take');
    default:
      // `stop_sequence` and `pause_turn` too: no request of ours has stop sequences or server tools.
      return 'end_turn';
  }
};

/** `input_tokens` leaves out what was read from or written to the cache; a turn pays for all of it. */
const usageOf = (usage: Partial<Anthropic.MessageDeltaUsage>): TokenUsage => ({
  inputTokens:
    (usage.input_tokens ?? 0) +
    (usage.cache_read_input_tokens ?? 0) +
    (usage.cache_creation_input_tokens ?? 0),
  outputTokens: usage.output_tokens ?? 0,
});

const withoutNulls = (usage: Partial<Anthropic.MessageDeltaUsage>): Partial<Anthropic.MessageDeltaUsage> =>
  Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== null));
