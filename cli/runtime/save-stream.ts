/** A download into a file: written beside it first, so that one that breaks off leaves what was there. */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { failure } from './failure.ts';

export const saveStream = async (body: ReadableStream<Uint8Array>, target: string): Promise<void> => {
  const partial = `${target}.${process.pid}.part`;
  try {
    await pipeline(
      Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]),
      createWriteStream(partial),
    );
    await rename(partial, target);
  } catch (cause) {
    await rm(partial, { force: true });
    const why = cause instanceof Error ? cause.message : String(cause);
    throw failure('download_failed', `${target} was not written: ${why}`, { cause });
  }
};
