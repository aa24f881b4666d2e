/**
 * A model request as OpenAI's input: a flat list of items, calls and their results among them.
 *
 * Nothing is stored at OpenAI (`store: false`): the conversation stays here, and reasoning comes back encrypted
 * (https://developers.openai.com/api/docs/guides/reasoning). Long prefixes are cached automatically.
 */
import type OpenAI from 'openai';
import type { HistoryImage, HistoryMessage } from '#shared/domain/history.ts';
import type { ModelRequest, ThinkingLevel } from '#shared/domain/model.ts';
import { wellFormed } from './call-arguments.ts';
import { isBlank, resultText, userText } from './history-text.ts';
import { type Piece, replayOf } from './provider-state.ts';
import { type ImagesOf, shownImages } from './request-images.ts';
import type { Sending, ShownThinking } from './stream-answer.ts';
import type { ToolNames } from './tool-names.ts';
import { takenTool } from './tool-schemas.ts';

type Item = OpenAI.Responses.ResponseInputItem;
type Result = Extract<HistoryMessage, { role: 'tool' }>;

export const responseRequest = (
  request: ModelRequest,
  names: ToolNames,
  sending: Sending,
): OpenAI.Responses.ResponseCreateParamsStreaming => ({
  ...input(request, names, sending),
  ...reasoningSettings(request, sending.thinking),
  max_output_tokens: request.outputTokensMax,
  store: false,
  stream: true,
});

/** Without the provider state of earlier answers, since a refusal for it would leave no count. */
export const countRequest = (
  request: ModelRequest,
  names: ToolNames,
): OpenAI.Responses.InputTokenCountParams =>
  input(request, names, { withState: false, withImages: true, thinking: 'unset' });

/** The models that answer at once; a level would be refused. */
const withoutReasoning = /^(chatgpt-4|gpt-[34])/;
/** The models that give their reasoning encrypted; others refuse the wish. */
export const withReasoning = /^(o\d|codex|gpt-([5-9]|\d\d))/;

/** OpenAI's models that can be told not to reason (https://developers.openai.com/api/docs/models); the others refuse it. */
const withNone = /^gpt-(5\.[1-9]|6)(-|$)/;

const efforts = { off: 'none', low: 'low', medium: 'medium', high: 'high' } as const;

/** A model that cannot do without reasoning does the least: told nothing, it would do more. */
export const effortOf = (model: string, level: ThinkingLevel) =>
  level === 'off' && withReasoning.test(model) && !withNone.test(model) ? 'low' : efforts[level];

/** `auto`: the longest summary that the model gives. */
const reasoningSettings = (
  { model, thinking }: ModelRequest,
  shown: ShownThinking,
): Pick<OpenAI.Responses.ResponseCreateParamsStreaming, 'reasoning' | 'include'> => ({
  ...(thinking === undefined || shown === 'unset' || withoutReasoning.test(model)
    ? {}
    : {
        reasoning: {
          effort: effortOf(model, thinking),
          ...(shown === 'shown' ? { summary: 'auto' as const } : {}),
        },
      }),
  ...(withReasoning.test(model) ? { include: ['reasoning.encrypted_content' as const] } : {}),
});

const input = (
  { model, system, tools, history }: ModelRequest,
  { toWire }: ToolNames,
  { withState, withImages }: Sending,
) => ({
  model,
  ...(isBlank(system) ? {} : { instructions: system.toWellFormed() }),
  ...(tools.length === 0
    ? {}
    : {
        tools: tools.map(takenTool).map(({ name, description, inputSchema }) => ({
          type: 'function' as const,
          name: toWire(name),
          description,
          parameters: inputSchema,
          // Strict schemas must require every property; those of MCP servers do not.
          strict: false,
        })),
      }),
  input: history.flatMap(
    itemsWith(
      toWire,
      replayOf(history, withState ? { provider: 'openai', model } : undefined),
      shownImages(history, withImages),
    ),
  ),
});

const itemsWith =
  (toWire: ToolNames['toWire'], replay: ReturnType<typeof replayOf>, imagesOf: ImagesOf) =>
  (message: HistoryMessage): Item[] => {
    switch (message.role) {
      case 'user':
        return [{ role: 'user', content: questionOf(userText(message.text), imagesOf(message)) }];
      case 'assistant':
        return followed(replay(message).flatMap((piece) => itemOf(piece, toWire)));
      case 'tool':
        return [
          {
            type: 'function_call_output',
            call_id: message.callId,
            output: outputOf(message, imagesOf(message)),
          },
        ];
    }
  };

const outputOf = (result: Result, images: readonly HistoryImage[]) =>
  images.length === 0
    ? resultText(result)
    : [{ type: 'input_text' as const, text: resultText(result) }, ...images.map(imagePart)];

const questionOf = (text: string, images: readonly HistoryImage[]) =>
  images.length === 0
    ? text
    : [
        { type: 'input_text' as const, text },
        ...images.map((image) => ({ ...imagePart(image), detail: 'auto' as const })),
      ];

const imagePart = ({ mimeType, data }: HistoryImage) => ({
  type: 'input_image' as const,
  image_url: `data:${mimeType};base64,${data}`,
});

const itemOf = (piece: Piece, toWire: ToolNames['toWire']): Item[] => {
  switch (piece.kind) {
    case 'own':
      return [piece.block as unknown as OpenAI.Responses.ResponseReasoningItem];
    case 'text':
      return isBlank(piece.text)
        ? []
        : [{ role: 'assistant', content: piece.text.toWellFormed(), ...piece.mark }];
    case 'call': {
      const { callId, name, args } = piece.call;
      return [
        {
          type: 'function_call',
          call_id: callId,
          name: toWire(name),
          arguments: JSON.stringify(wellFormed(args)),
        },
      ];
    }
  }
};

/** Reasoning without the item that it led to is refused. */
const followed = (items: readonly Item[]): Item[] =>
  items.slice(0, items.findLastIndex((item) => item.type !== 'reasoning') + 1);
