/** `/models`: lists a provider's models, and checks whether some are among them. */

import type * as z from 'zod';
import type { Deps } from '#shared/application/deps.ts';
import { modelChecksQuery, modelsQuery } from '#shared/contracts/rest/bodies.ts';
import { modelChecksAnswer, modelsAnswer } from '#shared/contracts/rest/deployment-view.ts';
import { decodeProvider, defaultModels, type ProviderName, providers } from '#shared/domain/model.ts';
import { modelPrice, type PriceTable } from '#shared/domain/price.ts';
import { AppError, type ErrorCode } from '#shared/errors.ts';
import { type ApiRoute, json, queryOf } from './api-route.ts';

export type ModelSettings = {
  /** The provider of new sessions, and the model if the operator chose one. */
  readonly provider: ProviderName;
  readonly model?: string | undefined;
};

export const modelRoutes = ({
  ports: { catalog },
  settings,
  prices,
  configured,
}: {
  readonly ports: Deps<'catalog'>;
  readonly settings: ModelSettings;
  /** The operator's own prices, which go before the known ones. */
  readonly prices: PriceTable;
  /** The providers that have a key, or need none. */
  readonly configured: readonly ProviderName[];
}): readonly ApiRoute[] => [
  {
    method: 'GET',
    path: '/api/models/available',
    needs: 'global:read',
    contract: {
      summary: 'List the models of a provider',
      query: modelsQuery,
      answers: { 200: modelsAnswer },
      errors: providerErrors,
    },
    handler: async (event) => {
      const provider = providerOf(queryOf(event, modelsQuery), settings);
      const models = (await catalog.list(provider)).map((model) => {
        const price = modelPrice({ provider, model: model.id }, prices);
        return price === undefined ? model : { ...model, price };
      });
      return json(200, { provider, configured, models });
    },
  },
  {
    method: 'GET',
    path: '/api/models/check',
    needs: 'global:read',
    contract: {
      summary: 'Check that a provider has the given models',
      query: modelChecksQuery,
      answers: { 200: modelChecksAnswer },
      errors: providerErrors,
    },
    handler: async (event) => {
      const query = queryOf(event, modelChecksQuery);
      const provider = providerOf(query, settings);
      const models = await catalog.check(provider, idsOf(query, provider, settings));
      return json(200, { provider, models });
    },
  },
];

const providerErrors = [
  'provider_not_configured',
  'provider_auth_failed',
  'provider_rate_limited',
  'provider_overloaded',
  'provider_unavailable',
] as const satisfies readonly ErrorCode[];

type Asked = z.output<typeof modelChecksQuery>;

const providerOf = ({ provider: name }: Asked, { provider }: ModelSettings): ProviderName => {
  if (name === undefined) return provider;
  const known = decodeProvider(name);
  if (known !== undefined) return known;
  throw new AppError('invalid_request', `provider: use one of ${providers.join(', ')}`);
};

/**
 * The operator's model belongs to the operator's provider. Other providers, and a provider without it, have their default
 * model.
 */
const idsOf = (
  { models = '' }: Asked,
  provider: ProviderName,
  settings: ModelSettings,
): readonly string[] => {
  const named = models.split(',').map((id) => id.trim());
  const ids = named.filter((id) => id !== '');
  if (ids.length > 0) return ids;
  const own = provider === settings.provider && settings.model ? [settings.model] : [];
  return [defaultModels[provider], ...own];
};
