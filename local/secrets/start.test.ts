/** The endpoint, by the real client: its refusals, its delays, and what is on disk. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterEach, expect, test } from 'vitest';
import { sendSigned } from '../../tests/signed-request.ts';
import { type SecretsManagerOptions, start } from './start.ts';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const makeFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-secrets-'));
  opened.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

const open = async (options: Partial<SecretsManagerOptions> = {}) => {
  const folder = options.folder ?? (await makeFolder());
  const endpoint = await start({ folder, ...options });
  const client = new SecretsManagerClient({
    endpoint: endpoint.url,
    region: 'us-east-1',
    credentials: endpoint.credentials,
    maxAttempts: 1,
  });
  opened.push(endpoint.stop, () => client.destroy());
  const create = (Name: string, SecretString: string, ClientRequestToken: string = randomUUID()) =>
    client.send(new CreateSecretCommand({ Name, SecretString, ClientRequestToken }));
  const read = (SecretId: string) => client.send(new GetSecretValueCommand({ SecretId }));
  const remove = (SecretId: string) =>
    client.send(new DeleteSecretCommand({ SecretId, ForceDeleteWithoutRecovery: true }));
  return { ...endpoint, folder, client, create, read, remove };
};

test('a secret is read by its name and by its ARN, and is not found after its deletion', async () => {
  const { create, read, remove } = await open();
  const made = await create('a/b', 'the text');
  expect(made.ARN).toMatch(/^arn:aws:secretsmanager:us-east-1:000000000000:secret:a\/b-[0-9a-f]{6}$/);
  for (const reference of ['a/b', made.ARN ?? ''])
    expect(await read(reference)).toMatchObject({
      Name: 'a/b',
      SecretString: 'the text',
      VersionId: made.VersionId,
      VersionStages: ['AWSCURRENT'],
    });
  await remove('a/b');
  await expect(read('a/b')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  await expect(remove('a/b')).resolves.toMatchObject({ Name: 'a/b' });
});

test('creating twice under one token creates once; another token or value is a conflict', async () => {
  const { create } = await open();
  const token = randomUUID();
  const { ARN } = await create('a', 'text', token);
  expect(await create('a', 'text', token)).toMatchObject({ ARN });
  const exists = { name: 'ResourceExistsException' };
  await expect(create('a', 'other', token)).rejects.toMatchObject(exists);
  await expect(create('a', 'text')).rejects.toMatchObject(exists);
});

test('the name of a deleted secret stays reserved for a while', async () => {
  let clock = 1_000_000;
  const { create, remove } = await open({ deletionMs: 150, now: () => clock });
  await create('a', 'text');
  await remove('a');
  clock += 149;
  await expect(create('a', 'text')).rejects.toMatchObject({ name: 'InvalidRequestException' });
  clock += 1;
  await expect(create('a', 'text')).resolves.toMatchObject({ Name: 'a' });
});

test('a new secret is not found at first, as in AWS', async () => {
  let clock = 1_000_000;
  const { create, read } = await open({ invisibleMs: 150, now: () => clock });
  await create('a', 'text');
  clock += 149;
  await expect(read('a')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  clock += 1;
  expect(await read('a')).toMatchObject({ SecretString: 'text' });
});

test.each([
  ['an empty text', 'a', '', 'InvalidParameterException'],
  ['65,537 bytes', 'a', 'x'.repeat(65_537), 'ValidationException'],
  ['a name with a space', 'a b', 'text', 'ValidationException'],
])('%s is refused', async (...[, name, text, refusal]) => {
  const { create } = await open();
  await expect(create(name, text)).rejects.toMatchObject({ name: refusal });
});

test('an operation that is not implemented, or is unsigned, is refused by name', async () => {
  const { client, url } = await open();
  await expect(client.send(new DescribeSecretCommand({ SecretId: 'a' }))).rejects.toMatchObject({
    name: 'UnknownOperationException',
  });
  await expect(client.send(new DeleteSecretCommand({ SecretId: 'a' }))).rejects.toMatchObject({
    name: 'InvalidParameterException',
  });
  const headers = { 'x-amz-target': 'secretsmanager.GetSecretValue' };
  expect((await fetch(url, { method: 'POST', headers, body: '{"SecretId":"a"}' })).status).toBe(403);
});

test('a request that is not JSON is refused without repeating it', async () => {
  const { url, credentials } = await open();
  const headers = { 'x-amz-target': 'secretsmanager.CreateSecret' };
  const { status, text } = await sendSigned(
    { url, service: 'secretsmanager', headers, body: '{"SecretString": hunter2' },
    credentials,
  );
  expect(status).toBe(400);
  expect(text).not.toContain('hunter2');
});

test('secrets survive a restart, readable by their owner only; half-written ones do not', async () => {
  const first = await open();
  const { folder } = first;
  await first.create('kept', 'the text');
  await first.create('gone', 'the text');
  await first.remove('gone');
  await first.stop();
  await writeFile(join(folder, `${randomUUID()}.tmp`), '{"name":');
  const second = await open({ folder });
  expect(await second.read('kept')).toMatchObject({ SecretString: 'the text' });
  const files = await readdir(folder);
  expect(files).toHaveLength(1);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  for (const file of files) {
    expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(join(folder, file), 'utf8'))).toMatchObject({ name: 'kept' });
  }
});

test('a secret that could not be written is not there, and the repeated request makes it', async () => {
  const first = await open();
  const token = randomUUID();
  await rm(first.folder, { recursive: true });
  await expect(first.create('a', 'text', token)).rejects.toMatchObject({
    $metadata: { httpStatusCode: 500 },
  });
  await expect(first.read('a')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  await mkdir(first.folder);
  await first.create('a', 'text', token);
  const second = await open({ folder: first.folder });
  expect((await second.read('a')).SecretString).toBe('text');
});
