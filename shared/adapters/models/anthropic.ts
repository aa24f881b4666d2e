/**
 * Claude, through Anthropic's SDK: one streamed Messages request for each answer.
 *
 * The SDK is opened with a key, or with the process's AWS credentials: Claude Platform on AWS takes requests signed with SigV4 and no key
 * (https://docs.aws.amazon.com/claude-platform/latest/userguide).
 *
 * Lists the models that are not retired, by their lifecycle rather than their dates
 * (https://platform.claude.com/docs/en/about-claude/model-deprecations).
 */
import Anthropic from '@anthropic-ai/sdk';
import { AppError, isAppError } from '#shared/errors.ts';
import { readAnswer } from './anthropic-answer.ts';
import { errors, isNotFound, translateError } from './anthropic-errors.ts';
import { countRequest, messagesRequest } from './anthropic-messages.ts';
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
import { streamAnswer, type Wire } from './stream-answer.ts';
import type { ToolNameRule } from './tool-names.ts';

/** Tool names match `^[a-zA-Z0-9_-]{1,128}$` (https://platform.claude.com/docs/en/agents-and-tools/tool-use). */
const toolNameRule: ToolNameRule = { refused: /[^a-zA-Z0-9_-]/gu, charactersMax: 128 };

export type AnthropicSettings = { readonly baseUrl?: string | undefined } & (
  | { readonly auth: 'key'; readonly apiKey: string }
  | { readonly auth: 'iam'; readonly workspaceId: string | undefined }
);

export const makeAnthropicProvider = async (settings: AnthropicSettings): Promise<ModelBackend> => {
  const client = await openAnthropic(settings);
  const wire: Wire<Anthropic.RawMessageStreamEvent> = {
    ...{ provider: 'anthropic', toolNameRule, errors, read: readAnswer },
    // Not by `messages.create`, which prints a warning of its own to the console for a model near its end.
    send: ({ request, names, sending }, signal) =>
      client.post('/v1/messages', { body: messagesRequest(request, names, sending), stream: true, signal }),
  };
  return {
    stream: (request, signal, caller) => streamAnswer(wire, request, { signal, ...caller }),
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

const clientOptions = {
  maxRetries: 0,
  timeout: answerStartMsMax,
  // It would print parts of a conversation to the console.
  logLevel: 'off',
} as const;

const openAnthropic = async (settings: AnthropicSettings): Promise<Anthropic> => {
  if (settings.auth === 'iam') return openSigned(settings.workspaceId, settings.baseUrl);
  return new Anthropic({
    ...clientOptions,
    apiKey: headerSafe(settings.apiKey, 'ANTHROPIC_API_KEY'),
    // Explicit, since the SDK would otherwise read it from the environment.
    baseURL: settings.baseUrl ?? 'https://api.anthropic.com',
  });
};

/** The SDK reads the region and, without a base URL, the endpoint from AWS's own variables. */
const openSigned = async (workspaceId: string | undefined, baseUrl: string | undefined) => {
  if (!workspaceId)
    throw new AppError('provider_not_configured', 'ANTHROPIC_AWS_WORKSPACE_ID is required', {
      suggestions: ['Set ANTHROPIC_AWS_WORKSPACE_ID, or ANTHROPIC_AUTH to key.'],
    });
  const { AnthropicAws } = await import('@anthropic-ai/aws-sdk');
  return new AnthropicAws({ ...clientOptions, apiKey: null, workspaceId, baseURL: baseUrl });
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
