/**
 * `AuditSeals` in a bucket: one object per seal under a prefix of its own, and one for the last seal.
 *
 * Without a locked bucket the seals are in the bucket of the workspaces. With one, seals are written only there, and earlier
 * ones are read from the other bucket, so that the chain continues. Nothing here deletes or replaces a seal. If two are written
 * at once the first one stays, so that the next one follows an existing seal.
 */
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import * as z from 'zod';
import { decodeJson } from '#shared/contracts/decode.ts';
import { type Seal, sealAlgorithm } from '#shared/domain/audit-seal.ts';
import type { AuditSeals } from '#shared/ports/audit-seals.ts';
import { makeWorkspaceBucket, openBucketClient, type WorkspaceBucket } from './workspace-bucket.ts';

const prefix = 'audit/seals/';
/** A head of each session that decided in the time of a seal. */
const sealBytesMax = 32 * 1024 * 1024;
const count = z.number().int().min(0);

const sealSchema: z.ZodType<Seal> = z.object({
  number: count,
  from: count,
  through: count,
  rows: count,
  rowsHash: z.string(),
  heads: z.record(z.string(), z.object({ index: count, hash: z.string() })),
  previous: z.string(),
  root: z.string(),
  at: z.string(),
  keyId: z.string().exactOptional(),
  algorithm: z.literal(sealAlgorithm).exactOptional(),
  signature: z.string().exactOptional(),
});

type SealBucket = Pick<WorkspaceBucket, 'read' | 'write'> & {
  /** Nothing is written where there is one. */
  readonly create: (key: string, bytes: Uint8Array) => Promise<void>;
};

export type SealBuckets = {
  /** Of the workspaces. */
  readonly main: SealBucket;
  /** With Object Lock; absent: the deployment has none. */
  readonly locked?: SealBucket;
};

/**
 * A bucket with Object Lock refuses a write without a checksum, also where the retention is its default: "Content-MD5 OR x-amz-checksum-
 * HTTP header is required for Put Object requests with Object Lock parameters".
 */
export const makeSealBucket = (client: S3Client, Bucket: string): SealBucket => {
  const write = async (Key: string, Body: Uint8Array, condition = {}): Promise<void> => {
    const put = { Bucket, Key, Body, ChecksumAlgorithm: 'SHA256', ...condition } as const;
    await client.send(new PutObjectCommand(put));
  };
  return {
    read: makeWorkspaceBucket(client, Bucket).read,
    write,
    create: (key, bytes) => write(key, bytes, { IfNoneMatch: '*' }).catch(unlessThere),
  };
};

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html */
const unlessThere = (cause: unknown): void => {
  if (!(cause instanceof Error) || cause.name !== 'PreconditionFailed') throw cause;
};

export const openAuditSeals = (main: string, locked: string | undefined): AuditSeals => {
  const client = openBucketClient();
  return makeAuditSeals({
    main: makeSealBucket(client, main),
    ...(locked !== undefined && { locked: makeSealBucket(client, locked) }),
  });
};

export const makeAuditSeals = ({ main, locked }: SealBuckets): AuditSeals => {
  const keyOf = (number: number): string => `${prefix}${String(number).padStart(10, '0')}.json`;
  const last = `${prefix}last.json`;
  const own = locked ?? main;
  const places = locked === undefined ? [main] : [locked, main];
  const read = async (key: string): Promise<Seal | undefined> => {
    const bytes = await firstOf(places, key);
    if (bytes === undefined) return undefined;
    const seal = decodeJson(sealSchema, Buffer.from(bytes).toString());
    if (!seal.ok) throw new Error(`${key} is no seal: ${seal.problem}`);
    return seal.value;
  };
  return {
    last: () => read(last),
    read: (number) => read(keyOf(number)),
    write: async (seal) => {
      const key = keyOf(seal.number);
      await own.create(key, Buffer.from(JSON.stringify(seal)));
      const kept = (await read(key)) ?? seal;
      await own.write(last, Buffer.from(JSON.stringify(kept)));
    },
  };
};

const firstOf = async (places: readonly SealBucket[], key: string): Promise<Uint8Array | undefined> => {
  for (const place of places) {
    const bytes = await place.read(key, sealBytesMax);
    if (bytes !== undefined) return bytes;
  }
  return undefined;
};
