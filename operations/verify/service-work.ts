/** Work of the adapters of S3, Secrets Manager, Scheduler and KMS on any implementation: the result of each step, as text. */
import { createHash, verify } from 'node:crypto';
import {
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  S3Client,
} from '@aws-sdk/client-s3';
import { GetScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { makeScheduler } from '#shared/adapters/aws/event-bridge-scheduler.ts';
import { makeSecretBundles } from '#shared/adapters/aws/secret-bundles.ts';
import { makeSecretResolver } from '#shared/adapters/aws/setting-secrets.ts';
import { makeSharedBucket } from '#shared/adapters/aws/shared-bucket.ts';
import { makeWorkspaceBucket } from '#shared/adapters/aws/workspace-bucket.ts';
import type { ScheduleId } from '#shared/domain/schedule/schedule.ts';
import type { SealKey } from '#shared/ports/audit-seals.ts';
import type { Credentials } from '../../local/endpoint/account.ts';

export type Service = { readonly url: string; readonly credentials: Credentials; readonly region: string };
/** By the name of a step: what it gave, or the name of its error. */
export type Seen = Readonly<Record<string, string>>;

export const record = () => {
  const seen: Record<string, string> = {};
  const step = async (name: string, work: () => unknown): Promise<void> => {
    seen[name] = await Promise.resolve().then(work).then(shown, errorOf);
  };
  return { seen: seen as Seen, step };
};

const shown = (value: unknown): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString() : (JSON.stringify(sorted(value)) ?? 'nothing');

/** Fields have no order. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
};

const errorOf = (error: unknown): string => {
  const { name, message, context } = error as Error & { readonly context?: { readonly reason?: string } };
  return `fails: ${context?.reason ?? (name === 'Error' ? message : name)}`;
};

export const optionsOf = ({ url, credentials, region }: Service) => ({
  ...{ endpoint: url, credentials, region, maxAttempts: 1 },
});

export const bucketName = 'sallyport-workspaces';
const partBytes = 8 * 1024 * 1024;
const pageObjects = 1000;

export const objectWork = async (service: Service): Promise<Seen> => {
  const client = new S3Client({
    ...optionsOf(service),
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const { seen, step } = record();
  await plainObjects(client, step);
  await wholeAndInParts(client, step);
  await checkedWrites(client, step);
  client.destroy();
  return seen;
};

type Step = ReturnType<typeof record>['step'];

const plainObjects = async (client: S3Client, step: Step): Promise<void> => {
  const bucket = makeWorkspaceBucket(client, bucketName);
  const range = async (key: string, offset: number, length: number) =>
    Buffer.concat(await Array.fromAsync(bucket.readRange(key, { offset, length }))).toString();
  await step('write', () => bucket.write('k', Buffer.from('hello')));
  await step('read', () => bucket.read('k', 5));
  await step('read what is too large', () => bucket.read('k', 4));
  await step('read nothing', () => bucket.read('missing', 5));
  await step('range inside', () => range('k', 1, 3));
  await step('range over the end', () => range('k', 3, 9));
  await step('range behind the end', () => range('k', 9, 3));
  await step('range of nothing', () => range('missing', 0, 3));
  await step('remove, also what is missing', () => bucket.remove(['k', 'missing']));
  await step('read what was removed', () => bucket.read('k', 5));

  const shared = makeSharedBucket(client, bucketName);
  const odd = 'shared/ä b+c%20&<é>"\'/x~';
  const words = { mode: '33188', path: 'a%20b' };
  await step('put with metadata', () => shared.put(odd, { words, bytes: Buffer.from('shared') }));
  await step('look', () => shared.look(odd));
  await step('look at nothing', () => shared.look('shared/missing'));
  await step('take', async () => {
    const taken = await shared.take(odd, 6);
    return [taken?.words, Buffer.from(taken?.bytes ?? []).toString()];
  });
  await step('take nothing', () => shared.take('shared/missing', 6));
  for (const key of ['shared/B', 'shared/a', 'shared/Z/1', 'shared/é', 'shared/~'])
    await shared.put(key, { words: {}, bytes: Buffer.from('x') });
  const listed = () => Array.fromAsync(shared.list('shared/'));
  await step('list in the order of bytes', listed);
  await step('remove all but one', () => bucket.removeAll('shared/', new Set([odd])));
  await step('list what stayed', listed);
};

const wholeAndInParts = async (client: S3Client, step: Step): Promise<void> => {
  const Bucket = bucketName;
  const bucket = makeWorkspaceBucket(client, Bucket);
  const hashOf = async (key: string, bytes: number) =>
    createHash('sha256')
      .update((await bucket.read(key, bytes)) ?? '')
      .digest('hex');
  const large = Buffer.alloc(partBytes + 5, 'large');
  await step('upload in parts', async () => {
    const upload = bucket.upload('parts/large');
    await upload.append(large);
    await upload.finish();
    return hashOf('parts/large', large.length);
  });
  await step('upload of nothing', async () => {
    await bucket.upload('parts/nothing').finish();
    return bucket.read('parts/nothing', 1);
  });
  await step('abort an upload', async () => {
    const upload = bucket.upload('parts/aborted');
    await upload.append(large);
    await upload.abort();
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
    return [Uploads.length, (await bucket.read('parts/aborted', 1)) ?? 'absent'];
  });
  await step('a page of a listing', async () => {
    for (let at = 0; at < pageObjects + 3; at += 17)
      await Promise.all(
        Array.from({ length: Math.min(17, pageObjects + 3 - at) }, (_, index) =>
          bucket.write(`many/${at + index}`, Buffer.from('x')),
        ),
      );
    const Prefix = 'many/';
    const page = await client.send(new ListObjectsV2Command({ Bucket, Prefix }));
    return [page.KeyCount, page.IsTruncated, page.NextContinuationToken !== undefined];
  });
  await step('remove all of more than a page', async () => {
    await bucket.removeAll('many/');
    return (await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'many/' }))).KeyCount;
  });
};

/** Which writer wins, and what of a body that is not what its request says (A25, A26). */
const checkedWrites = async (client: S3Client, step: Step): Promise<void> => {
  const bucket = makeWorkspaceBucket(client, bucketName);
  const put = async (more: Partial<PutObjectCommandInput>) =>
    (await client.send(new PutObjectCommand({ Bucket: bucketName, Key: 'one', Body: 'new', ...more }))).ETag;
  await step('write if there is none', () => put({ IfNoneMatch: '*', Body: 'first' }));
  await step('write if there is none, again', () => put({ IfNoneMatch: '*' }));
  await step('write over another', () => put({ IfMatch: '"00000000000000000000000000000000"' }));
  await step('write over what is missing', () => put({ Key: 'other', IfMatch: '"0"' }));
  const wrong = createHash('md5').update('else').digest('base64');
  await step('write with a wrong MD5', () => put({ ContentMD5: wrong }));
  const sha = createHash('sha256').update('else').digest('base64');
  await step('write with a wrong SHA-256', () => put({ ChecksumSHA256: sha }));
  await step('what stands then', () => bucket.read('one', 5));
};

export const secretWork = async (service: Service): Promise<Seen> => {
  const client = new SecretsManagerClient(optionsOf(service));
  const bundles = makeSecretBundles({ openClient: async () => client });
  const resolve = makeSecretResolver({ openClient: async () => client, now: Date.now });
  const { seen, step } = record();
  const name = 'sallyport/verify/one/2f0c';
  await step('find nothing', () => bundles.find(name));
  await step('create', () => bundles.create(name, { A: 'ä\n"', B: '' }));
  await step('create again', () => bundles.create(name, { A: 'other' }));
  await step('find', () => bundles.find(name));
  await step('remove', () => bundles.remove(name));
  await step('find what was removed', () => bundles.find(name));
  await step('remove again', () => bundles.remove(name));
  await step('resolve an ARN', async () => {
    const made = await client.send(
      new CreateSecretCommand({ Name: 'sallyport/of-settings', SecretString: 'key' }),
    );
    return resolve(made.ARN ?? '');
  });
  client.destroy();
  return seen;
};

export const scheduleGroup = 'sallyport';
const hourMs = 3_600_000;

export const scheduleWork = async (service: Service): Promise<Seen> => {
  const client = new SchedulerClient(optionsOf(service));
  const scheduler = makeScheduler(client, {
    group: scheduleGroup,
    functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:sallyport-schedules',
    roleArn: 'arn:aws:iam::000000000000:role/sallyport-schedules',
    deadLettersArn: 'arn:aws:sqs:us-east-1:000000000000:sallyport-lost',
  });
  const { seen, step } = record();
  const id = '6f1d2c3b-0000-4000-8000-000000000001' as ScheduleId;
  const runAt = Math.ceil(Date.now() / hourMs) * hourMs + hourMs;
  const get = () =>
    client.send(new GetScheduleCommand({ GroupName: scheduleGroup, Name: `${id}-${runAt / 1000}` }));
  await step('arm', () => scheduler.arm(id, runAt));
  await step('arm again', () => scheduler.arm(id, runAt));
  await step('what is armed', async () => {
    const { $metadata: _, Arn: __, CreationDate: ___, LastModificationDate: ____, ...rest } = await get();
    return rest;
  });
  await step('disarm', () => scheduler.disarm(id, runAt));
  await step('disarm again', () => scheduler.disarm(id, runAt));
  await step('what was disarmed', get);
  client.destroy();
  return seen;
};

/** Signatures differ each time; what counts is that anybody can check them with the public key that is shown. */
export const sealWork = async (key: SealKey): Promise<Seen> => {
  const { seen, step } = record();
  const text = 'a seal of the audit log';
  await step('sign', async () => {
    const [shownKey, signed] = [await key.publicKey(), await key.sign(text)];
    if (shownKey === undefined || signed === undefined) return 'nothing';
    const signature = Buffer.from(signed.signature, 'base64');
    const signs = (bytes: Uint8Array) => verify('sha256', bytes, shownKey.publicKey, signature);
    return {
      algorithm: signed.algorithm,
      isSameKey: signed.keyId === shownKey.keyId,
      signsText: signs(Buffer.from(text)),
      signsDigestOfIt: signs(createHash('sha256').update(text).digest()),
      signsOtherText: signs(Buffer.from('another text')),
    };
  });
  return seen;
};
