import { expect, test } from 'vitest';
import type { ListedModel } from '#shared/domain/model.ts';
import { AppError } from '#shared/errors.ts';
import { demoProvider } from './demo.ts';
import { answered, fakeWire, type Reply } from './fixtures/fake-wire.ts';
import type { ModelBackend } from './model-backend.ts';
import { makeModelCatalog } from './model-catalog.ts';
import { makeModelProviders } from './model-providers.ts';

const backend = (answers: {
  readonly list: () => Promise<readonly ListedModel[]>;
  readonly has?: (id: string) => Promise<boolean>;
}): ModelBackend => ({
  stream: demoProvider.stream,
  listModels: answers.list,
  hasModel: answers.has ?? (async () => false),
});
const listed = [{ id: 'one', name: 'One' }];
const down = new AppError('provider_unavailable', 'the model provider failed to answer');

test('concurrent calls fetch a list once, and it is cached for five minutes', async () => {
  let asked = 0;
  let now = 0;
  const list = async () => {
    asked += 1;
    return listed;
  };
  const catalog = makeModelCatalog({ open: async () => backend({ list }) }, () => now);
  expect(await Promise.all([catalog.list('openai'), catalog.list('openai')])).toEqual([listed, listed]);
  now = 299_999;
  await catalog.list('openai');
  expect(asked).toBe(1);
  await catalog.list('gemini');
  expect(asked).toBe(2);
  now = 300_000;
  await catalog.list('openai');
  expect(asked).toBe(3);
});

test('a failure is not cached', async () => {
  const answers = [async () => Promise.reject(down), async () => listed];
  const catalog = makeModelCatalog({
    open: async () => backend({ list: async () => answers.shift()?.() ?? [] }),
  });
  await expect(catalog.list('openai')).rejects.toBe(down);
  expect(await catalog.list('openai')).toEqual(listed);
});

test('a check queries models that no list contains, concurrently', async () => {
  let running = 0;
  let most = 0;
  const has = async (id: string) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((done) => setTimeout(done, 5));
    running -= 1;
    if (id === 'broken') throw down;
    if (id === 'odd') throw new Error('sk-secret');
    return id === 'alias';
  };
  const catalog = makeModelCatalog({ open: async () => backend({ list: async () => listed, has }) });
  const ids = ['one', 'alias', 'none', 'broken', 'odd', 'alias', '../files', 'a b', ''];
  expect(await catalog.check('openai', ids)).toEqual({
    one: 'available',
    alias: 'available',
    none: 'not_found',
    broken: 'error: the model provider failed to answer',
    odd: 'error: the check failed on our side',
    '../files': 'not_found',
    'a b': 'not_found',
    '': 'not_found',
  });
  expect(most).toBe(4);
});

test('a check takes twenty models', async () => {
  const catalog = makeModelCatalog({ open: async () => backend({ list: async () => listed }) });
  const ids = Array.from({ length: 21 }, (_, index) => `m${index}`);
  expect(Object.keys(await catalog.check('openai', ids.slice(1)))).toHaveLength(20);
  await expect(catalog.check('openai', ids)).rejects.toMatchObject({ code: 'invalid_request' });
});

test('without its key, a provider is neither listed nor checked', async () => {
  const missing = new AppError('provider_not_configured', 'OPENAI_API_KEY is required');
  const catalog = makeModelCatalog({ open: async () => Promise.reject(missing) });
  await expect(catalog.list('openai')).rejects.toBe(missing);
  await expect(catalog.check('openai', ['one'])).rejects.toBe(missing);
});

const over = async (...replies: Reply[]) => {
  const { url, seen } = await fakeWire(...replies);
  const access = { key: async () => 'key', baseUrl: url };
  const providers = makeModelProviders({ anthropic: access, openai: access, gemini: access });
  return { catalog: makeModelCatalog(providers), paths: () => seen.map((request) => request.url) };
};

test('the demo has one model', async () => {
  const { catalog } = await over();
  expect(await catalog.list('demo')).toEqual([{ id: 'demo', name: 'Demo' }]);
  expect(await catalog.check('demo', ['demo', 'other'])).toEqual({ demo: 'available', other: 'not_found' });
});

test('of Claude, retired models are left out of list and check', async () => {
  const model = (id: string, lifecycle: string) => ({ id, display_name: id.toUpperCase(), lifecycle });
  const { catalog, paths } = await over(
    answered(200, {
      data: [model('new', 'active'), model('old', 'deprecated'), model('gone', 'retired')],
      has_more: false,
    }),
    answered(200, model('gone', 'retired')),
  );
  expect(await catalog.list('anthropic')).toEqual([
    { id: 'new', name: 'NEW' },
    { id: 'old', name: 'OLD' },
  ]);
  expect(await catalog.check('anthropic', ['new', 'gone'])).toEqual({ new: 'available', gone: 'not_found' });
  expect(paths()).toEqual(['/v1/models?limit=1000', '/v1/models/gone']);
});

test('of GPT, retired and non-conversational models are left out', async () => {
  const { catalog, paths } = await over(
    answered(200, {
      object: 'list',
      data: [
        { id: 'gpt-6.1-sol', shutdown_date: null },
        { id: 'gpt-4o', shutdown_date: '2024-01-01' },
        { id: 'gpt-5', shutdown_date: '2999-01-01' },
        { id: 'text-embedding-3-large' },
      ],
    }),
    answered(404, { error: { code: 'model_not_found' } }),
  );
  expect(await catalog.list('openai')).toEqual([
    { id: 'gpt-6.1-sol', name: 'gpt-6.1-sol' },
    { id: 'gpt-5', name: 'gpt-5' },
  ]);
  expect(await catalog.check('openai', ['none'])).toEqual({ none: 'not_found' });
  expect(paths()).toEqual(['/models', '/models/none']);
});

test('of Gemini, models that generate content are listed, over all pages', async () => {
  const model = (name: string, action: string) => ({
    name: `models/${name}`,
    displayName: `Gemini ${name}`,
    supportedGenerationMethods: [action],
  });
  const { catalog, paths } = await over(
    answered(200, { models: [model('flash', 'generateContent')], nextPageToken: 'p2' }),
    answered(200, { models: [model('embedder', 'embedContent'), model('pro', 'generateContent')] }),
    answered(200, model('alias', 'generateContent')),
  );
  expect(await catalog.list('gemini')).toEqual([
    { id: 'flash', name: 'Gemini flash' },
    { id: 'pro', name: 'Gemini pro' },
  ]);
  expect(await catalog.check('gemini', ['alias', 'a/b'])).toEqual({ alias: 'available', 'a/b': 'not_found' });
  expect(paths()).toEqual([
    '/v1beta/models?pageSize=1000',
    '/v1beta/models?pageSize=1000&pageToken=p2',
    '/v1beta/models/alias',
  ]);
});

test.each(['anthropic', 'openai', 'gemini'] as const)(
  'a refused key is an error in the list of %s, and for each model of a check',
  async (provider) => {
    const refused = answered(403, { error: { code: 403, message: 'no' } });
    const { catalog } = await over(refused, refused);
    await expect(catalog.list(provider)).rejects.toMatchObject({ code: 'provider_auth_failed' });
    expect(await catalog.check(provider, ['one'])).toEqual({
      one: 'error: the model provider rejected the API key',
    });
  },
);
