import { afterEach, expect, test, vi } from 'vitest';
import type { MessageId } from '#shared/domain/ids.ts';
import { makeAnthropicProvider } from './anthropic.ts';
import { fakeWire, streamed } from './fixtures/fake-wire.ts';

afterEach(() => vi.unstubAllEnvs());

const request = {
  model: 'claude-opus-5-5',
  system: '',
  tools: [],
  history: [{ role: 'user', messageId: 'm' as MessageId, text: 'hi' }],
  outputTokensMax: 100,
} as const;
const yes = streamed(
  { type: 'message_start', message: { usage: { input_tokens: 3 } } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'yes' } },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
);

const ask = async (baseUrl: string) => {
  const provider = await makeAnthropicProvider({ auth: 'iam', workspaceId: 'wrkspc_1', baseUrl });
  return Array.fromAsync(provider.stream(request, new AbortController().signal));
};

test('a request is signed with the credentials of AWS, and carries no key', async () => {
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  vi.stubEnv('AWS_SESSION_TOKEN', 'session');
  vi.stubEnv('ANTHROPIC_API_KEY', 'sk-ant-not-this');
  vi.stubEnv('ANTHROPIC_AWS_API_KEY', 'sk-ant-nor-this');
  const { url, seen } = await fakeWire(yes);
  expect((await ask(url))[0]).toEqual({ type: 'text', text: 'yes' });
  expect(seen[0]?.url).toBe('/v1/messages');
  expect(seen[0]?.headers).toMatchObject({
    'anthropic-workspace-id': 'wrkspc_1',
    'x-amz-security-token': 'session',
  });
  expect(seen[0]?.headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/aws-external-anthropic\/aws4_request, /,
  );
  expect(JSON.stringify(seen)).not.toContain('sk-ant');
});

test('missing credentials are reported at once', async () => {
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  vi.stubEnv('AWS_CONFIG_FILE', '/nowhere/config');
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nowhere/credentials');
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_PROFILE'])
    vi.stubEnv(name, undefined);
  const { url, seen } = await fakeWire(yes);
  await expect(ask(url)).rejects.toMatchObject({
    code: 'provider_auth_failed',
    message: 'there are no AWS credentials to sign model requests with',
  });
  expect(seen).toEqual([]);
});
