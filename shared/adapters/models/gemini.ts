/**
 * Gemini, through Google's SDK: one streamed generateContent request for each answer.
 *
 * The SDK receives every setting that it would otherwise read from the environment.
 */
import { type GenerateContentResponse, GoogleGenAI } from '@google/genai';
import type { ListedModel, ModelRequest } from '#shared/domain/model.ts';
import { toolNamesOf } from './call-arguments.ts';
import { readAnswer } from './gemini-answer.ts';
import { configOf, contentsOf, thinkingConfig } from './gemini-contents.ts';
import { errors, isNotFound, translateError } from './gemini-errors.ts';
import {
  countMsMax,
  headerSafe,
  listedModelsMax,
  listMsMax,
  type ModelBackend,
  startingInTime,
  upTo,
} from './model-backend.ts';
import { noSuchModel, providerError } from './provider-errors.ts';
import { type Sent, streamAnswer, type Wire } from './stream-answer.ts';
import type { ToolNameRule } from './tool-names.ts';

/** A letter or `_` first, then letters, digits and `_` (https://ai.google.dev/gemini-api/docs/function-calling). */
const toolNameRule: ToolNameRule = { refused: /[^a-zA-Z0-9_]|^[0-9]/gu, charactersMax: 64 };

/** A model's id becomes part of a path as it is. */
const modelId = /^((models|tunedModels)\/)?[a-zA-Z0-9][a-zA-Z0-9._-]{0,127}$/;

export type GeminiSettings = { readonly apiKey: string; readonly baseUrl?: string | undefined };

export const makeGeminiProvider = ({ apiKey, baseUrl }: GeminiSettings): ModelBackend => {
  const { models } = new GoogleGenAI({
    apiKey: headerSafe(apiKey, 'GEMINI_API_KEY'),
    enterprise: false,
    apiVersion: 'v1beta',
    httpOptions: { baseUrl: baseUrl ?? 'https://generativelanguage.googleapis.com' },
  });
  const wire: Wire<GenerateContentResponse> = {
    ...{ provider: 'gemini', toolNameRule, errors, read: readAnswer },
    send: (sent, signal) => send(models, sent, signal),
  };
  return {
    stream: (request, signal, caller) => streamAnswer(wire, request, { signal, ...caller }),
    count: (request, signal) => countTokens(models, request, signal),
    listModels: () => listModels(models),
    hasModel: (id) => hasModel(models, id),
  };
};

type Models = GoogleGenAI['models'];

const send = async (
  models: Models,
  { request, names, sending }: Sent,
  signal: AbortSignal,
): Promise<AsyncIterable<GenerateContentResponse>> => {
  if (!modelId.test(request.model)) throw providerError(noSuchModel(request.model));
  return models.generateContentStream({
    model: request.model,
    contents: contentsOf(request, names, sending),
    config: {
      ...configOf(request, names),
      ...thinkingConfig(request, sending.thinking),
      abortSignal: signal,
      // One request for one answer: the SDK would otherwise continue by itself.
      automaticContinuation: false,
      automaticFunctionCalling: { disable: true },
      httpOptions: { fetch: fetchStarting },
    },
  });
};

/** Bounds the time to the first byte only: the SDK's own timeout would cut a long answer. */
const fetchStarting: typeof fetch = (input, init) =>
  startingInTime(init?.signal, (signal) => fetch(input, { ...init, signal }));

/** The SDK counts contents only; the whole request goes in the API's own field for it. */
const countTokens = async (models: Models, request: ModelRequest, signal: AbortSignal): Promise<number> => {
  const names = toolNamesOf(request, toolNameRule);
  const contents = contentsOf(request, names, { withState: false, withImages: true });
  const { systemInstruction, tools } = configOf(request, names);
  const model = request.model.startsWith('models/') ? request.model : `models/${request.model}`;
  try {
    if (!modelId.test(request.model)) throw providerError(noSuchModel(request.model));
    const { totalTokens = 0 } = await models.countTokens({
      model: request.model,
      contents,
      config: {
        abortSignal: signal,
        httpOptions: {
          timeout: countMsMax,
          extraBody: {
            contents: undefined,
            generateContentRequest: { model, contents, systemInstruction, tools },
          },
        },
      },
    });
    return totalTokens;
  } catch (error) {
    signal.throwIfAborted();
    throw translateError(error, request.model);
  }
};

const listModels = async (models: Models): Promise<readonly ListedModel[]> => {
  try {
    const pager = await models.list({ config: { pageSize: listedModelsMax, httpOptions: listing } });
    const listed = await upTo(pager, listedModelsMax);
    return listed
      .filter(answers)
      .map(({ name = '', displayName }) => ({ id: plainId(name), name: displayName || plainId(name) }));
  } catch (error) {
    throw translateError(error, 'list');
  }
};

const hasModel = async (models: Models, id: string): Promise<boolean> => {
  if (!modelId.test(id)) return false;
  try {
    return answers(await models.get({ model: id, config: { httpOptions: listing } }));
  } catch (error) {
    if (isNotFound(error)) return false;
    throw translateError(error, id);
  }
};

const listing = { timeout: listMsMax };

const answers = ({ supportedActions }: { supportedActions?: string[] }): boolean =>
  supportedActions?.includes('generateContent') ?? false;

const plainId = (name: string): string => name.replace(/^models\//, '');
