/**
 * Objects of shared volumes: each with metadata, listed, inspected, and read whole within a bound.
 *
 * A missing object is an answer, every other failure throws. Ranges, parts and deletions are those of the
 * workspace bucket.
 */
import {
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3';
import { makeWorkspaceBucket, type WorkspaceBucket } from './workspace-bucket.ts';
import { openUpload, type Upload } from './workspace-upload.ts';

/** At most 2 KB of ASCII in all (https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html). */
export type Words = Readonly<Record<string, string>>;

export type SharedBucket = Pick<WorkspaceBucket, 'readRange' | 'remove'> & {
  readonly put: (key: string, object: { readonly words: Words; readonly bytes: Uint8Array }) => Promise<void>;
  readonly upload: (key: string, words: Words) => Upload;
  readonly look: (key: string) => Promise<{ readonly words: Words; readonly size: number } | undefined>;
  /** Throws over the bound. */
  readonly take: (
    key: string,
    bytesMax: number,
  ) => Promise<{ readonly words: Words; readonly bytes: Uint8Array } | undefined>;
  /** In the order of their keys. */
  readonly list: (prefix: string) => AsyncIterable<{ readonly key: string; readonly size: number }>;
};

/** The prefix of everything that sandboxes of this owner share. No owner's name reaches into another's folder. */
export const sharedPrefix = (owner: string): string =>
  `shared/${encodeURIComponent(owner).replaceAll('.', '%2E')}/`;

export const makeSharedBucket = (client: S3Client, Bucket: string): SharedBucket => {
  const { readRange, remove } = makeWorkspaceBucket(client, Bucket);
  return {
    readRange,
    remove,
    put: async (Key, { words, bytes }) => {
      await client.send(new PutObjectCommand({ Bucket, Key, Body: bytes, Metadata: words }));
    },
    upload: (Key, words) => openUpload(client, { Bucket, Key, Metadata: words }),
    look: async (Key) => {
      const found = await client.send(new HeadObjectCommand({ Bucket, Key })).catch(orNothing);
      return found && { words: found.Metadata ?? {}, size: found.ContentLength ?? 0 };
    },
    take: async (Key, bytesMax) => {
      const got = await client.send(new GetObjectCommand({ Bucket, Key })).catch(orNothing);
      if (got?.Body === undefined) return undefined;
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of got.Body as AsyncIterable<Uint8Array>) {
        bytes += chunk.length;
        if (bytes > bytesMax) throw new Error(`${Key} has more than ${bytesMax} bytes`);
        chunks.push(chunk);
      }
      return { words: got.Metadata ?? {}, bytes: Buffer.concat(chunks) };
    },
    list: async function* (Prefix) {
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket, Prefix }))
        for (const { Key, Size = 0 } of Contents) if (Key !== undefined) yield { key: Key, size: Size };
    },
  };
};

/** The answer to HEAD has no body that could name the reason. */
const orNothing = (cause: unknown): undefined => {
  if (cause instanceof Error && ['NoSuchKey', 'NotFound'].includes(cause.name)) return undefined;
  throw cause;
};
