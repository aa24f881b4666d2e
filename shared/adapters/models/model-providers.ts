/**
 * Opens model providers by name, once in a process each.
 *
 * An SDK is half a megabyte of code: it is loaded when its provider is first used. A failed opening is
 * not kept, so that the next turn tries again.
 */
import type { ProviderName } from '#shared/domain/model.ts';
import type { ModelProvider, ModelProviders } from '#shared/ports/model-provider.ts';
import { demoProvider } from './demo.ts';
import { notSupported } from './operator-choice.ts';

export type ProviderAccess = {
  /** Throws `provider_not_configured` when there is none. */
  readonly key: () => Promise<string>;
  readonly baseUrl?: string | undefined;
};

export const makeModelProviders = (access: { readonly anthropic: ProviderAccess }): ModelProviders => {
  const opened = new Map<ProviderName, Promise<ModelProvider>>();
  return {
    open: async (name) => {
      const known = opened.get(name);
      if (known !== undefined) return known;
      const opening = openProvider(name, access);
      opened.set(name, opening);
      try {
        return await opening;
      } catch (error) {
        opened.delete(name);
        throw error;
      }
    },
  };
};

const openProvider = async (
  name: ProviderName,
  { anthropic }: { readonly anthropic: ProviderAccess },
): Promise<ModelProvider> => {
  switch (name) {
    case 'demo':
      return demoProvider;
    case 'anthropic': {
      const [apiKey, { makeAnthropicProvider }] = await Promise.all([
        anthropic.key(),
        import('./anthropic.ts'),
      ]);
      return makeAnthropicProvider({ apiKey, baseUrl: anthropic.baseUrl });
    }
    case 'openai':
    case 'gemini':
      throw notSupported(name);
  }
};
