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
import { defaultModels } from '#shared/domain/model.ts';
import { AppError } from '#shared/errors.ts';
import { readAnswer } from './bedrock-answer.ts';
import { errors } from './bedrock-errors.ts';
import { converseInput } from './bedrock-input.ts';
import { type ModelBackend, startingInTime } from './model-backend.ts';
import { meanings, providerError } from './provider-errors.ts';
import { streamAnswer, type Wire } from './stream-answer.ts';
import type { ToolNameRule } from './tool-names.ts';

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
  const wire: Wire<ConverseStreamOutput> = {
    ...{ provider: 'bedrock', toolNameRule, errors, read: readAnswer },
    send: ({ request, names, sending }, signal) => {
      const command = new ConverseStreamCommand(converseInput(request, names, sending));
      return startingInTime(signal, async (abortSignal) => {
        const { stream } = await client.send(command, { abortSignal });
        if (stream === undefined) throw providerError(meanings.brokenOff);
        return stream;
      });
    },
  };
  return {
    stream: (request, signal, caller) => streamAnswer(wire, request, { signal, ...caller }),
    listModels: async () => [{ id: defaultModels.bedrock, name: defaultModels.bedrock }],
    hasModel: async () => {
      throw new AppError('provider_unavailable', 'models of Bedrock are not listed here');
    },
  };
};
