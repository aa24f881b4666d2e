/** Options of sessions that several pages offer. */
import type { ProviderName } from '#sdk/routes.ts';

export const providerNames: Readonly<Record<ProviderName, string>> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  gemini: 'Google Gemini',
  demo: 'Demo',
};
export const providers = Object.keys(providerNames) as ProviderName[];

/** Variables with the providers' keys. */
export const keyVariables: Readonly<Record<ProviderName, string | undefined>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  gemini: 'GEMINI_API_KEY',
  demo: undefined,
};

const options = (...values: readonly (readonly [string, string])[]) =>
  values.map(([value, label]) => ({ value, label }));

export const providerOptions = options(
  ...Object.entries({ ...providerNames, demo: 'Demo: no language model' }),
);

export const flavorOptions = options(
  ['micro', 'micro: ½ CPU, 512 MB'],
  ['small', 'small: 1 CPU, 1 GB'],
  ['medium', 'medium: 2 CPU, 2 GB'],
  ['large', 'large: 4 CPU, 4 GB'],
);

export const templateOptions = options(['python', 'Python'], ['node', 'Node.js']);
