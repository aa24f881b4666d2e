/** `/models`: which models a provider has, and whether some are among them. */
import { decodeProvider, defaultModels, type ProviderName } from '#shared/domain/model.ts';
import { AppError } from '#shared/errors.ts';
import type { ModelCatalog } from '#shared/ports/model-catalog.ts';
import type { ApiEvent } from './api-request.ts';
import { type ApiRoute, json } from './api-route.ts';

export type ModelSettings = {
  /** The provider of new sessions, and the model if the operator chose one. */
  readonly provider: ProviderName;
  readonly model?: string | undefined;
};

export const modelRoutes = ({
  ports: { catalog },
  settings,
}: {
  readonly ports: { readonly catalog: ModelCatalog };
  readonly settings: ModelSettings;
}): readonly ApiRoute[] => [
  {
    method: 'GET',
    path: '/api/models/available',
    handler: async (event) => {
      const provider = providerOf(event, settings);
      return json(200, { provider, models: await catalog.list(provider) });
    },
  },
  {
    method: 'GET',
    path: '/api/models/check',
    handler: async (event) => {
      const provider = providerOf(event, settings);
      const models = await catalog.check(provider, idsOf(event, provider, settings));
      return json(200, { provider, models });
    },
  },
];

const providerOf = ({ queryStringParameters }: ApiEvent, { provider }: ModelSettings): ProviderName => {
  const name = queryStringParameters?.['provider'];
  if (name === undefined) return provider;
  const known = decodeProvider(name);
  if (known !== undefined) return known;
  throw new AppError('invalid_request', 'provider is none of anthropic, openai, gemini and demo');
};

/** The operator's model is one of the operator's provider; without it, and besides it, the default. */
const idsOf = (
  { queryStringParameters }: ApiEvent,
  provider: ProviderName,
  settings: ModelSettings,
): readonly string[] => {
  const named = (queryStringParameters?.['models'] ?? '').split(',').map((id) => id.trim());
  const ids = named.filter((id) => id !== '');
  if (ids.length > 0) return ids;
  const own = provider === settings.provider && settings.model ? [settings.model] : [];
  return [defaultModels[provider], ...own];
};
