/**
 * What the operator's settings say about models: which provider, which key. Pure; loads no SDK.
 *
 * A provider that cannot be used is refused here, before a session starts a turn it cannot finish.
 */
import { decodeProvider, type ProviderName } from '#shared/domain/model.ts';
import { AppError } from '#shared/errors.ts';

export type ModelVariables = {
  readonly LLM_PROVIDER?: string | undefined;
  readonly ANTHROPIC_API_KEY?: string | undefined;
  readonly OPENAI_API_KEY?: string | undefined;
  readonly GEMINI_API_KEY?: string | undefined;
};

/** In the order of preference. */
const keyVariables = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  gemini: 'GEMINI_API_KEY',
} as const satisfies Partial<Record<ProviderName, keyof ModelVariables>>;

type KeyedProvider = keyof typeof keyVariables;

/** The provider that is named, else the first with a key, else `demo`, which needs none. */
export const chooseProvider = (variables: ModelVariables): ProviderName =>
  decodeProvider(variables.LLM_PROVIDER ?? '') ??
  (Object.keys(keyVariables) as KeyedProvider[]).find((name) => variables[keyVariables[name]]) ??
  'demo';

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
    if (provider === 'demo') return;
    keyOf(variables, provider);
    if (provider !== 'anthropic') throw notSupported(provider);
  };

export const notSupported = (provider: ProviderName): AppError =>
  new AppError('provider_not_configured', `${provider} is not supported yet`, {
    suggestions: ['Set LLM_PROVIDER to anthropic or demo.'],
  });
