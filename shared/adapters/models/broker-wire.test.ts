/** Requests in the providers' own wires: the operator's key goes to the configured address alone, and comes back in nothing. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BrokerProvider } from '#shared/domain/broker/provider.ts';
import { makeBrokerWire } from './broker-wire.ts';
import type { ModelAccess } from './provider-access.ts';

const key = 'sk-of-the-operator';
const asked: { readonly url: string | undefined; readonly headers: IncomingHttpHeaders }[] = [];
const server = createServer((request, response) => {
  asked.push({ url: request.url, headers: request.headers });
  const [, , status = '200'] = request.url?.split('/') ?? [];
  response.writeHead(Number(status), { location: 'http://127.0.0.1:9/' });
  response.end(`your key is ${key}`);
});
let base = '';
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`;
});
afterAll(() => server.close());

const send = (
  provider: BrokerProvider,
  path: string,
  change: Partial<ModelAccess['anthropic']> = {},
): Promise<Response> => {
  const access = { key: async () => key, baseUrl: base, ...change };
  const wire = makeBrokerWire({ anthropic: access, openai: access, gemini: access });
  return wire.send({ provider, path, body: { model: 'm' } }, AbortSignal.timeout(60_000));
};

test.each([
  ['anthropic', { 'x-api-key': key, 'anthropic-version': '2023-06-01' }],
  ['openai', { authorization: `Bearer ${key}` }],
  ['gemini', { 'x-goog-api-key': key }],
] as const)('%s is sent its key below its base', async (provider, headers) => {
  const response = await send(provider, '/200');
  expect(response.status).toBe(200);
  await response.body?.cancel();
  expect(asked.at(-1)).toMatchObject({ url: '/base/200', headers });
});

test('a refusal that quotes the key is told without it', async () => {
  const response = await send('openai', '/429');
  expect([response.status, await response.text()]).toEqual([429, 'your key is …']);
});

test('a redirect is not followed, and a key that is not accepted is the operator’s matter', async () => {
  await expect(send('openai', '/302')).rejects.toThrow('the provider answered with a redirect');
  await expect(send('openai', '/401')).rejects.toThrow('the provider does not accept the key');
});

test('a provider that is not there is unavailable', async () => {
  const gone = send('gemini', '/200', { baseUrl: 'http://127.0.0.1:9' });
  await expect(gone).rejects.toMatchObject({
    code: 'provider_unavailable',
    message: 'gemini cannot be reached',
  });
});

test('a deployment that signs its requests has no key for programs', async () => {
  const signed = send('anthropic', '/200', { auth: 'iam' });
  await expect(signed).rejects.toMatchObject({ code: 'provider_not_configured' });
});
