/**
 * A model request in Anthropic's words: messages of blocks, calls beside their results, cache marks.
 *
 * Cache marks stand on the last tool, the system text and the newest block of the history: the longest
 * prefixes the next call repeats (https://platform.claude.com/docs/en/build-with-claude/prompt-caching).
 * A blank text block and a lone surrogate are answered with 400, for as long as the history holds them,
 * so neither is sent.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { Json, JsonObject } from '#shared/domain/json.ts';
import type { ModelRequest } from '#shared/domain/model.ts';
import type { ToolNames } from './tool-names.ts';

type Block = Anthropic.TextBlockParam | Anthropic.ToolUseBlockParam | Anthropic.ToolResultBlockParam;
type Message = { readonly role: 'user' | 'assistant'; readonly content: readonly Block[] };

const cacheMark = { cache_control: { type: 'ephemeral' as const } };

export const messagesRequest = (
  { model, system, tools, history, outputTokensMax }: ModelRequest,
  { toWire }: ToolNames,
): Anthropic.MessageCreateParamsStreaming => ({
  model,
  max_tokens: outputTokensMax,
  ...(isBlank(system) ? {} : { system: [{ type: 'text', text: system.toWellFormed(), ...cacheMark }] }),
  ...(tools.length === 0
    ? {}
    : {
        tools: markLast(
          tools.map(({ name, description, inputSchema }) => ({
            name: toWire(name),
            description,
            // The API wants what a ToolSpec promises only by its words: a schema of an object.
            input_schema: { ...inputSchema, type: 'object' as const },
          })),
        ),
      }),
  messages: withMarkedEnd(joined(history, toWire)),
  stream: true,
});

/** Neighbours of one role become one message: tool results are the user's words here. */
const joined = (history: readonly HistoryMessage[], toWire: ToolNames['toWire']): readonly Message[] => {
  const messages: { role: 'user' | 'assistant'; content: Block[] }[] = [];
  for (const message of history) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = blocksOf(message, toWire);
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) messages.push({ role, content });
  }
  return messages;
};

const blocksOf = (message: HistoryMessage, toWire: ToolNames['toWire']): Block[] => {
  switch (message.role) {
    case 'user':
      return [textBlock(isBlank(message.text) ? '(a blank message)' : message.text)];
    case 'assistant':
      return [
        ...(isBlank(message.text) ? [] : [textBlock(message.text)]),
        ...message.calls.map(({ callId, name, args }) => ({
          type: 'tool_use' as const,
          id: callId,
          name: toWire(name),
          input: wellFormed(args),
        })),
      ];
    case 'tool':
      return [resultBlock(message)];
  }
};

const textBlock = (text: string): Anthropic.TextBlockParam => ({ type: 'text', text: text.toWellFormed() });

/** `is_error` is for both: a rejected call did not run. What happened is in the text. */
const resultBlock = ({
  callId,
  text,
  outcome,
}: Extract<HistoryMessage, { role: 'tool' }>): Anthropic.ToolResultBlockParam => ({
  type: 'tool_result',
  tool_use_id: callId,
  content: isBlank(text) ? blankResults[outcome] : text.toWellFormed(),
  ...(outcome === 'completed' ? {} : { is_error: true }),
});

const blankResults = {
  completed: '(no output)',
  failed: 'The call failed.',
  rejected: 'The user rejected this call. It did not run.',
} as const;

const isBlank = (text: string): boolean => text.trim() === '';

const wellFormed = (args: JsonObject): Json =>
  JSON.parse(JSON.stringify(args), (_key, value) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  );

const withMarkedEnd = (messages: readonly Message[]): Anthropic.MessageParam[] =>
  messages.map(({ role, content }, index) => ({
    role,
    content: index === messages.length - 1 ? markLast(content) : [...content],
  }));

const markLast = <T extends object>(items: readonly T[]): T[] =>
  items.map((item, index) => (index === items.length - 1 ? { ...item, ...cacheMark } : item));
