/**
 * A model request as chat messages: calls in the message of the assistant, a message for each result.
 *
 * A result takes no images, so they follow all results of a queue, in a message of the user. While the exchange goes on,
 * thoughts are sent back under the name with which they came: some servers refuse the request otherwise.
 */
import type OpenAI from 'openai';
import type { HistoryImage, HistoryMessage } from '#shared/domain/history.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { ModelRequest } from '#shared/domain/model.ts';
import { wellFormed } from './call-arguments.ts';
import { isBlank, resultText, userText } from './history-text.ts';
import { effortOf, withReasoning } from './openai-input.ts';
import { type Piece, replayOf } from './provider-state.ts';
import { shownImages } from './request-images.ts';
import type { Sending } from './stream-answer.ts';
import type { ToolNames } from './tool-names.ts';
import { takenTool } from './tool-schemas.ts';

type Message = OpenAI.Chat.ChatCompletionMessageParam;

export const chatRequest = (
  { model, system, tools, history, outputTokensMax, thinking }: ModelRequest,
  { toWire }: ToolNames,
  sending: Sending,
): OpenAI.Chat.ChatCompletionCreateParamsStreaming => ({
  model,
  messages: [
    ...(isBlank(system) ? [] : [{ role: 'system' as const, content: system.toWellFormed() }]),
    ...chatMessages(history, { model, toWire, sending }),
  ],
  ...(tools.length === 0
    ? {}
    : {
        tools: tools.map(takenTool).map(({ name, description, inputSchema }) => ({
          type: 'function' as const,
          function: { name: toWire(name), description, parameters: inputSchema },
        })),
      }),
  // The newer name is known to few of these servers, the older one is refused by OpenAI's own newer models.
  ...(withReasoning.test(model)
    ? { max_completion_tokens: outputTokensMax }
    : { max_tokens: outputTokensMax }),
  ...(thinking === undefined || sending.thinking === 'unset'
    ? {}
    : { reasoning_effort: effortOf(model, thinking) }),
  stream: true,
  stream_options: { include_usage: true },
});

const chatMessages = (
  history: readonly HistoryMessage[],
  {
    model,
    toWire,
    sending,
  }: { readonly model: string; readonly sending: Sending } & Pick<ToolNames, 'toWire'>,
): Message[] => {
  const replay = replayOf(history, sending.withState ? { provider: 'openai', model } : undefined);
  const imagesOf = shownImages(history, sending.withImages);
  let images: HistoryImage[] = [];
  const messageAt = (message: HistoryMessage, index: number): Message[] => {
    switch (message.role) {
      case 'user':
        return [{ role: 'user', content: questionOf(userText(message.text), imagesOf(message)) }];
      case 'assistant':
        return [assistantMessage(replay(message), toWire)];
      case 'tool': {
        images.push(...imagesOf(message));
        const result: Message = { role: 'tool', tool_call_id: message.callId, content: resultText(message) };
        if (images.length === 0 || history[index + 1]?.role === 'tool') return [result];
        const shown = imagesMessage(images);
        images = [];
        return [result, shown];
      }
    }
  };
  return history.flatMap(messageAt);
};

/** Without text and calls, a blank text: an empty message is refused. */
const assistantMessage = (pieces: readonly Piece[], toWire: ToolNames['toWire']): Message => {
  const text = pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
  const calls = pieces.flatMap((piece) => (piece.kind === 'call' ? [piece.call] : []));
  const own = pieces.flatMap((piece) => (piece.kind === 'own' ? [piece.block] : []));
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text.toWellFormed(),
    ...thoughtsIn(own),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ callId, name, args }) => ({
            id: callId,
            type: 'function' as const,
            function: { name: toWire(name), arguments: JSON.stringify(wellFormed(args)) },
          })),
        }),
  };
};

/** The fields in which servers of this wire give thoughts. */
export const thoughtFields = ['reasoning_content', 'reasoning'] as const;

/** Of another wire's state there is nothing to send. */
const thoughtsIn = (blocks: readonly JsonObject[]): JsonObject =>
  Object.fromEntries(
    thoughtFields.flatMap((field) => {
      const texts = blocks.map((block) => block[field]).filter((text) => typeof text === 'string');
      return texts.length === 0 ? [] : [[field, texts.join('')]];
    }),
  );

const imagesMessage = (images: readonly HistoryImage[]): Message => ({
  role: 'user',
  content: questionOf('The images of the results above:', images),
});

/** A plain text where there is no image: some servers take nothing else. */
const questionOf = (text: string, images: readonly HistoryImage[]) =>
  images.length === 0
    ? text
    : [
        { type: 'text' as const, text },
        ...images.map(({ mimeType, data }) => ({
          type: 'image_url' as const,
          image_url: { url: `data:${mimeType};base64,${data}` },
        })),
      ];
