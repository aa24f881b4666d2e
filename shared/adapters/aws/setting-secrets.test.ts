/** Secrets, read by the real client from a small Secrets Manager. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterEach, expect, test } from 'vitest';
import { makeSecretResolver } from './setting-secrets.ts';

const arn = 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:sandboxes-AbCdEf';
const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

type Answer = { readonly status?: number; readonly body: object };

/** Gives the answers one after another, the last one for ever, and remembers what it was asked. */
const openSecrets = async (...answers: readonly [Answer, ...Answer[]]) => {
  const asked: unknown[] = [];
  const server = createServer(async (request, response) => {
    asked.push([request.headers['x-amz-target'], JSON.parse(await text(request))]);
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    response.writeHead(answer?.status ?? 200, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(answer?.body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  let clients = 0;
  let clock = 1_000_000;
  const read = makeSecretResolver({
    openClient: async () => {
      clients += 1;
      const client = new SecretsManagerClient({
        endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        region: 'eu-central-1',
        credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
        maxAttempts: 1,
      });
      opened.push(() => client.destroy());
      return client;
    },
    now: () => clock,
  });
  opened.push(() => server.close());
  const pass = (milliseconds: number): void => {
    clock += milliseconds;
  };
  return { read, asked, pass, clients: () => clients };
};

test('a value that is not an ARN is the secret itself, and no client is created', async () => {
  const { read, clients } = await openSecrets({ body: {} });
  expect(await read('0123456789abcdef0123456789abcdef')).toBe('0123456789abcdef0123456789abcdef');
  expect(clients()).toBe(0);
});

test('an ARN is fetched once, also for two concurrent requests', async () => {
  const { read, asked } = await openSecrets({ body: { SecretString: 'first' } });
  expect(await Promise.all([read(arn), read(arn)])).toEqual(['first', 'first']);
  expect(await read(arn)).toBe('first');
  expect(asked).toEqual([['secretsmanager.GetSecretValue', { SecretId: arn }]]);
});

test('a rotated secret is picked up after five minutes', async () => {
  const { read, pass, clients } = await openSecrets(
    { body: { SecretString: 'first' } },
    { body: { SecretString: 'second' } },
  );
  await read(arn);
  pass(299_999);
  expect(await read(arn)).toBe('first');
  pass(1);
  expect(await read(arn)).toBe('second');
  expect(clients()).toBe(1);
});

test('a failed fetch does not reveal the ARN and is not cached', async () => {
  const { read } = await openSecrets(
    { status: 400, body: { __type: 'ResourceNotFoundException', message: `cannot find ${arn}` } },
    { body: { SecretString: 'there now' } },
  );
  await expect(read(arn)).rejects.toMatchObject({
    code: 'internal_error',
    message: 'could not read a secret',
  });
  expect(await read(arn)).toBe('there now');
});

test('a secret of bytes is refused', async () => {
  const { read } = await openSecrets({ body: { SecretBinary: 'AAEC' } });
  await expect(read(arn)).rejects.toMatchObject({ code: 'internal_error' });
});
