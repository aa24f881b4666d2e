/**
 * The rehearsal of a disaster: a deployment with work in progress is copied, destroyed, and made anew from the copy. History, files,
 * tokens, secrets and schedules are there, and what waited goes on.
 */
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import {
  CreateSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, describe, expect, test } from 'vitest';
import { tableName, workspaceBucket } from '../../local/deployed-functions.ts';
import { start as startDynamoDb } from '../../local/dynamodb/start.ts';
import { platformTable } from '../../local/dynamodb/table.ts';
import { type Credentials, makeKeys } from '../../local/endpoint/account.ts';
import { start as startS3 } from '../../local/s3/start.ts';
import { start as startSecretsManager } from '../../local/secrets/start.ts';
import { backupCommandWith } from '../../operations/backup/backup.ts';
import { loadBackup, type Services, saveBackup } from '../../operations/backup/data-copy.ts';
import { restoreCommandWith } from '../../operations/backup/restore.ts';
import { busyAccount, openMachine, usualFacts } from '../../operations/deploy/fixtures/machine.ts';
import { makeSession, showSession } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect } from './socket-client.ts';

const folders: string[] = [];
const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-backup-'));
  folders.push(folder);
  return folder;
};
const clouds: EmbeddedCloud[] = [];
const stopped = new Set<EmbeddedCloud>();
const stop = async (cloud: EmbeddedCloud): Promise<void> => {
  if (stopped.has(cloud)) return;
  stopped.add(cloud);
  await cloud.stop();
};
afterAll(async () => {
  await Promise.all(clouds.map(stop));
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
});
const open = async (fill?: (home: string) => Promise<void>): Promise<EmbeddedCloud> => {
  const cloud = await openEmbeddedCloud(fill === undefined ? {} : { fill });
  clouds.push(cloud);
  return cloud;
};

type Endpoints = Readonly<Record<'dynamoDb' | 's3' | 'secretsManager', string>>;

const servicesAt = (endpoints: Endpoints, credentials: Credentials): Services => {
  const at = (endpoint: string) => ({ region: 'us-east-1', credentials, endpoint });
  return {
    dynamoDb: new DynamoDBClient(at(endpoints.dynamoDb)),
    s3: new S3Client({ ...at(endpoints.s3), forcePathStyle: true }),
    secretsManager: new SecretsManagerClient(at(endpoints.secretsManager)),
  };
};
const servicesOf = ({ endpoints, credentials }: EmbeddedCloud): Services => {
  const url = (service: string): string => endpoints[`AWS_ENDPOINT_URL_${service}`] ?? '';
  return servicesAt(
    { dynamoDb: url('DYNAMODB'), s3: url('S3'), secretsManager: url('SECRETS_MANAGER') },
    credentials,
  );
};

/** The data services of a new deployment, before a function of it runs. */
const loadInto = async (home: string, folder: string): Promise<void> => {
  const keys = makeKeys();
  const [dynamoDb, s3, secretsManager] = await Promise.all([
    startDynamoDb({
      ...{ folder: join(home, 'dynamodb'), table: platformTable(tableName), expiryAttribute: 'ttl', keys },
    }),
    startS3({ folder: join(home, 's3'), buckets: [workspaceBucket], keys }),
    startSecretsManager({ folder: join(home, 'secrets'), keys }),
  ]);
  const endpoints = { dynamoDb: dynamoDb.url, s3: s3.url, secretsManager: secretsManager.url };
  const services = servicesAt(endpoints, keys.issue('restore'));
  try {
    await loadBackup(
      services,
      { table: tableName, bucket: workspaceBucket },
      { folder, say: () => undefined },
    );
  } finally {
    await Promise.all([dynamoDb.stop(), s3.stop(), secretsManager.stop()]);
  }
};

const backup = (cloud: EmbeddedCloud, folder: string) =>
  saveBackup(
    servicesOf(cloud),
    {
      deployment: 'sallyport',
      table: async () => ({ name: tableName, takenAt: new Date() }),
      bucket: workspaceBucket,
      secrets: { prefix: 'sallyport/' },
    },
    { folder, say: () => undefined },
  );

const send = <T>(cloud: EmbeddedCloud, path: string, body: object): Promise<T> =>
  cloud.ask(path, { method: 'POST', body: JSON.stringify(body) });

type Log = { readonly events: readonly { readonly type: string; readonly data: Record<string, unknown> }[] };
const logOf = (cloud: EmbeddedCloud, id: string): Promise<Log> =>
  cloud.ask(`/api/sessions/${id}/events?limit=1000`);

