/**
 * GPT, through OpenAI's SDK: one streamed Responses request for each answer. If the operator says that the server speaks chat
 * completions, it is one of those: Ollama, vLLM, llama.cpp and gateways, which count no tokens of a request and often need no
 * key.
 *
 * Lists the models that answer in text and are not shut down. OpenAI's list does not state a model's purpose, so the kinds
 * without conversations are excluded by name.
 */
import OpenAI from 'openai';
import type { ListedModel } from '#shared/domain/model.ts';
import { toolNamesOf } from './call-arguments.ts';
import {
  answerStartMsMax,
  countMsMax,
  headerSafe,
  listedModelsMax,
  listMsMax,
  type ModelBackend,
  upTo,
} from './model-backend.ts';
import { readAnswer } from './openai-answer.ts';
import { readChatAnswer } from './openai-chat-answer.ts';
import { chatRequest } from './openai-chat-input.ts';
import { errors, isNotFound, translateError } from './openai-errors.ts';
import { countRequest, responseRequest } from './openai-input.ts';
import type { OpenAiApi } from './provider-access.ts';
import { streamAnswer, type Wire } from './stream-answer.ts';
import type { ToolNameRule } from './tool-names.ts';

/** Names match `^[a-zA-Z0-9_-]{1,64}$` (https://developers.openai.com/api/docs/guides/function-calling). */
const toolNameRule: ToolNameRule = { refused: /[^a-zA-Z0-9_-]/gu, charactersMax: 64 };

const noConversation =
  /embedding|whisper|tts|dall-e|image|sora|moderation|audio|realtime|transcribe|davinci|babbage/;

export type OpenAiSettings = {
  readonly apiKey: string;
  readonly baseUrl?: string | undefined;
  /** Absent: `responses`. */
  readonly api?: OpenAiApi | undefined;
};

export const makeOpenAiProvider = ({ apiKey, baseUrl, api }: OpenAiSettings): ModelBackend => {
  const client = new OpenAI({
    apiKey: headerSafe(apiKey, 'OPENAI_API_KEY'),
    // Explicit, since the SDK would otherwise read it from the environment.
    baseURL: baseUrl ?? 'https://api.openai.com/v1',
    maxRetries: 0,
    timeout: answerStartMsMax,
    // It would print parts of a conversation to the console.
    logLevel: 'off',
  });
  const models = { listModels: () => listModels(client), hasModel: (id: string) => hasModel(client, id) };
  if (api === 'chat') return { stream: streamBy(chatWire(client)), ...models };
  return {
    stream: streamBy(responsesWire(client)),
    count: async (request, signal) => {
      const body = countRequest(request, toolNamesOf(request, toolNameRule));
      const options = { signal, timeout: countMsMax };
      try {
        return (await client.responses.inputTokens.count(body, options)).input_tokens;
      } catch (error) {
        signal.throwIfAborted();
        throw translateError(error, request.model);
      }
    },
    ...models,
  };
};

const responsesWire = (client: OpenAI): Wire<OpenAI.Responses.ResponseStreamEvent> => ({
  ...{ provider: 'openai', toolNameRule, errors, read: readAnswer },
  send: ({ request, names, sending }, signal) =>
    client.responses.create(responseRequest(request, names, sending), { signal }),
});

const chatWire = (client: OpenAI): Wire<OpenAI.Chat.ChatCompletionChunk> => ({
  ...{ provider: 'openai', toolNameRule, errors, read: readChatAnswer },
  send: ({ request, names, sending }, signal) =>
    client.chat.completions.create(chatRequest(request, names, sending), { signal }),
});

const streamBy =
  <E>(wire: Wire<E>): ModelBackend['stream'] =>
  (request, signal, caller) =>
    streamAnswer(wire, request, { signal, ...caller });

const listModels = async (client: OpenAI): Promise<readonly ListedModel[]> => {
  try {
    const models = await upTo(client.models.list({ timeout: listMsMax }), listedModelsMax);
    return models
      .filter((model) => isServed(model) && !noConversation.test(model.id))
      .map(({ id }) => ({ id, name: id }));
  } catch (error) {
    throw translateError(error, 'list');
  }
};

const hasModel = async (client: OpenAI, id: string): Promise<boolean> => {
  try {
    return isServed(await client.models.retrieve(id, { timeout: listMsMax }));
  } catch (error) {
    if (isNotFound(error)) return false;
    throw translateError(error, id);
  }
};

const isServed = ({ shutdown_date: date }: OpenAI.Model): boolean => !date || Date.parse(date) > Date.now();
