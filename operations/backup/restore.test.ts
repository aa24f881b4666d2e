/** A restore of secrets alone, into an account in memory and a Secrets Manager that says what it was asked. */
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../local/endpoint/listen.ts';
import { busyAccount, openMachine, type Ran } from '../deploy/fixtures/machine.ts';
import { restoreCommandWith } from './restore.ts';

const writeBackup = (folder: string, items: number): void => {
  const secrets = JSON.stringify({ projects: { 'sallyport/sallyport/p1': 'of the project' } });
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  for (const name of ['table', 'objects']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'secrets.json'), secrets);
  writeFileSync(join(folder, 'objects.jsonl'), '');
  const manifest = {
    ...{ version: 1, takenAt: '2026-11-20T10:00:00.000Z', deployment: 'sallyport', items },
    ...{ objects: 0, objectBytes: 0, hasSecrets: true },
    files: { 'secrets.json': sha256(secrets), 'objects.jsonl': sha256('') },
  };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
};

type Asked = { readonly Name?: string; readonly KmsKeyId?: string };

type Restored = Ran & { readonly asked: readonly Asked[]; readonly closed: readonly string[] };

/** The words and requests of a restore under these settings, of a backup that is damaged on request. */
const restoreUnder = async (settings: object, damage?: string, items = 0): Promise<Restored> => {
  const asked: Asked[] = [];
  const { url, stop } = await listen(async (request, response) => {
    asked.push(JSON.parse(await text(request)));
    response.setHeader('content-type', 'application/x-amz-json-1.1').end('{}');
  });
  onTestFinished(stop);
  const at = {
    endpoint: url,
    credentials: { accessKeyId: 'a', secretAccessKey: 's' },
  };
  using folder = mkdtempDisposableSync(join(tmpdir(), 'sallyport-restore-'));
  const backup = join(folder.path, 'backup');
  mkdirSync(backup);
  writeBackup(backup, items);
  if (damage !== undefined) appendFileSync(join(backup, damage), ' ');
  const settingsFile = join(folder.path, 'settings.json');
  writeFileSync(settingsFile, JSON.stringify(settings));
  const data = busyAccount.stacks['sallyport-data'];
  const keys = [
    ['AWS::KMS::Key', 'SealKey12345678', 'key-of-seals'],
    ['AWS::KMS::Key', 'EncryptionKey12345678', 'key-of-data'],
  ];
  const machine = openMachine({
    ...busyAccount,
    stacks: {
      ...busyAccount.stacks,
      'sallyport-data': { ...data, resources: [...data.resources, ...keys] },
    },
  });
  const command = restoreCommandWith((region) => ({
    dynamoDb: new DynamoDBClient({ region, ...at }),
    s3: new S3Client({ region, ...at }),
    secretsManager: new SecretsManagerClient({ region, ...at }),
  }));
  const ran = await machine.run(command, ['--from', backup, '--settings', settingsFile, '--yes']);
  return { ...ran, asked, closed: machine.state.closed };
};

const arn = (id: string): string => `arn:aws:kms:eu-central-1:111122223333:key/${id}`;

test.each([
  ['AWS’s own', {}, undefined],
  ['that of the data stack', { encryption: 'customer-managed' }, 'key-of-data'],
  ['an existing one', { encryption: { keyArn: arn('theirs') } }, arn('theirs')],
  ['one for them alone', { encryption: 'customer-managed', projectSecretsKeyArn: arn('own') }, arn('own')],
])('restored secrets of projects are under the key of the settings: %s', async (_, settings, key) => {
  const { code, error, asked, closed } = await restoreUnder(settings);
  expect([code, error, closed]).toEqual([0, '', []]);
  expect(asked.map(({ Name, KmsKeyId }) => [Name, KmsKeyId])).toEqual([['sallyport/sallyport/p1', key]]);
});

test('a damaged backup leaves the deployment as it was, with its functions open', async () => {
  const { code, error, asked, closed } = await restoreUnder({}, 'secrets.json');
  expect([code, error]).toEqual([
    1,
    expect.stringMatching(/secrets\.json of the backup is damaged\n.*Nothing was restored/),
  ]);
  expect([asked, closed]).toEqual([[], []]);
});

test('a restore that stops in the middle says that the functions are closed, and what opens them', async () => {
  const { code, error, closed } = await restoreUnder({}, undefined, 5);
  expect([code, error]).toEqual([
    1,
    expect.stringMatching(/says 5 items, and its files have 0\n.*The functions are closed\. Run it again/),
  ]);
  expect(closed.length).toBeGreaterThan(0);
});

test('a whole one says what its closed functions have left in the queue of dead letters', async () => {
  const { out } = await restoreUnder({});
  expect(out).toMatch(/Opened \d functions\n(?:.*\n)*.*EventDeadLetters/);
});
