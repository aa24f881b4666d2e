/** Backups of a deployment whose secrets change meanwhile, and their restores into one that has none, on real engines. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import {
  DeleteSecretCommand,
  paginateListSecrets,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { expect, onTestFinished, test } from 'vitest';
import { makeSecretPointers } from '#shared/adapters/aws/dynamo/secret-pointer.ts';
import { systemJitter } from '#shared/adapters/aws/dynamo/table.ts';
import { makeTable } from '#shared/adapters/aws/dynamo/transaction.ts';
import { itemValues } from '#shared/adapters/aws/item-values.ts';
import { makeProjectSecrets } from '#shared/adapters/aws/project-secrets.ts';
import { makeSecretBundles } from '#shared/adapters/aws/secret-bundles.ts';
import type { ProjectId } from '#shared/domain/ids.ts';
import type { ProjectSecrets } from '#shared/ports/projects.ts';
import { start as startDynamoDb } from '../../local/dynamodb/start.ts';
import { platformTable } from '../../local/dynamodb/table.ts';
import { makeKeys } from '../../local/endpoint/account.ts';
import { start as startS3 } from '../../local/s3/start.ts';
import { start as startSecretsManager } from '../../local/secrets/start.ts';
import { busyAccount, openMachine, usualFacts } from '../deploy/fixtures/machine.ts';
import { backupCommandWith } from './backup.ts';
import { loadBackup, type Services, saveBackup } from './data-copy.ts';
import { loadTable, saveTable } from './table-copy.ts';

const prefix = 'sallyport/sallyport/';
const bucket = 'workspaces';
const living = 'living';
const project = 'ab5b2a52-6f8b-4b0e-9b5e-0d4a7a3f1c11' as ProjectId;

/** A deployment of three tables: the one that functions write, that of a moment, and the one of a restore. */
const open = async () => {
  const home = await mkdtemp(join(tmpdir(), 'sallyport-backup-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const keys = makeKeys();
  const [dynamo, s3, secrets] = await Promise.all([
    startDynamoDb({
      ...{ folder: join(home, 'dynamodb'), table: platformTable(living), expiryAttribute: 'ttl', keys },
    }),
    startS3({ folder: join(home, 's3'), buckets: [bucket], keys }),
    startSecretsManager({ folder: join(home, 'secrets'), deletionMs: 0, keys }),
  ]);
  onTestFinished(async () => void (await Promise.all([dynamo.stop(), s3.stop(), secrets.stop()])));
  const at = (endpoint: string) => ({
    ...{ endpoint, region: 'us-east-1', credentials: keys.issue('backup') },
  });
  const services: Services = {
    dynamoDb: new DynamoDBClient(at(dynamo.url)),
    s3: new S3Client({ ...at(s3.url), forcePathStyle: true }),
    secretsManager: new SecretsManagerClient(at(secrets.url)),
  };
  onTestFinished(() => {
    for (const client of Object.values(services)) client.destroy();
  });
  const { dynamoDb, secretsManager } = services;
  for (const name of ['moment', 'restored']) await dynamoDb.send(new CreateTableCommand(platformTable(name)));
  const marshallOptions = itemValues();
  const client = DynamoDBDocumentClient.from(dynamoDb, { marshallOptions });
  const secretsIn = (name: string): ProjectSecrets =>
    makeProjectSecrets({
      pointers: makeSecretPointers(makeTable({ name, jitter: systemJitter, client })),
      bundles: makeSecretBundles({ openClient: async () => secretsManager }),
      prefix,
      now: Date.now,
    });
  const record = { pk: { S: `PROJECT#${project}` }, sk: { S: 'META' }, name: { S: 'kept' } };
  await dynamoDb.send(new PutItemCommand({ TableName: living, Item: record }));
  const folder = join(home, 'backup');
  const said: string[] = [];
  const say = (line: string): void => void said.push(line);
  /** `during` runs after the moment of the table and before it is read. */
  const save = async (withSecrets: boolean, during: () => Promise<unknown> = async () => undefined) => {
    const table = async () => {
      const between = await mkdtemp(join(home, 'moment-'));
      await saveTable({ client: dynamoDb, table: living }, between);
      await loadTable({ client: dynamoDb, table: 'moment' }, between);
      await during();
      return { name: 'moment', takenAt: new Date() };
    };
    const saved = { deployment: 'sallyport', table, bucket, ...(withSecrets && { secrets: { prefix } }) };
    await saveBackup(services, saved, { folder, say });
  };
  const restoreAfterLoss = async (): Promise<ProjectSecrets> => {
    for await (const { SecretList = [] } of paginateListSecrets({ client: secretsManager }, {}))
      for (const { Name: SecretId } of SecretList)
        await secretsManager.send(new DeleteSecretCommand({ SecretId, ForceDeleteWithoutRecovery: true }));
    await loadBackup(services, { table: 'restored', bucket }, { folder, say });
    return secretsIn('restored');
  };
  return { services, secrets: secretsIn(living), folder, said, save, restoreAfterLoss };
};

test('a restore without secrets says which have to be set anew, and they can be', async () => {
  const { secrets, said, save, restoreAfterLoss } = await open();
  await secrets.put(project, 'KEY', 'lost');
  await secrets.put(project, 'OTHER', 'lost');
  await save(false);
  const restored = await restoreAfterLoss();
  expect(said.slice(-2)).toEqual([
    'Secrets that are not in the backup, and have to be set anew:',
    `  kept (${project}): KEY, OTHER`,
  ]);
  expect([await restored.names(project), await restored.read(project)]).toEqual([[], {}]);
  expect(await restored.put(project, 'KEY', 'set anew')).toBe(true);
  expect(await restored.read(project)).toEqual({ KEY: 'set anew' });
  await restored.clear(project);
});

test('secrets that are still in the account need none of the backup', async () => {
  const { services, secrets, folder, said, save } = await open();
  await secrets.put(project, 'KEY', 'retained');
  await save(false);
  await loadBackup(services, { table: living, bucket }, { folder, say: (line) => said.push(line) });
  expect(said.at(-1)).toMatch(/^Restored \d+ items of the table$/);
  expect(await secrets.read(project)).toEqual({ KEY: 'retained' });
});

test('secrets are those of the table’s moment, although they change before it is read', async () => {
  const { secrets, folder, said, save, restoreAfterLoss } = await open();
  await secrets.put(project, 'KEY', 'of the moment');
  await save(true, () => secrets.put(project, 'KEY', 'of later'));
  expect(await readFile(join(folder, 'secrets.json'), 'utf8')).not.toContain('of later');
  expect(await (await restoreAfterLoss()).read(project)).toEqual({ KEY: 'of the moment' });
  expect(said.join('\n')).not.toMatch(/set anew|changed meanwhile/);
});

test('secrets of which the bundle of that moment was never seen are named at once, and after the restore', async () => {
  const { services, secrets, said, save, restoreAfterLoss } = await open();
  await secrets.put(project, 'KEY', 'one');
  let reads = 0;
  services.secretsManager.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        // A bundle that is listed, and deleted before it is read.
        const isRead = commandName === 'GetSecretValueCommand';
        if (isRead) reads += 1;
        if (isRead && reads === 1) await secrets.put(project, 'KEY', 'two');
        return next(args);
      },
    { step: 'initialize' },
  );
  await save(true, () => secrets.put(project, 'KEY', 'three'));
  expect(said.at(-1)).toBe(
    `The secrets of project ${project} changed during the backup and are not in the folder: copy it again.`,
  );
  expect(await (await restoreAfterLoss()).read(project)).toEqual({});
  expect(said.at(-1)).toBe(`  kept (${project}): KEY`);
});

