/**
 * Anthropic's stream of events, read as one answer: text at once, calls whole, then the end.
 *
 * Thinking is shown as it comes; signed, the provider wants it back while tools run
 * (https://platform.claude.com/docs/en/build-with-claude/thinking), and thus it is the answer's provider state.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { JsonObject } from '#shared/domain/json.ts';
import type { AnswerEnd, ModelChunk, TokenUsage } from '#shared/domain/model.ts';
import {
  type BlockAnswer,
  type OwnBlock,
  readBlocks,
  takeArgs,
  takeText,
  takeThought,
  tokenUsage,
} from './answer-parts.ts';
import { meanings, providerError } from './provider-errors.ts';

type Usage = Partial<Anthropic.MessageDeltaUsage>;
type Answer = BlockAnswer<Usage, Anthropic.StopReason>;

const take = (answer: Answer, event: Anthropic.RawMessageStreamEvent): readonly ModelChunk[] => {
  switch (event.type) {
    case 'message_start':
      answer.usage = event.message.usage;
      return [];
    case 'content_block_start':
      return open(answer, event);
    case 'content_block_delta':
      return takeDelta(answer, event);
    case 'message_delta':
      // Cumulative counts; a field that this event leaves out or has null stays as it was at the start.
      answer.usage = { ...answer.usage, ...withoutNulls(event.usage) };
      answer.reason = event.delta.stop_reason ?? answer.reason;
      return [];
    default:
      return [];
  }
};

const open = (
  answer: Answer,
  { index, content_block: block }: Anthropic.RawContentBlockStartEvent,
): readonly ModelChunk[] => {
  switch (block.type) {
    case 'tool_use': {
      const { id, name, input } = block;
      answer.blocks.set(index, { kind: 'call', id, name, args: input as JsonObject, json: '' });
      return [];
    }
    case 'text':
      return takeText(answer, index, block.text);
    case 'thinking':
      // Not each server of this wire begins with its fields.
      return takeThought(answer, index, { text: block.thinking, signature: block.signature });
    case 'redacted_thinking':
      answer.blocks.set(index, { kind: 'redacted', data: block.data });
      return [];
    default:
      return [];
  }
};

const takeDelta = (
  answer: Answer,
  { index, delta }: Anthropic.RawContentBlockDeltaEvent,
): readonly ModelChunk[] => {
  switch (delta.type) {
    case 'text_delta':
      return takeText(answer, index, delta.text);
    case 'input_json_delta':
      return takeArgs(answer, index, delta.partial_json);
    case 'thinking_delta':
      return takeThought(answer, index, { text: delta.thinking });
    case 'signature_delta':
      return takeThought(answer, index, { signature: delta.signature });
    default:
      return [];
  }
};

const ownBlock = (block: OwnBlock): JsonObject =>
  block.kind === 'redacted'
    ? { type: 'redacted_thinking', data: block.data }
    : { type: 'thinking', thinking: block.text, signature: block.signature };

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

/** `input_tokens` excludes reads from and writes to the cache. */
const usageOf = (usage: Usage = {}): TokenUsage => {
  const { cache_read_input_tokens: cached, cache_creation_input_tokens: cacheWrite } = usage;
  const input = [usage.input_tokens, cached, cacheWrite];
  return tokenUsage({ input, output: [usage.output_tokens], cached, cacheWrite });
};

const withoutNulls = (usage: Usage): Usage =>
  Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== null));

export const readAnswer = readBlocks({ take, endOf, usageOf, ownBlock });
