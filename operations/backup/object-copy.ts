/**
 * The objects of a deployment's buckets as files, and back. An object that the folder has with the same ETag is not read again, so a
 * second backup into one folder costs a listing and what is new.
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

/** Every object that the bucket has now, and those that are `kept` although it has them no more. */
export const saveObjects = async (
  { client, bucket, sealBucket }: BucketAt,
  folder: string,
  kept: readonly CopiedObject[] = [],
): Promise<readonly CopiedObject[]> => {
  const known = new Map((await readObjects(folder)).map((object) => [object.key, object]));
  const copied = new Map(kept.map((object) => [object.key, object]));
  const seen = new Set<string>();
  for (const Bucket of sealBucket === undefined ? [bucket] : [sealBucket, bucket])
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket })) {
      const found = Contents.flatMap(({ Key, ETag }) =>
        Key === undefined || seen.has(Key) ? [] : [{ key: Key, etag: ETag ?? '' }],
      );
      for (const { key } of found) seen.add(key);
      await inParallel(found, async ({ key, etag }) => {
        const before = known.get(key);
        const object =
          before?.etag === etag ? before : await saveObject({ client, bucket: Bucket }, folder, key);
        if (object !== undefined) copied.set(key, object);
      });
    }
  const sorted = [...copied.values()].toSorted((one, other) => (one.key < other.key ? -1 : 1));
  const lines = sorted.map((object) => `${JSON.stringify(object)}\n`);
  await writeWhole(join(folder, objectsFile), lines.join(''));
  return sorted;
};

/** Undefined for one that was deleted since it was listed. */
const saveObject = async (
  { client, bucket }: BucketAt,
  folder: string,
  key: string,
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
  return { key, etag: got.ETag ?? '', bytes, sha256: hash.digest('hex'), ...type };
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
  await inParallel(objects, async ({ key, bytes, type }) => {
    const Body = createReadStream(join(folder, pathOfObject(key)));
    const Bucket = key.startsWith(sealPrefix) ? sealBucket : bucket;
    const ContentType = type === undefined ? {} : { ContentType: type };
    // A bucket with Object Lock asks for it; the SDK then sends it behind the bytes.
    const ChecksumAlgorithm = 'SHA256' as const;
    const put = { Bucket, Key: key, Body, ContentLength: bytes, ChecksumAlgorithm, ...ContentType };
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
