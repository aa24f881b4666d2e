/**
 * Anthropic's SDK, opened with a key, or with the process's AWS credentials: Claude Platform on AWS takes
 * requests signed with SigV4 and no key (https://docs.aws.amazon.com/claude-platform/latest/userguide).
 */
import Anthropic from '@anthropic-ai/sdk';
import { AppError } from '#shared/errors.ts';
import { headerSafe } from './api-key.ts';
import { answerStartMsMax } from './model-backend.ts';

export type AnthropicSettings = { readonly baseUrl?: string | undefined } & (
  | { readonly auth: 'key'; readonly apiKey: string }
  | { readonly auth: 'iam'; readonly workspaceId: string | undefined }
);

const options = {
  maxRetries: 0,
  timeout: answerStartMsMax,
  // It would print parts of a conversation to the console.
  logLevel: 'off',
} as const;

export const openAnthropic = async (settings: AnthropicSettings): Promise<Anthropic> => {
  if (settings.auth === 'iam') return openSigned(settings.workspaceId, settings.baseUrl);
  return new Anthropic({
    ...options,
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
  return new AnthropicAws({ ...options, apiKey: null, workspaceId, baseURL: baseUrl });
};
