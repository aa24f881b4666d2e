/**
 * The objects of a deployment's buckets as files, and back, with their user metadata. An object that the folder has already is not
 * read again, so a second backup into one folder costs a listing and what is new.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GetObjectCommand, PutObjectCommand, paginateListObjectsV2, type S3Client } from '@aws-sdk/client-s3';
import { type CopiedObject, objectsFile, pathOfObject, readObjects, writeWhole } from './folder.ts';

const transfersMax = 16;

export type BucketAt = {
  readonly client: S3Client;
  readonly bucket: string;
  /** With Object Lock: its seals are newer than those of the other. */
  readonly sealBucket?: string;
};

/** Seals are restored into the bucket that locks them, where there is one. */
const sealPrefix = 'audit/seals/';
const lastSeal = `${sealPrefix}last.json`;

/**
 * Entries of shared volumes, as shared/adapters/aws/shared-bucket.ts names them. These alone change under their names, and in their
 * metadata alone as well: a folder, a link or a changed mode has the ETag that it had.
 */
const sharedPrefix = 'shared/';

type Listed = { readonly key: string; readonly etag: string; readonly modifiedAt: number };

const isCurrent = (known: CopiedObject, { key, etag, modifiedAt }: Listed): boolean =>
  known.metadata !== undefined &&
  known.etag === etag &&
  (known.modifiedAt === modifiedAt || !key.startsWith(sharedPrefix));

/**
 * Every object that the bucket has now, and the `kept` ones that it no longer has. Seals are copied the first time alone: a
 * later one holds rows that a table of before it lacks.
 */
export const saveObjects = async (
  { client, bucket, sealBucket }: BucketAt,
  folder: string,
  kept?: readonly CopiedObject[],
): Promise<readonly CopiedObject[]> => {
  const isFirst = kept === undefined;
  const known = new Map((await readObjects(folder)).map((object) => [object.key, object]));
  const copied = new Map(kept?.map((object) => [object.key, object]));
  const seen = new Set<string>();
  for (const Bucket of sealBucket === undefined ? [bucket] : [sealBucket, bucket]) {
    // Before the seals are listed, so that the one it names is among them.
    const last =
      isFirst && !seen.has(lastSeal)
        ? await saveObject({ client, bucket: Bucket }, folder, { key: lastSeal, modifiedAt: 0 })
        : undefined;
    if (last !== undefined) {
      copied.set(lastSeal, last);
      seen.add(lastSeal);
    }
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket })) {
      const found = Contents.flatMap(({ Key, ETag = '', LastModified }) =>
        Key === undefined || seen.has(Key) || (!isFirst && Key.startsWith(sealPrefix))
          ? []
          : [{ key: Key, etag: ETag, modifiedAt: LastModified?.getTime() ?? 0 }],
      );
      for (const { key } of found) seen.add(key);
      await inParallel(found, async (listed) => {
        const before = known.get(listed.key);
        const object =
          before !== undefined && isCurrent(before, listed)
            ? before
            : await saveObject({ client, bucket: Bucket }, folder, listed);
        if (object !== undefined) copied.set(listed.key, object);
      });
    }
  }
  const sorted = [...copied.values()].toSorted((one, other) => (one.key < other.key ? -1 : 1));
  const lines = sorted.map((object) => `${JSON.stringify(object)}\n`);
  await writeWhole(join(folder, objectsFile), lines.join(''));
  return sorted;
};

/** Undefined for one that there is not, or that was deleted since it was listed. */
const saveObject = async (
  { client, bucket }: BucketAt,
  folder: string,
  { key, modifiedAt }: Pick<Listed, 'key' | 'modifiedAt'>,
): Promise<CopiedObject | undefined> => {
  const got = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key })).catch(orDeleted);
  if (got?.Body === undefined) return undefined;
  const path = join(folder, pathOfObject(key));
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const hash = createHash('sha256');
  let bytes = 0;
  const measured = async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  await pipeline(got.Body as Readable, measured, createWriteStream(`${path}.part`, { mode: 0o600 }));
  await rename(`${path}.part`, path);
  const type = got.ContentType === undefined ? {} : { type: got.ContentType };
  const metadata = got.Metadata ?? {};
  return { key, etag: got.ETag ?? '', bytes, sha256: hash.digest('hex'), ...type, modifiedAt, metadata };
};

const orDeleted = (cause: unknown): undefined => {
  if (cause instanceof Error && cause.name === 'NoSuchKey') return undefined;
  throw cause;
};

/** An object that is there already is replaced. */
export const loadObjects = async (
  { client, bucket, sealBucket = bucket }: BucketAt,
  folder: string,
): Promise<readonly CopiedObject[]> => {
  const objects = await readObjects(folder);
  await inParallel(objects, async ({ key, bytes, type, metadata }) => {
    const Body = createReadStream(join(folder, pathOfObject(key)));
    const Bucket = key.startsWith(sealPrefix) ? sealBucket : bucket;
    const described = {
      ...(type !== undefined && { ContentType: type }),
      ...(metadata !== undefined && { Metadata: metadata }),
    };
    // A bucket with Object Lock asks for it; the SDK then sends it behind the bytes.
    const ChecksumAlgorithm = 'SHA256' as const;
    const put = { Bucket, Key: key, Body, ContentLength: bytes, ChecksumAlgorithm, ...described };
    await client.send(new PutObjectCommand(put));
  });
  return objects;
};

const inParallel = async <T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> => {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await run(item);
  };
  await Promise.all(Array.from({ length: transfersMax }, worker));
};
