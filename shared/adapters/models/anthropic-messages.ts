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
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { ModelRequest } from '#shared/domain/model.ts';
import { wellFormed } from './call-arguments.ts';
import { type Piece, replayOf } from './provider-state.ts';
import { isBlank, resultText, userText } from './spoken-text.ts';
import type { ToolNames } from './tool-names.ts';

type Block =
  | Anthropic.TextBlockParam
  | Anthropic.ToolUseBlockParam
  | Anthropic.ToolResultBlockParam
  | Anthropic.ThinkingBlockParam
  | Anthropic.RedactedThinkingBlockParam;
type Message = { readonly role: 'user' | 'assistant'; readonly content: readonly Block[] };

const cacheMark = { cache_control: { type: 'ephemeral' as const } };

export const messagesRequest = (
  request: ModelRequest,
  names: ToolNames,
  { withState }: { readonly withState: boolean } = { withState: true },
): Anthropic.MessageCreateParamsStreaming => ({
  ...input(request, names, withState),
  max_tokens: request.outputTokensMax,
  stream: true,
});

/** Without the provider state of earlier answers, since a refusal for it would leave no count. */
export const countRequest = (request: ModelRequest, names: ToolNames): Anthropic.MessageCountTokensParams =>
  input(request, names, false);

const input = (
  { model, system, tools, history }: ModelRequest,
  { toWire }: ToolNames,
  withState: boolean,
) => ({
  model,
  ...(isBlank(system)
    ? {}
    : { system: [{ type: 'text' as const, text: system.toWellFormed(), ...cacheMark }] }),
  ...(tools.length === 0
    ? {}
    : {
        tools: markLast(
          tools.map(({ name, description, inputSchema }) => ({
            name: toWire(name),
            description,
            // The API requires a schema of an object, which a ToolSpec promises only in its documentation.
            input_schema: { ...inputSchema, type: 'object' as const },
          })),
        ),
      }),
  messages: withMarkedEnds(
    joined(
      history,
      blocksWith(toWire, replayOf(history, withState ? { provider: 'anthropic', model } : undefined)),
    ),
  ),
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
  (toWire: ToolNames['toWire'], replay: ReturnType<typeof replayOf>): BlocksOf =>
  (message) => {
    switch (message.role) {
      case 'user':
        return [{ type: 'text', text: userText(message.text) }];
      case 'assistant':
        return replay(message).flatMap((piece) => blockOf(piece, toWire));
      case 'tool':
        return [resultBlock(message)];
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
const resultBlock = (result: Extract<HistoryMessage, { role: 'tool' }>): Anthropic.ToolResultBlockParam => ({
  type: 'tool_result',
  tool_use_id: result.callId,
  content: resultText(result),
  ...(result.outcome === 'completed' ? {} : { is_error: true }),
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
