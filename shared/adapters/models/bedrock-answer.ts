/**
 * Bedrock's stream of events, read as one answer: text and thoughts at once, calls whole, then the end.
 *
 * Signed and redacted thoughts are the answer's provider state. An answer that the model itself garbled is
 * `provider_unavailable`, as one that was cut off.
 */
import type {
  TokenUsage as BedrockUsage,
  ContentBlockDelta,
  ConverseStreamOutput,
  StopReason,
} from '@aws-sdk/client-bedrock-runtime';
import type { JsonObject } from '#shared/domain/json.ts';
import type { AnswerEnd, ModelChunk, TokenUsage } from '#shared/domain/model.ts';
import {
  type BlockAnswer,
  grown,
  type OwnBlock,
  readBlocks,
  takeArgs,
  takeText,
  takeThought,
  tokenUsage,
} from './answer-parts.ts';
import { meanings, providerError } from './provider-errors.ts';

type Answer = BlockAnswer<BedrockUsage, StopReason>;

const take = (answer: Answer, event: ConverseStreamOutput): readonly ModelChunk[] => {
  answer.usage = event.metadata?.usage ?? answer.usage;
  answer.reason = event.messageStop?.stopReason ?? answer.reason;
  const { contentBlockStart: start, contentBlockDelta: delta } = event;
  if (start?.start?.toolUse !== undefined) {
    const { toolUseId: id = '', name = '' } = start.start.toolUse;
    answer.blocks.set(start.contentBlockIndex ?? 0, { kind: 'call', id, name, args: {}, json: '' });
  }
  return delta?.delta === undefined ? [] : takeDelta(answer, delta.contentBlockIndex ?? 0, delta.delta);
};

/** Blocks of text and thoughts have no start of their own. */
const takeDelta = (
  answer: Answer,
  index: number,
  { text, toolUse, reasoningContent }: ContentBlockDelta,
): readonly ModelChunk[] => {
  if (text !== undefined) return takeText(answer, index, text);
  if (toolUse !== undefined) takeArgs(answer, index, toolUse.input);
  const redacted = reasoningContent?.redactedContent;
  if (redacted !== undefined) {
    const block = grown(answer.blocks, index, { kind: 'redacted', data: '' });
    block.data += Buffer.from(redacted).toString('latin1');
    return [];
  }
  return reasoningContent === undefined ? [] : takeThought(answer, index, reasoningContent);
};

const ownBlock = (block: OwnBlock): JsonObject =>
  block.kind === 'redacted'
    ? { redacted: Buffer.from(block.data, 'latin1').toString('base64') }
    : { text: block.text, signature: block.signature };

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

/** `inputTokens` excludes reads from and writes to the cache. */
const usageOf = (usage: BedrockUsage | undefined): TokenUsage => {
  const { cacheReadInputTokens: cached, cacheWriteInputTokens: cacheWrite } = usage ?? {};
  const input = [usage?.inputTokens, cached, cacheWrite];
  return tokenUsage({ input, output: [usage?.outputTokens], cached, cacheWrite });
};

export const readAnswer = readBlocks({ take, endOf, usageOf, ownBlock });
