/** Seals under Object Lock, against the embedded S3: they are written into such a bucket, found in both, and kept from a removal. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  PutObjectLockConfigurationCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeAuditSeals, makeSealBucket } from '#shared/adapters/aws/audit-seals.ts';
import type { Seal } from '#shared/domain/audit-seal.ts';
import type { Endpoint } from '../../local/endpoint/listen.ts';
import { start } from '../../local/s3/start.ts';
import { makeFolder } from '../../operations/backup/folder.ts';
import { loadObjects, saveObjects } from '../../operations/backup/object-copy.ts';

const [main, locked] = ['workspaces', 'seals'];
const days = 30;
let folder: string;
let endpoint: Endpoint;
let client: S3Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-seals-'));
  endpoint = await start({ folder, buckets: [main, 'restored'] });
  client = openClient();
  await client.send(new CreateBucketCommand({ Bucket: locked, ObjectLockEnabledForBucket: true }));
  await client.send(
    new PutObjectLockConfigurationCommand({
      Bucket: locked,
      ObjectLockConfiguration: {
        ObjectLockEnabled: 'Enabled',
        Rule: { DefaultRetention: { Mode: 'GOVERNANCE', Days: days } },
      },
    }),
  );
});
/** As the functions open it: only what asks for a checksum has one. */
const openClient = () =>
  new S3Client({
    ...{ endpoint: endpoint.url, region: 'us-east-1', credentials: endpoint.credentials },
    ...{ forcePathStyle: true, maxAttempts: 1, requestChecksumCalculation: 'WHEN_REQUIRED' },
  });

afterAll(async () => {
  client.destroy();
  await endpoint.stop();
  await rm(folder, { recursive: true, force: true });
});

const sealOf = (number: number): Seal => ({
  ...{ number, from: number - 1, through: number, rows: 1, rowsHash: 'a', heads: {}, previous: 'b' },
  ...{ root: `root ${number}`, at: '2026-01-01T00:00:00.000Z' },
});

const mainOnly = () => makeAuditSeals({ main: makeSealBucket(client, main) });
const both = () =>
  makeAuditSeals({ main: makeSealBucket(client, main), locked: makeSealBucket(client, locked) });

const versionsOf = async (Prefix: string) => {
  const { Versions = [] } = await client.send(new ListObjectVersionsCommand({ Bucket: locked, Prefix }));
  return Versions;
};

test('a chain goes on in the locked bucket from its last seal in the main one, and all of it is read', async () => {
  await mainOnly().write(sealOf(1));
  const seals = both();
  expect((await seals.last())?.number).toBe(1);
  await seals.write(sealOf(2));
  expect((await seals.last())?.number).toBe(2);
  expect([await seals.read(1), await seals.read(2), await seals.read(3)]).toEqual([
    sealOf(1),
    sealOf(2),
    undefined,
  ]);
  expect((await mainOnly().last())?.number).toBe(1);
  expect(await versionsOf('audit/seals/')).toHaveLength(2);
});

test('a write without a checksum is refused, as AWS refuses it', async () => {
  const write = client.send(new PutObjectCommand({ Bucket: locked, Key: 'k', Body: Buffer.from('x') }));
  await expect(write).rejects.toMatchObject({ name: 'InvalidRequest' });
});

test('a removal hides a seal and loses nothing; its version is kept from whoever does not bypass the lock', async () => {
  const seals = both();
  await seals.write(sealOf(7));
  const Key = 'audit/seals/0000000007.json';
  await client.send(new DeleteObjectCommand({ Bucket: locked, Key }));
  expect(await seals.read(7)).toBeUndefined();
  const [version] = await versionsOf(Key);
  const VersionId = version?.VersionId;
  const remove = (more: object = {}) =>
    client.send(new DeleteObjectCommand({ Bucket: locked, Key, VersionId, ...more }));
  await expect(remove()).rejects.toMatchObject({ name: 'AccessDenied' });
  expect(await versionsOf(Key)).toHaveLength(1);
  await remove({ BypassGovernanceRetention: true });
  expect(await versionsOf(Key)).toEqual([]);
});

