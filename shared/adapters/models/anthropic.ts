/**
 * Claude, through Anthropic's SDK: one streamed Messages request for each answer.
 *
 * Lists the models that are not retired, by their lifecycle rather than their dates
 * (https://platform.claude.com/docs/en/about-claude/model-deprecations).
 */
import type Anthropic from '@anthropic-ai/sdk';
import { isAppError } from '#shared/errors.ts';
import { readAnswer } from './anthropic-answer.ts';
import { type AnthropicSettings, openAnthropic } from './anthropic-client.ts';
import {
  isNotFound,
  isPassing,
  isRefusedRequest,
  isRefusedState,
  isRefusedThinking,
  translateError,
} from './anthropic-errors.ts';
import { countRequest, messagesRequest } from './anthropic-messages.ts';
import { toolNamesOf } from './call-arguments.ts';
import { countMsMax, listedModelsMax, listMsMax, type ModelBackend, upTo } from './model-backend.ts';
import { streamAnswer } from './stream-answer.ts';
import type { ToolNameRule } from './tool-names.ts';

/** Tool names match `^[a-zA-Z0-9_-]{1,128}$` (https://platform.claude.com/docs/en/agents-and-tools/tool-use). */
const toolNameRule: ToolNameRule = { refused: /[^a-zA-Z0-9_-]/gu, charactersMax: 128 };

export const makeAnthropicProvider = async (settings: AnthropicSettings): Promise<ModelBackend> => {
  const client = await openAnthropic(settings);
  return {
    stream: (request, signal, caller) => {
      const names = toolNamesOf(request, toolNameRule);
      return streamAnswer<Anthropic.RawMessageStreamEvent>(
        {
          provider: 'anthropic',
          send: (sending, heard) =>
            client.messages.create(messagesRequest(request, names, sending), { signal: heard }),
          read: (modelRef) => readAnswer({ names, modelRef }),
          isPassing,
          isRefusedThinking,
          isRefusedState,
          isRefusedRequest,
          translate: (error) => translateError(error, request.model),
        },
        request,
        { signal, ...caller },
      );
    },
    count: async (request, signal) => {
      const body = countRequest(request, toolNamesOf(request, toolNameRule));
      try {
        return (await client.messages.countTokens(body, { signal, timeout: countMsMax })).input_tokens;
      } catch (error) {
        signal.throwIfAborted();
        throw translateError(error, request.model);
      }
    },
    listModels: () => listModels(client),
    hasModel: (id) => hasModel(client, id),
  };
};

const listModels = async (client: Anthropic) => {
  try {
    const page = client.models.list({ limit: listedModelsMax }, { timeout: listMsMax });
    const models = await upTo(page, listedModelsMax);
    return models.filter(isServed).map(({ id, display_name }) => ({ id, name: display_name || id }));
  } catch (error) {
    throw isAppError(error) ? error : translateError(error, 'list');
  }
};

const hasModel = async (client: Anthropic, id: string): Promise<boolean> => {
  try {
    return isServed(await client.models.retrieve(id, undefined, { timeout: listMsMax }));
  } catch (error) {
    if (isNotFound(error)) return false;
    throw translateError(error, id);
  }
};

const isServed = ({ lifecycle }: Anthropic.ModelInfo): boolean => lifecycle !== 'retired';