const facts = (at: Date) => ({
  'dynamodb describe-continuous-backups': {
    ContinuousBackupsDescription: {
      PointInTimeRecoveryDescription: { LatestRestorableDateTime: at.toISOString() },
    },
  },
});

test('the table is that of a moment after the first copies', async () => {
  const { services, folder } = await open();
  const [before, after] = [-300_000, 3_600_000].map((ms) => new Date(Date.now() + ms)) as [Date, Date];
  const resources = [
    ['AWS::DynamoDB::GlobalTable', 'Table1', living],
    ['AWS::S3::Bucket', 'Workspaces1', bucket],
    ['AWS::SecretsManager::Secret', 'SandboxSecret1', 'SandboxSecret1'],
  ];
  const machine = openMachine({
    ...busyAccount,
    stacks: { ...busyAccount.stacks, 'sallyport-data': { outputs: {}, resources } },
    has: { ...usualFacts, ...facts(before) },
  });
  const copy = `${living}-backup-${after.getTime()}`;
  await services.dynamoDb.send(new CreateTableCommand(platformTable(copy)));
  let pauses = 0;
  const pause = async (): Promise<void> => {
    pauses += 1;
    Object.assign(machine.state.has, facts(after));
  };
  const backup = backupCommandWith(() => services, pause);
  const { code, out, error } = await machine.run(backup, ['--to', folder]);
  expect([code, error, pauses]).toEqual([0, '', 1]);
  expect(out).toMatch(/Copied 0 objects.*\nWaiting for a point in time after that/);
  expect(machine.calls.find((call) => call.includes('restore-table-to-point-in-time'))).toContain(
    `--restore-date-time ${after.toISOString()}`,
  );
});
