/**
 * A model request as Anthropic's messages: blocks, calls beside their results, cache marks.
 *
 * Cache marks stand on the last tool, the system text and the end of the history in this call and in the one
 * before: the longest prefixes that calls repeat. The older mark is needed because a search for a cached prefix
 * goes back 20 blocks only, and a queue of calls has more
 * (https://platform.claude.com/docs/en/build-with-claude/prompt-caching). Four marks are the most there may be. A
 * blank text block and a lone surrogate are answered with 400, for as long as the history holds them, so neither
 * is sent.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { HistoryImage, HistoryMessage } from '#shared/domain/history.ts';
import type { ModelRequest } from '#shared/domain/model.ts';
import { thinkingSettings } from './anthropic-thinking.ts';
import { wellFormed } from './call-arguments.ts';
import { isBlank, resultText, userText } from './history-text.ts';
import { type Piece, replayOf } from './provider-state.ts';
import { type ImagesOf, shownImages } from './request-images.ts';
import type { Sending } from './stream-answer.ts';
import type { ToolNames } from './tool-names.ts';
import { takenTool } from './tool-schemas.ts';

type Block =
  | Anthropic.TextBlockParam
  | Anthropic.ImageBlockParam
  | Anthropic.ToolUseBlockParam
  | Anthropic.ToolResultBlockParam
  | Anthropic.ThinkingBlockParam
  | Anthropic.RedactedThinkingBlockParam;
type Message = { readonly role: 'user' | 'assistant'; readonly content: readonly Block[] };

const cacheMark = { cache_control: { type: 'ephemeral' as const } };

export const messagesRequest = (
  request: ModelRequest,
  names: ToolNames,
  sending: Sending = { withState: true, withImages: true, thinking: 'shown' },
): Anthropic.MessageCreateParamsStreaming => {
  const replay = replayWith(request, sending.withState);
  return {
    ...input(request, names, { replay, withImages: sending.withImages }),
    ...thinkingSettings(request, { replay, shown: sending.thinking }),
    max_tokens: request.outputTokensMax,
    stream: true,
  };
};

const replayWith = ({ history, model }: ModelRequest, withState: boolean) =>
  replayOf(history, withState ? { provider: 'anthropic', model } : undefined);

/** Without the provider state of earlier answers, since a refusal for it would leave no count. */
export const countRequest = (request: ModelRequest, names: ToolNames): Anthropic.MessageCountTokensParams =>
  input(request, names, { replay: replayWith(request, false), withImages: true });

const input = (
  { model, system, tools, history }: ModelRequest,
  { toWire }: ToolNames,
  { replay, withImages }: { readonly replay: ReturnType<typeof replayOf>; readonly withImages: boolean },
) => ({
  model,
  ...(isBlank(system)
    ? {}
    : { system: [{ type: 'text' as const, text: system.toWellFormed(), ...cacheMark }] }),
  ...(tools.length === 0
    ? {}
    : {
        tools: markLast(
          tools.map(takenTool).map(({ name, description, inputSchema }) => ({
            name: toWire(name),
            description,
            input_schema: inputSchema,
          })),
        ),
      }),
  messages: withMarkedEnds(joined(history, blocksWith(toWire, replay, shownImages(history, withImages)))),
});

type BlocksOf = (message: HistoryMessage) => Block[];

/** Neighbours of one role become one message: tool results have the role of the user here. */
const joined = (history: readonly HistoryMessage[], blocksOf: BlocksOf): readonly Message[] => {
  const messages: { role: 'user' | 'assistant'; content: Block[] }[] = [];
  for (const message of history) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = blocksOf(message);
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) messages.push({ role, content });
  }
  return messages;
};

const blocksWith =
  (toWire: ToolNames['toWire'], replay: ReturnType<typeof replayOf>, imagesOf: ImagesOf): BlocksOf =>
  (message) => {
    switch (message.role) {
      case 'user':
        return [{ type: 'text', text: userText(message.text) }, ...imagesOf(message).map(imageBlock)];
      case 'assistant':
        return replay(message).flatMap((piece) => blockOf(piece, toWire));
      case 'tool':
        return [resultBlock(message, imagesOf(message))];
    }
  };

const blockOf = (piece: Piece, toWire: ToolNames['toWire']): Block[] => {
  switch (piece.kind) {
    case 'own':
      return [piece.block as unknown as Anthropic.ThinkingBlockParam];
    case 'text':
      return isBlank(piece.text) ? [] : [{ type: 'text', text: piece.text.toWellFormed() }];
    case 'call': {
      const { callId, name, args } = piece.call;
      return [{ type: 'tool_use', id: callId, name: toWire(name), input: wellFormed(args) }];
    }
  }
};

/** `is_error` is for both: a rejected call did not run. The text gives the reason. */
const resultBlock = (
  result: Extract<HistoryMessage, { role: 'tool' }>,
  images: readonly HistoryImage[],
): Anthropic.ToolResultBlockParam => ({
  type: 'tool_result',
  tool_use_id: result.callId,
  content:
    images.length === 0
      ? resultText(result)
      : [{ type: 'text', text: resultText(result) }, ...images.map(imageBlock)],
  ...(result.outcome === 'completed' ? {} : { is_error: true }),
});

const imageBlock = ({ mimeType, data }: HistoryImage): Anthropic.ImageBlockParam => ({
  type: 'image',
  source: { type: 'base64', media_type: mimeType, data },
});

const withMarkedEnds = (messages: readonly Message[]): Anthropic.MessageParam[] => {
  const ends = messages
    .flatMap(({ role }, index) => (role === 'user' || index === messages.length - 1 ? [index] : []))
    .slice(-2);
  return messages.map(({ role, content }, index) => ({
    role,
    content: ends.includes(index) ? markLast(content) : [...content],
  }));
};

const markLast = <T extends object>(items: readonly T[]): T[] =>
  items.map((item, index) => (index === items.length - 1 ? { ...item, ...cacheMark } : item));
