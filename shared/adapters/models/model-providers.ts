/**
 * Model providers by name, each opened once per process.
 *
 * An SDK is half a megabyte of code: it is loaded when its provider is first used. A failed opening is not
 * cached, so that the next turn tries again.
 */
import type { ProviderName } from '#shared/domain/model.ts';
import type { ModelProviders } from '#shared/ports/models.ts';
import { bedrockUnchosen } from './configured-providers.ts';
import { demoProvider } from './demo.ts';
import type { ModelBackend } from './model-backend.ts';
import type { ModelAccess } from './provider-access.ts';

export interface ModelBackends extends ModelProviders {
  open(provider: ProviderName): Promise<ModelBackend>;
}

export const makeModelProviders = (access: ModelAccess): ModelBackends => {
  const opened = new Map<ProviderName, Promise<ModelBackend>>();
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
  { anthropic, openai, gemini, bedrock }: ModelAccess,
): Promise<ModelBackend> => {
  switch (name) {
    case 'demo':
      return demoProvider;
    case 'anthropic': {
      const { baseUrl, workspaceId } = anthropic;
      const settings =
        anthropic.auth === 'iam'
          ? ({ auth: 'iam', workspaceId, baseUrl } as const)
          : ({ auth: 'key', apiKey: await anthropic.key(), baseUrl } as const);
      return (await import('./anthropic.ts')).makeAnthropicProvider(settings);
    }
    case 'openai': {
      const apiKey = await openai.key();
      return (await import('./openai.ts')).makeOpenAiProvider({
        apiKey,
        baseUrl: openai.baseUrl,
        api: openai.api,
      });
    }
    case 'bedrock':
      if (bedrock === undefined) throw bedrockUnchosen();
      return (await import('./bedrock.ts')).makeBedrockProvider(bedrock);
    case 'gemini': {
      const apiKey = await gemini.key();
      return (await import('./gemini.ts')).makeGeminiProvider({ apiKey, baseUrl: gemini.baseUrl });
    }
  }
};
