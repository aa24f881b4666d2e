import { expect, test } from 'vitest';
import type { ModelAvailability, ProviderName } from '#shared/domain/model.ts';
import type { ModelCatalog } from '#shared/ports/models.ts';
import type { ApiEvent } from './api-route.ts';
import { type ModelSettings, modelRoutes } from './model-routes.ts';

const catalog: ModelCatalog = {
  list: async (provider) => [{ id: `${provider}-1`, name: 'One' }],
  check: async (_provider, ids) =>
    Object.fromEntries(ids.map((id): [string, ModelAvailability] => [id, 'available'])),
};

const prices = { 'demo/demo-1': { input: 1, output: 2 }, 'demo/none': { input: 0, output: 0 } };

const get = async (
  path: string,
  query: Record<string, string> | null = null,
  settings: ModelSettings = { provider: 'demo' },
) => {
  const route = modelRoutes({ ports: { catalog }, settings, prices, configured: ['demo'] }).find(
    (known) => known.path === path,
  );
  const answer = await route?.handler({ queryStringParameters: query } as ApiEvent);
  return { status: answer?.statusCode, body: JSON.parse(String(answer?.body)) };
};

test('the models are those of the operator’s provider, or of the named one', async () => {
  expect(await get('/api/models/available')).toEqual({
    status: 200,
    body: {
      provider: 'demo',
      configured: ['demo'],
      models: [{ id: 'demo-1', name: 'One', price: { input: 1, output: 2 } }],
    },
  });
  const named: [string, ProviderName][] = [
    ['claude', 'anthropic'],
    ['chatgpt', 'openai'],
    ['google', 'gemini'],
  ];
  for (const [alias, provider] of named)
    expect((await get('/api/models/available', { provider: alias })).body).toMatchObject({ provider });
});

test('an unknown provider is refused', async () => {
  await expect(get('/api/models/check', { provider: 'mistral' })).rejects.toMatchObject({
    code: 'invalid_request',
  });
});

test.each([
  [{ models: 'a, b,,a' }, ['a', 'b']],
  [{ models: '' }, ['claude-opus-5-5', 'claude-sonnet-5-5']],
  [{}, ['claude-opus-5-5', 'claude-sonnet-5-5']],
  [{ provider: 'openai' }, ['gpt-6.1-sol']],
])('%j checks %j', async (query, ids) => {
  const settings = { provider: 'anthropic', model: 'claude-sonnet-5-5' } as const;
  const { status, body } = await get('/api/models/check', query, settings);
  expect(status).toBe(200);
  expect(Object.keys(body.models)).toEqual(ids);
});
