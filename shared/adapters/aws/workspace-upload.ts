/**
 * One object written as its bytes come: a single PUT when it is small, parts when it is not, nothing at all when
 * no byte came. It holds at most four parts in memory, and leaves nothing behind when it is aborted.
 */
import { randomUUID } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';

export type Upload = {
  /** Copies the bytes; waits while too many parts are being sent. */
  readonly append: (bytes: Uint8Array) => Promise<void>;
  /** The object exists from here on, unless nothing was appended. */
  readonly finish: () => Promise<void>;
  /** May follow anything, also a `finish` that failed. */
  readonly abort: () => Promise<void>;
};

/** Parts but the last have at least 5 MB (https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html). */
const partBytes = 8 * 1024 * 1024;
const partsOnTheirWayMax = 3;
/** Metadata by which an object is known to come from one upload and no other. */
const uploadMark = 'upload';

type ObjectRef = { readonly Bucket: string; readonly Key: string };
type Begun = ObjectRef & { readonly Metadata?: Record<string, string> };

/** S3 takes the metadata of an object when its upload begins. */
export const openUpload = (client: S3Client, begun: Begun): Upload => {
  const { Bucket, Key } = begun;
  const parts = openParts(client, { Bucket, Key }, begun);
  const spare: Buffer[] = [];
  let buffer: Buffer | undefined;
  let filled = 0;
  const send = async (): Promise<void> => {
    const full = buffer ?? Buffer.alloc(0);
    buffer = undefined;
    await parts.send(full.subarray(0, filled), () => spare.push(full));
    filled = 0;
  };
  return {
    append: async (bytes) => {
      let rest = bytes;
      while (rest.length > 0) {
        buffer ??= spare.pop() ?? Buffer.allocUnsafeSlow(partBytes);
        const piece = rest.subarray(0, partBytes - filled);
        buffer.set(piece, filled);
        filled += piece.length;
        rest = rest.subarray(piece.length);
        if (filled === partBytes) await send();
      }
    },
    finish: async () => {
      if (parts.isBegun()) {
        if (filled > 0) await send();
        await parts.complete();
      } else if (buffer !== undefined) {
        await client.send(new PutObjectCommand({ ...begun, Body: buffer.subarray(0, filled) }));
      }
    },
    abort: parts.abort,
  };
};

const openParts = (client: S3Client, ref: ObjectRef, first: Begun) => {
  const running = new Set<Promise<void>>();
  const completed: CompletedPart[] = [];
  let begun: Promise<string | undefined> | undefined;
  let failure: { readonly cause: unknown } | undefined;
  let count = 0;
  const mark = randomUUID();

  const begin = async () => {
    const Metadata = { ...first.Metadata, [uploadMark]: mark };
    return (await client.send(new CreateMultipartUploadCommand({ ...first, Metadata }))).UploadId;
  };
  const put = async (Body: Uint8Array, PartNumber: number): Promise<void> => {
    begun ??= begin();
    const UploadId = await begun;
    const part = new UploadPartCommand({ ...ref, UploadId, PartNumber, Body });
    const { ETag } = await client.send(part);
    completed.push({ PartNumber, ETag });
  };
  const throwFailure = (): void => {
    if (failure !== undefined) throw failure.cause;
  };
  /** A request whose answer was lost may have been carried out: the repeated one then finds no upload, but the object is there. */
  const unlessCompleted = async (cause: unknown): Promise<void> => {
    if (!isNoUpload(cause)) throw cause;
    const found = await client.send(new HeadObjectCommand(ref)).catch(() => undefined);
    if (found?.Metadata?.[uploadMark] !== mark) throw cause;
  };
  return {
    isBegun: () => begun !== undefined,
    /** Resolves while the part is still being sent; a later call throws its failure. */
    send: async (bytes: Uint8Array, onSent: () => void): Promise<void> => {
      while (running.size >= partsOnTheirWayMax) await Promise.race(running);
      throwFailure();
      count += 1;
      const sending = put(bytes, count)
        .then(onSent, (cause: unknown) => {
          failure ??= { cause };
        })
        .finally(() => running.delete(sending));
      running.add(sending);
    },
    complete: async (): Promise<void> => {
      await Promise.all(running);
      throwFailure();
      const Parts = completed.toSorted((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0));
      const UploadId = await begun;
      await client
        .send(new CompleteMultipartUploadCommand({ ...ref, UploadId, MultipartUpload: { Parts } }))
        .catch(unlessCompleted);
    },
    /** After all parts in flight: one that arrives after the abort would stay. */
    abort: async (): Promise<void> => {
      await Promise.all(running);
      const UploadId = await begun?.catch(() => undefined);
      if (UploadId === undefined) return;
      await client.send(new AbortMultipartUploadCommand({ ...ref, UploadId })).catch(ignoreNotFound);
    },
  };
};

const ignoreNotFound = (cause: unknown): void => {
  if (!isNoUpload(cause)) throw cause;
};

const isNoUpload = (cause: unknown): boolean => cause instanceof Error && cause.name === 'NoSuchUpload';
