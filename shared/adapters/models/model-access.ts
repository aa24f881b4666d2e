/** The access to each provider, from the operator's settings; a key that is an ARN is read when it is needed. */
import { keyOf, type ModelVariables } from './operator-choice.ts';

export type ProviderAccess = {
  /** Throws `provider_not_configured` when there is none. */
  readonly key: () => Promise<string>;
  readonly baseUrl?: string | undefined;
};

export type AnthropicAccess = ProviderAccess & {
  readonly auth?: 'key' | 'iam' | undefined;
  /** Needed with `iam`. */
  readonly workspaceId?: string | undefined;
};

export type ModelAccess = {
  readonly anthropic: AnthropicAccess;
  readonly openai: ProviderAccess;
  readonly gemini: ProviderAccess;
};

export const modelAccess = (
  variables: ModelVariables,
  resolveSecret: (value: string) => Promise<string>,
): ModelAccess => ({
  anthropic: {
    key: async () => resolveSecret(keyOf(variables, 'anthropic')),
    baseUrl: variables.ANTHROPIC_BASE_URL,
    auth: variables.ANTHROPIC_AUTH,
    workspaceId: variables.ANTHROPIC_AWS_WORKSPACE_ID,
  },
  openai: {
    key: async () => resolveSecret(keyOf(variables, 'openai')),
    baseUrl: variables.OPENAI_BASE_URL,
  },
  gemini: {
    key: async () => resolveSecret(keyOf(variables, 'gemini')),
    baseUrl: variables.GOOGLE_GEMINI_BASE_URL,
  },
});
