/**
 * A model request as Bedrock's Converse input: content blocks, calls beside their results, cache points.
 *
 * A history with calls is refused without the tools that they name. Cache points and settings of thinking differ by the
 * maker of a model and are sent to those alone that are known to take them. A blank text block is refused, so none is sent.
 */
import type {
  ContentBlock,
  ConverseStreamCommandInput,
  ImageFormat,
  Message,
  ReasoningContentBlock,
  Tool,
  ToolInputSchema,
} from '@aws-sdk/client-bedrock-runtime';
import type { HistoryImage, HistoryMessage } from '#shared/domain/history.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { ModelRequest } from '#shared/domain/model.ts';
import { thinkingSettings } from './anthropic-thinking.ts';
import { wellFormed } from './call-arguments.ts';
import { isBlank, resultText, userText } from './history-text.ts';
import { type Piece, replayOf } from './provider-state.ts';
import { type ImagesOf, shownImages } from './request-images.ts';
import type { Sending } from './stream-answer.ts';
import type { ToolNames } from './tool-names.ts';
import { takenTool } from './tool-schemas.ts';

type Replay = ReturnType<typeof replayOf>;
type Document = NonNullable<ConverseStreamCommandInput['additionalModelRequestFields']>;

const isClaude = (model: string): boolean => model.includes('anthropic.claude');
const cachePoint = { cachePoint: { type: 'default' as const } };

export const converseInput = (
  request: ModelRequest,
  names: ToolNames,
  sending: Sending,
): ConverseStreamCommandInput => {
  const { model, history, outputTokensMax } = request;
  const replay = replayOf(history, sending.withState ? { provider: 'bedrock', model } : undefined);
  const fields = modelFields(request, { replay, sending });
  return {
    modelId: model,
    ...content(request, names, { replay, withImages: sending.withImages }),
    inferenceConfig: { maxTokens: outputTokensMax },
    ...(Object.keys(fields).length === 0 ? {} : { additionalModelRequestFields: fields as Document }),
  };
};

const modelFields = (
  request: ModelRequest,
  { replay, sending }: { readonly replay: Replay; readonly sending: Sending },
): object => {
  const { model, thinking } = request;
  if (isClaude(model)) return thinkingSettings(request, { replay, shown: sending.thinking });
  if (thinking === undefined || thinking === 'off' || sending.thinking === 'unset') return {};
  return model.includes('openai.gpt') ? { reasoning_effort: thinking } : {};
};

const content = (
  { model, system, tools, history }: ModelRequest,
  { toWire }: ToolNames,
  { replay, withImages }: { readonly replay: Replay; readonly withImages: boolean },
) => {
  const marks = isClaude(model) ? [cachePoint] : [];
  const specs = (tools.length > 0 ? tools : calledTools(history)).map(takenTool);
  return {
    messages: withMarkedEnds(
      joined(history, blocksWith(toWire, replay, shownImages(history, withImages))),
      marks,
    ),
    ...(isBlank(system) ? {} : { system: [{ text: system.toWellFormed() }, ...marks] }),
    ...(specs.length === 0
      ? {}
      : {
          toolConfig: {
            tools: [
              ...specs.map(({ name, description, inputSchema }): Tool => {
                const json = inputSchema as ToolInputSchema.JsonMember['json'];
                return {
                  toolSpec: { name: toWire(name), description: description || name, inputSchema: { json } },
                };
              }),
              ...marks,
            ],
          },
        }),
  };
};

const calledTools = (history: readonly HistoryMessage[]): ModelRequest['tools'] =>
  [
    ...new Set(
      history
        .flatMap((message) => (message.role === 'assistant' ? message.calls : []))
        .map((call) => call.name),
    ),
  ].map((name) => ({ name, description: 'No longer offered.', inputSchema: { type: 'object' } }));

type BlocksOf = (message: HistoryMessage) => ContentBlock[];

/** Neighbours of one role become one message: tool results have the role of the user here. */
const joined = (history: readonly HistoryMessage[], blocksOf: BlocksOf): readonly Message[] => {
  const messages: { role: 'user' | 'assistant'; content: ContentBlock[] }[] = [];
  for (const message of history) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const blocks = blocksOf(message);
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else if (blocks.length > 0) messages.push({ role, content: blocks });
  }
  return messages;
};

/** At the end of this request and of the one before. */
const withMarkedEnds = (messages: readonly Message[], marks: readonly ContentBlock[]): Message[] => {
  const ends = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : [])).slice(-2);
  return messages.map(({ role, content: blocks }, index) => ({
    role,
    content: ends.includes(index) ? [...(blocks ?? []), ...marks] : blocks,
  }));
};

const blocksWith =
  (toWire: ToolNames['toWire'], replay: Replay, imagesOf: ImagesOf): BlocksOf =>
  (message) => {
    switch (message.role) {
      case 'user':
        return [{ text: userText(message.text) }, ...imagesOf(message).map(imageBlock)];
      case 'assistant':
        return replay(message).flatMap((piece) => blockOf(piece, toWire));
      case 'tool':
        return [resultBlock(message, imagesOf(message))];
    }
  };

const blockOf = (piece: Piece, toWire: ToolNames['toWire']): ContentBlock[] => {
  switch (piece.kind) {
    case 'own':
      return [{ reasoningContent: reasoningOf(piece.block) }];
    case 'text':
      return isBlank(piece.text) ? [] : [{ text: piece.text.toWellFormed() }];
    case 'call': {
      const { callId, name, args } = piece.call;
      return [{ toolUse: { toolUseId: callId, name: toWire(name), input: wellFormed(args) as Document } }];
    }
  }
};

/** Redacted thoughts are bytes, which the history holds as base64. */
const reasoningOf = ({ redacted, text, signature }: JsonObject): ReasoningContentBlock =>
  typeof redacted === 'string'
    ? { redactedContent: Buffer.from(redacted, 'base64') }
    : { reasoningText: { text: String(text), signature: String(signature) } };

const resultBlock = (
  result: Extract<HistoryMessage, { role: 'tool' }>,
  images: readonly HistoryImage[],
): ContentBlock => ({
  toolResult: {
    toolUseId: result.callId,
    content: [{ text: resultText(result) }, ...images.map(imageBlock)],
    status: result.outcome === 'completed' ? 'success' : 'error',
  },
});

const imageBlock = ({ mimeType, data }: HistoryImage): ContentBlock.ImageMember => ({
  image: {
    format: mimeType.slice('image/'.length) as ImageFormat,
    source: { bytes: Buffer.from(data, 'base64') },
  },
});
