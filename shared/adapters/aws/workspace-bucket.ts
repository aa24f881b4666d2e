/**
 * Objects of the workspace bucket: read by ranges, written in parts, deleted in pages.
 *
 * An object appears whole or not at all, and an upload holds a few parts in memory however long it is. A range
 * that breaks is continued where it broke; a missing object is an answer, every other failure throws.
 */
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { openUpload, type Upload } from './workspace-upload.ts';

export type ByteRange = { readonly offset: number; readonly length: number };

export type WorkspaceBucket = {
  /** `undefined` when there is none; throws over the bound. */
  readonly read: (key: string, bytesMax: number) => Promise<Uint8Array | undefined>;
  /** Ends early when the object is missing or shorter. */
  readonly readRange: (key: string, range: ByteRange) => AsyncIterable<Uint8Array>;
  readonly write: (key: string, bytes: Uint8Array) => Promise<void>;
  readonly upload: (key: string) => Upload;
  /** A missing object is no failure. */
  readonly remove: (keys: readonly string[]) => Promise<void>;
  /** All objects of a prefix but those of these keys. */
  readonly removeAll: (prefix: string, kept?: ReadonlySet<string>) => Promise<void>;
};

/** The SDK waits between them. */
const attemptsMax = 4;
const connectMsMax = 3000;
/** After this time without any traffic a connection is closed, and its request is repeated. */
const silenceMsMax = 60_000;
/** Attempts to continue one range without progress. */
const fruitlessTriesMax = 3;
/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html */
const deletedKeysMax = 1000;

export const openBucketClient = (): S3Client =>
  new S3Client({
    maxAttempts: attemptsMax,
    requestHandler: { connectionTimeout: connectMsMax, socketTimeout: silenceMsMax },
    // The embedded cloud has one host name for all buckets; AWS understands both.
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });

export const openWorkspaceBucket = (name: string): WorkspaceBucket =>
  makeWorkspaceBucket(openBucketClient(), name);

export const makeWorkspaceBucket = (client: S3Client, Bucket: string): WorkspaceBucket => {
  const remove = async (keys: readonly string[]): Promise<void> => {
    for (let start = 0; start < keys.length; start += deletedKeysMax) {
      const Objects = keys.slice(start, start + deletedKeysMax).map((Key) => ({ Key }));
      const { Errors = [] } = await client.send(
        new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }),
      );
      if (Errors.length > 0) throw new Error(`${Errors.length} objects stayed: ${Errors[0]?.Code}`);
    }
  };
  return {
    read: async (Key, bytesMax) => {
      const got = await client.send(new GetObjectCommand({ Bucket, Key })).catch(orNothing);
      if (got?.Body === undefined) return undefined;
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of got.Body as AsyncIterable<Uint8Array>) {
        bytes += chunk.length;
        if (bytes > bytesMax) throw new Error(`${Key} has more than ${bytesMax} bytes`);
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    },
    readRange: (key, range) => continued({ client, Bucket, key }, range),
    write: async (Key, Body) => {
      await client.send(new PutObjectCommand({ Bucket, Key, Body }));
    },
    upload: (Key) => openUpload(client, { Bucket, Key }),
    remove,
    removeAll: async (Prefix, kept = new Set()) => {
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix })) {
        await remove(Contents.flatMap(({ Key }) => (Key === undefined || kept.has(Key) ? [] : [Key])));
      }
    },
  };
};

type Source = { readonly client: S3Client; readonly Bucket: string; readonly key: string };

async function* continued(source: Source, range: ByteRange): AsyncGenerator<Uint8Array> {
  let { offset, length } = range;
  for (let fruitless = 0; length > 0; fruitless += 1) {
    try {
      for await (const chunk of await openRange(source, { offset, length })) {
        offset += chunk.length;
        length -= chunk.length;
        fruitless = 0;
        yield chunk;
      }
      return;
    } catch (cause) {
      if (fruitless === fruitlessTriesMax) throw cause;
    }
  }
}

const openRange = async (
  { client, Bucket, key: Key }: Source,
  { offset, length }: ByteRange,
): Promise<AsyncIterable<Uint8Array>> => {
  const Range = `bytes=${offset}-${offset + length - 1}`;
  const got = await client.send(new GetObjectCommand({ Bucket, Key, Range })).catch(orNothing);
  return (got?.Body as AsyncIterable<Uint8Array> | undefined) ?? nothing();
};

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** The object is missing, or ends before the range begins. */
const orNothing = (cause: unknown): undefined => {
  if (cause instanceof Error && ['NoSuchKey', 'InvalidRange'].includes(cause.name)) return undefined;
  throw cause;
};