test('a deployment that was destroyed is made anew from its copy, and goes on', async () => {
  const first = await open();
  const { id: project } = await send<{ id: string }>(first, '/api/projects', { name: 'kept' });
  const put = { method: 'PUT', body: JSON.stringify({ value: 'of the project' }) };
  await first.ask(`/api/projects/${project}/secrets/KEY`, put);
  const { token } = await send<{ token: string }>(first, '/api/tokens', {
    ...{ name: 'kept', scope: `project:${project}` },
  });
  const { id: schedule } = await send<{ id: string }>(first, '/api/schedules', {
    ...{ name: 'yearly', cronExpr: '0 0 1 1 *', prompt: 'say hello', targets: [{ projectId: project }] },
  });
  const done = await makeSession(first, {
    ...{ flavor: 'micro', project, approvals: 'auto', env: { SECRET_WORD: 'swordfish' } },
  });
  const talk = await connect(first, { sessionId: done.id });
  talk.send('message', { text: '$ echo from the first life > note.txt; echo written' });
  await talk.untilType('completion');
  await talk.close();
  const waiting = await makeSession(first, { flavor: 'micro', project, approvals: 'ask' });
  const asking = await connect(first, { sessionId: waiting.id });
  asking.send('message', { text: '$ echo approved in the second life' });
  await asking.untilType('tool:approval_required');
  await asking.close();
  const before = await logOf(first, done.id);

  const folder = await newFolder();
  const manifest = await backup(first, folder);
  expect(manifest).toMatchObject({ version: 1, hasSecrets: true });
  expect(manifest.objects).toBeGreaterThan(0);
  const again = await backup(first, folder);
  expect(again.objects).toBe(manifest.objects);
  await stop(first);

  const second = await open((home) => loadInto(home, folder));
  await second.janitor({ sweep: 'due' });
  const { events } = await logOf(second, done.id);
  expect(events.slice(0, before.events.length)).toEqual(before.events);
  expect(events.at(-1)?.data).toMatchObject({
    kind: 'sandbox_stopped',
    reason: expect.stringContaining('it no longer runs'),
  });
  const own = await fetch(`${second.url}/api/sessions`, { headers: { authorization: `Bearer ${token}` } });
  const { sessions } = (await own.json()) as { readonly sessions: readonly { readonly id: string }[] };
  expect(sessions.map(({ id }) => id).toSorted()).toEqual([done.id, waiting.id].toSorted());
  expect(await second.ask(`/api/projects/${project}/secrets`)).toEqual({ secrets: [{ name: 'KEY' }] });

  const more = await connect(second, { sessionId: done.id });
  more.send('message', { text: '$ cat note.txt; echo $SECRET_WORD' });
  const { data } = await more.untilType('tool:output');
  expect(JSON.stringify(data)).toContain('from the first life');
  expect(JSON.stringify(data)).toContain('swordfish');
  await more.untilType('completion');
  await more.close();

  const { pendingApprovals = [] } = await showSession(second, waiting.id);
  const [call] = pendingApprovals;
  await send(second, `/api/sessions/${waiting.id}/approvals/${call?.callId}`, {
    ...{ approved: true, digest: call?.digest },
  });
  const log = await eventually(
    () => logOf(second, waiting.id),
    ({ events }) => events.some(({ type }) => type === 'completion'),
  );
  expect(JSON.stringify(log)).toContain('approved in the second life');

  const run = await send<object>(second, `/api/schedules/${schedule}/trigger`, {});
  expect(run).toBeDefined();
  const { history } = await eventually(
    () => second.ask<{ history: readonly { status: string }[] }>(`/api/schedules/${schedule}/history`),
    ({ history: rows }) => rows[0]?.status === 'success',
  );
  expect(history).toHaveLength(1);
});

test('a damaged or unfinished backup restores nothing', async () => {
  const cloud = await open();
  const folder = await newFolder();
  await backup(cloud, folder);
  const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as {
    readonly files: Readonly<Record<string, string>>;
  };
  const [damaged = ''] = Object.keys(manifest.files).filter((name) => name.startsWith('table'));
  await appendFile(join(folder, damaged), 'x');
  const target = { table: 'a table that does not exist', bucket: 'no-bucket' };
  const load = () => loadBackup(servicesOf(cloud), target, { folder, say: () => undefined });
  await expect(load()).rejects.toThrow(`${damaged} of the backup is damaged`);
  await rm(join(folder, damaged));
  await expect(load()).rejects.toThrow(`${damaged} of the backup is missing`);
  await rm(join(folder, 'manifest.json'));
  await expect(load()).rejects.toThrow('holds no finished backup');
});

