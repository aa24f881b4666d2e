/**
 * State of a provider: whether it has a key, its models and its defaults.
 *
 * A provider without a key, or one that fails, is a state to show and no error of the page.
 */
import { SallyportError } from '#sdk/errors.ts';
import { api, type ModelList, type ProviderName } from '#sdk/routes.ts';
import { request } from '../../api/request.ts';

export type ProviderFacts = {
  readonly provider: ProviderName;
  readonly state: 'available' | 'no-key' | 'failing';
  /** The error of a failing provider. */
  readonly problem?: string;
  readonly models: ModelList['models'];
  /** State of the default models, by id. */
  readonly defaults: Readonly<Record<string, string>>;
};

export const providerNames: Readonly<Record<ProviderName, string>> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  gemini: 'Google Gemini',
  demo: 'Demo',
};
export const providers = Object.keys(providerNames) as ProviderName[];

export const keyVariables: Readonly<Record<ProviderName, string | undefined>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  gemini: 'GEMINI_API_KEY',
  demo: undefined,
};

/** State of a provider without a key; it is not called. */
export const withoutKey = (provider: ProviderName): ProviderFacts => ({
  provider,
  state: 'no-key',
  models: [],
  defaults: {},
});

export const loadProvider = async (provider: ProviderName, signal: AbortSignal): Promise<ProviderFacts> => {
  try {
    const [{ models }, { models: defaults }] = await Promise.all([
      request(api.listModels, { query: { provider } }, { signal }),
      request(api.checkModels, { query: { provider } }, { signal }),
    ]);
    return { provider, state: 'available', models, defaults };
  } catch (error) {
    if (!(error instanceof SallyportError) || error.code === 'unreachable' || error.status === 401)
      throw error;
    return { provider, state: 'failing', problem: error.message, models: [], defaults: {} };
  }
};
