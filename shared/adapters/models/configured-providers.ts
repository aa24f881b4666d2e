/**
 * The provider that the operator's settings choose, and its key as they name it. Pure; loads no SDK.
 *
 * An unusable provider is refused here, before a session starts a turn it cannot finish.
 */
import { decodeProvider, type ProviderName } from '#shared/domain/model.ts';
import { AppError } from '#shared/errors.ts';

export type ModelVariables = {
  readonly LLM_PROVIDER?: string | undefined;
  readonly ANTHROPIC_API_KEY?: string | undefined;
  /** `iam`: requests are signed with the function's own AWS credentials, and there is no key. */
  readonly ANTHROPIC_AUTH?: 'key' | 'iam' | undefined;
  readonly ANTHROPIC_AWS_WORKSPACE_ID?: string | undefined;
  readonly ANTHROPIC_BASE_URL?: string | undefined;
  readonly OPENAI_API_KEY?: string | undefined;
  readonly OPENAI_BASE_URL?: string | undefined;
  readonly OPENAI_API?: 'responses' | 'chat' | undefined;
  readonly GEMINI_API_KEY?: string | undefined;
  readonly GOOGLE_GEMINI_BASE_URL?: string | undefined;
  readonly BEDROCK_REGION?: string | undefined;
  readonly BEDROCK_BASE_URL?: string | undefined;
};

/** In the order of preference. */
const keyVariables = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  gemini: 'GEMINI_API_KEY',
} as const satisfies Partial<Record<ProviderName, keyof ModelVariables>>;

type KeyedProvider = keyof typeof keyVariables;

/** The named provider, else the first that has what it needs, else `demo`, which needs nothing. */
export const chooseProvider = (variables: ModelVariables): ProviderName =>
  decodeProvider(variables.LLM_PROVIDER ?? '') ??
  (Object.keys(keyVariables) as KeyedProvider[]).find(
    (name) => needsNoKey(variables, name) || variables[keyVariables[name]],
  ) ??
  'demo';

/** The providers that a turn could use. */
export const configuredProviders = (variables: ModelVariables): readonly ProviderName[] => [
  ...(Object.keys(keyVariables) as KeyedProvider[]).filter(
    (name) => needsNoKey(variables, name) || Boolean(variables[keyVariables[name]]),
  ),
  ...(usesBedrock(variables) ? (['bedrock'] as const) : []),
  'demo',
];

/** The key as configured: a value or the ARN of a secret. Throws `provider_not_configured` when it is missing. */
export const keyOf = (variables: ModelVariables, provider: KeyedProvider): string => {
  const name = keyVariables[provider];
  const key = variables[name];
  if (key) return key;
  throw new AppError('provider_not_configured', `${name} is required`, {
    suggestions: [`Set ${name}, or choose another provider.`],
  });
};

/** Throws `provider_not_configured`, with the reason, for a provider that no turn could use. */
export const checkProvider =
  (variables: ModelVariables) =>
  (provider: ProviderName): void => {
    if (provider === 'bedrock') refuseUnchosen(variables);
    else if (!needsNoKey(variables, provider) && provider !== 'demo') keyOf(variables, provider);
  };

/** A deployment has the permission to use Bedrock only if it is the operator's choice. */
export const usesBedrock = ({ LLM_PROVIDER = '' }: ModelVariables): boolean =>
  decodeProvider(LLM_PROVIDER) === 'bedrock';

const refuseUnchosen = (variables: ModelVariables): void => {
  if (!usesBedrock(variables)) throw bedrockUnchosen();
};

export const bedrockUnchosen = (): AppError =>
  new AppError('provider_not_configured', 'LLM_PROVIDER=bedrock is required', {
    suggestions: ['Set LLM_PROVIDER to bedrock, or choose another provider.'],
  });

/** Claude with the function's role, and a chat server of the operator's own that has no key. */
export const needsNoKey = (
  { ANTHROPIC_AUTH, OPENAI_API, OPENAI_BASE_URL, OPENAI_API_KEY }: ModelVariables,
  provider: ProviderName,
): boolean =>
  (provider === 'anthropic' && ANTHROPIC_AUTH === 'iam') ||
  (provider === 'openai' && OPENAI_API === 'chat' && Boolean(OPENAI_BASE_URL) && !OPENAI_API_KEY);