describe('the commands', () => {
  // After the copies of files, for which a backup waits.
  const latest = new Date(Math.ceil(Date.now() / 1000) * 1000 + 3_600_000);
  const copyName = `${tableName}-backup-${latest.getTime()}`;
  const has = {
    ...usualFacts,
    'dynamodb describe-continuous-backups': {
      ContinuousBackupsDescription: {
        PointInTimeRecoveryDescription: { LatestRestorableDateTime: latest.toISOString() },
      },
    },
  };

  const begin = async () => {
    const cloud = await open();
    const services = servicesOf(cloud);
    const { ARN = '' } = await services.secretsManager.send(
      new CreateSecretCommand({ Name: 'SandboxSecret1', SecretString: 'of the old deployment' }),
    );
    const data = {
      outputs: {},
      resources: [
        ['AWS::DynamoDB::GlobalTable', 'Table1', tableName],
        ['AWS::S3::Bucket', 'Workspaces1', workspaceBucket],
        ['AWS::SecretsManager::Secret', 'SandboxSecret1', ARN],
      ],
    };
    const account = { ...busyAccount, has, stacks: { ...busyAccount.stacks, 'sallyport-data': data } };
    return { cloud, services, ARN, machine: openMachine(account) };
  };

  test('copy the table of one moment, delete that copy, and write it into a deployment that serves nobody', async () => {
    const { services, machine, ARN } = await begin();
    await services.dynamoDb.send(new CreateTableCommand(platformTable(copyName)));
    const item = { pk: { S: 'SESSION#kept' }, sk: { S: 'META' }, bytes: { B: Buffer.from([0, 255]) } };
    await services.dynamoDb.send(new PutItemCommand({ TableName: copyName, Item: item }));
    const folder = await newFolder();
    const saved = await machine.run(
      backupCommandWith(() => services),
      [...['--to', folder, '--with-secrets']],
    );
    expect(saved).toMatchObject({ code: 0, error: '' });
    expect(saved.out).toContain('Copied 1 items of the table');
    expect(machine.calls.filter((call) => call.startsWith('aws dynamodb'))).toEqual([
      expect.stringContaining('describe-continuous-backups'),
      expect.stringContaining(`--target-table-name ${copyName} --restore-date-time ${latest.toISOString()}`),
      expect.stringContaining(`describe-table --table-name ${copyName}`),
      expect.stringContaining(`describe-table --table-name ${copyName}`),
      expect.stringContaining(`delete-table --table-name ${copyName}`),
    ]);

    const { secretsManager } = services;
    const newest = { SecretId: ARN, SecretString: 'of the new deployment' };
    await secretsManager.send(new PutSecretValueCommand(newest));
    const restore = restoreCommandWith(() => services);
    const refused = await machine.run(restore, ['--from', folder], 'another');
    expect(refused).toMatchObject({ code: 1, error: 'nothing was restored\n' });
    const restored = await machine.run(restore, ['--from', folder], 'sallyport');
    expect(restored).toMatchObject({ code: 0, error: '' });
    const verbs = machine.calls.flatMap((call) => /(?:put|delete)-function-concurrency/.exec(call) ?? []);
    expect(verbs).toEqual([
      ...['put-function-concurrency', 'put-function-concurrency'],
      ...['delete-function-concurrency', 'delete-function-concurrency'],
    ]);
    const Key = { pk: item.pk, sk: item.sk };
    const { Item } = await services.dynamoDb.send(new GetItemCommand({ TableName: tableName, Key }));
    expect(Item).toEqual({ ...item, bytes: { B: new Uint8Array([0, 255]) } });
    const { SecretString } = await secretsManager.send(new GetSecretValueCommand({ SecretId: ARN }));
    expect(SecretString).toBe('of the old deployment');
  });

  test('refuse a folder that is not named, and the backup of another deployment', async () => {
    const { services, machine } = await begin();
    expect(
      await machine.run(
        backupCommandWith(() => services),
        [],
      ),
    ).toMatchObject({
      ...{ code: 1, error: 'no folder is named\n  Name one: --to <folder>.\n' },
    });
    const folder = await newFolder();
    await saveBackup(
      services,
      {
        deployment: 'staging',
        table: async () => ({ name: tableName, takenAt: latest }),
        bucket: workspaceBucket,
      },
      { folder, say: () => undefined },
    );
    const { code, error } = await machine.run(
      restoreCommandWith(() => services),
      ['--from', folder, '--yes'],
    );
    expect(code).toBe(1);
    expect(error).toContain('the backup is of deployment staging, and this is sallyport');
    expect(machine.calls.filter((call) => call.includes('concurrency'))).toEqual([]);
  });
});