test('of two seals of one number the first one stays, and is the last of the chain', async () => {
  const seals = both();
  await seals.write(sealOf(8));
  await seals.write({ ...sealOf(8), root: 'another' });
  expect([await seals.read(8), await seals.last()]).toEqual([sealOf(8), sealOf(8)]);
  expect(await versionsOf('audit/seals/0000000008.json')).toHaveLength(1);
});

test('however the writes of two janitors alternate, the last seal is the one of its number', async () => {
  const bucket = makeSealBucket(client, main);
  for (const [index, order] of ['aabb', 'abab', 'abba', 'baab'].entries()) {
    const number = 20 + index;
    const turns = takingTurns(order);
    await Promise.all(
      ['a', 'b'].map((root) => {
        const slow =
          <T>(act: (key: string, bytes: Uint8Array) => Promise<T>) =>
          (key: string, bytes: Uint8Array): Promise<T> =>
            turns(root, () => act(key, bytes));
        const own = { ...bucket, write: slow(bucket.write), create: slow(bucket.create) };
        return makeAuditSeals({ main: own }).write({ ...sealOf(number), root });
      }),
    );
    const seals = mainOnly();
    expect(await seals.last(), order).toEqual(await seals.read(number));
  }
});

/** Each write waits for its letter. */
const takingTurns = (order: string) => {
  let [at, passed] = [0, Promise.withResolvers<void>()];
  return async <T>(name: string, act: () => Promise<T>): Promise<T> => {
    while (order[at] !== name) await passed.promise;
    const result = await act();
    const { resolve } = passed;
    [at, passed] = [at + 1, Promise.withResolvers<void>()];
    resolve();
    return result;
  };
};

test('a backup has the seals of both buckets, and a restore writes them under the lock', async () => {
  const seals = both();
  await mainOnly().write(sealOf(1));
  await seals.write(sealOf(9));
  const copy = await mkdtemp(join(tmpdir(), 'sallyport-seal-copy-'));
  await makeFolder(copy);
  const at = { client, bucket: main, sealBucket: locked };
  const saved = await saveObjects(at, copy);
  const keys = saved.map(({ key }) => key);
  expect(keys).toEqual([...new Set(keys)]);
  expect(keys).toEqual(
    expect.arrayContaining([
      'audit/seals/0000000001.json',
      'audit/seals/0000000009.json',
      'audit/seals/last.json',
    ]),
  );
  await seals.write(sealOf(10));
  await loadObjects(at, copy);
  await rm(copy, { recursive: true });
  expect((await seals.last())?.number).toBe(9);
  expect((await mainOnly().last())?.number).toBe(1);
  expect(await versionsOf('audit/seals/0000000001.json')).toHaveLength(1);
});

test('a backup has the seals of before its table, and the last one is among them', async () => {
  const copy = await mkdtemp(join(tmpdir(), 'sallyport-seal-copy-'));
  await makeFolder(copy);
  const slow = openClient();
  const seals = both();
  await seals.write(sealOf(100));
  let made = 100;
  const makeSeal = async (): Promise<void> => {
    made += 1;
    await seals.write(sealOf(made));
  };
  // A seal is made behind each listing.
  slow.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args);
        if (commandName === 'ListObjectsV2Command') await makeSeal();
        return result;
      },
    { step: 'initialize' },
  );
  const at = { client: slow, bucket: main, sealBucket: locked };
  const first = await saveObjects(at, copy);
  await makeSeal();
  const saved = await saveObjects(at, copy, first);
  const numbers = saved.flatMap(({ key }) => Number(/seals.(\d+)/.exec(key)?.[1] ?? []));
  await loadObjects({ client, bucket: 'restored' }, copy);
  await rm(copy, { recursive: true });
  slow.destroy();
  const restored = makeAuditSeals({ main: makeSealBucket(client, 'restored') });
  expect([Math.max(...numbers), (await restored.last())?.number]).toEqual([100, 100]);
  expect(await restored.read(100)).toEqual(sealOf(100));
});
