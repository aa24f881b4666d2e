import { expect, test } from 'vitest';
import { AppError } from '#shared/errors.ts';
import { makeModelProviders } from './model-providers.ts';

const providersWith = (keys: (() => string)[]) => {
  let asked = 0;
  const key = async (): Promise<string> => keys[asked++]?.() ?? 'asked too often';
  return {
    providers: makeModelProviders({ anthropic: { key }, openai: { key }, gemini: { key } }),
    asked: () => asked,
  };
};
const missing = (): never => {
  throw new AppError('provider_not_configured', 'ANTHROPIC_API_KEY is required');
};

test('a provider is opened once for concurrent callers', async () => {
  const { providers, asked } = providersWith([() => 'key']);
  const [one, other] = await Promise.all([providers.open('anthropic'), providers.open('anthropic')]);
  expect(other).toBe(one);
  expect(await providers.open('anthropic')).toBe(one);
  expect(asked()).toBe(1);
});

test('a missing key is reported, and looked up again', async () => {
  const { providers } = providersWith([missing, () => 'key']);
  await expect(providers.open('anthropic')).rejects.toMatchObject({
    code: 'provider_not_configured',
    message: 'ANTHROPIC_API_KEY is required',
  });
  expect(await providers.open('anthropic')).toHaveProperty('stream');
});

const keyed = ['anthropic', 'openai', 'gemini'] as const;

test.each(keyed)('a key of %s that no header can carry is refused without being shown', async (name) => {
  const { providers } = providersWith([() => 'sk-secret\nsk-other']);
  const error: unknown = await providers.open(name).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'provider_not_configured' });
  expect(JSON.stringify(error) + String(error)).not.toContain('sk-');
});

test.each(keyed)('%s opens with its key and can count', async (name) => {
  const { providers } = providersWith([() => 'key']);
  expect(await providers.open(name)).toHaveProperty('count');
});

test('the demo needs no key', async () => {
  const { providers, asked } = providersWith([]);
  expect(await providers.open('demo')).toHaveProperty('stream');
  expect(asked()).toBe(0);
});

test('Claude with the credentials of AWS needs no key, but a workspace', async () => {
  const never = { key: async () => missing() };
  const open = (workspaceId?: string) =>
    makeModelProviders({
      anthropic: { ...never, auth: 'iam', workspaceId, baseUrl: 'http://127.0.0.1:9' },
      openai: never,
      gemini: never,
    }).open('anthropic');
  expect(await open('wrkspc_1')).toHaveProperty('stream');
  await expect(open()).rejects.toMatchObject({
    code: 'provider_not_configured',
    message: 'ANTHROPIC_AWS_WORKSPACE_ID is required',
  });
});
