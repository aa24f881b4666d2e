/**
 * Models of Amazon Bedrock, through the AWS SDK: one ConverseStream request for each answer, signed with the process's AWS
 * credentials. There is no key.
 *
 * The SDK's connection is bounded until an answer begins, and closed when its stream is left. Bedrock lists its models by
 * another service, which this one does not use: the default is listed, and no other is checked. Nor are tokens counted
 * beforehand, which takes no inference profile.
 */
import {
  BedrockRuntimeClient,
  ConverseStreamCommand,
  type ConverseStreamOutput,
} from '@aws-sdk/client-bedrock-runtime';
import { defaultModels, type ModelRequest } from '#shared/domain/model.ts';
import { AppError } from '#shared/errors.ts';
import { readAnswer } from './bedrock-answer.ts';
import {
  isPassing,
  isRefusedRequest,
  isRefusedState,
  isRefusedThinking,
  translateError,
} from './bedrock-errors.ts';
import { converseInput } from './bedrock-input.ts';
import { toolNamesOf } from './call-arguments.ts';
import { answerStartMsMax, type ModelBackend } from './model-backend.ts';
import { meanings, providerError } from './provider-errors.ts';
import { type Sending, streamAnswer } from './stream-answer.ts';
import type { ToolNameRule, ToolNames } from './tool-names.ts';

/** Tool names match `[a-zA-Z0-9_-]+`, up to 64 (ToolSpecification of the Bedrock API). */
const toolNameRule: ToolNameRule = { refused: /[^a-zA-Z0-9_-]/gu, charactersMax: 64 };

export type BedrockSettings = {
  /** Absent: that of the process. */
  readonly region?: string | undefined;
  readonly baseUrl?: string | undefined;
};

export const makeBedrockProvider = ({ region, baseUrl }: BedrockSettings): ModelBackend => {
  const client = new BedrockRuntimeClient({
    ...(region === undefined ? {} : { region }),
    ...(baseUrl === undefined ? {} : { endpoint: baseUrl }),
    maxAttempts: 1,
  });
  return {
    stream: (request, signal, caller) => {
      const names = toolNamesOf(request, toolNameRule);
      return streamAnswer<ConverseStreamOutput>(
        {
          provider: 'bedrock',
          send: (sending, heard) => send(client, { request, names, sending }, heard),
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
    listModels: async () => [{ id: defaultModels.bedrock, name: defaultModels.bedrock }],
    hasModel: async () => {
      throw new AppError('provider_unavailable', 'models of Bedrock are not listed here');
    },
  };
};

type Sent = { readonly request: ModelRequest; readonly names: ToolNames; readonly sending: Sending };

const send = async (
  client: BedrockRuntimeClient,
  { request, names, sending }: Sent,
  signal: AbortSignal,
): Promise<AsyncIterable<ConverseStreamOutput>> => {
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new DOMException('no answer began in time', 'TimeoutError')),
    answerStartMsMax,
  );
  try {
    const command = new ConverseStreamCommand(converseInput(request, names, sending));
    const { stream } = await client.send(command, { abortSignal: AbortSignal.any([signal, late.signal]) });
    if (stream === undefined) throw providerError(meanings.brokenOff);
    return stream;
  } finally {
    clearTimeout(timer);
  }
};
