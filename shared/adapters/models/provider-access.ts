/** The access to each provider, from the operator's settings; a key that is an ARN is read when it is needed. */
import type { BedrockSettings } from './bedrock.ts';
import { keyOf, type ModelVariables, needsNoKey, usesBedrock } from './configured-providers.ts';

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

/** The wire that a server speaks: OpenAI's own, or the older one that most others speak. */
export type OpenAiApi = 'responses' | 'chat';

export type OpenAiAccess = ProviderAccess & { readonly api?: OpenAiApi | undefined };

export type ModelAccess = {
  readonly anthropic: AnthropicAccess;
  readonly openai: OpenAiAccess;
  readonly gemini: ProviderAccess;
  /** Absent: Bedrock is not the operator's choice. */
  readonly bedrock?: BedrockSettings | undefined;
};

/** The SDK sends some key; a server that needs none ignores it. */
const noKey = 'none';

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
    key: async () => (needsNoKey(variables, 'openai') ? noKey : resolveSecret(keyOf(variables, 'openai'))),
    baseUrl: variables.OPENAI_BASE_URL,
    api: variables.OPENAI_API,
  },
  gemini: {
    key: async () => resolveSecret(keyOf(variables, 'gemini')),
    baseUrl: variables.GOOGLE_GEMINI_BASE_URL,
  },
  bedrock: usesBedrock(variables)
    ? { region: variables.BEDROCK_REGION, baseUrl: variables.BEDROCK_BASE_URL }
    : undefined,
});
