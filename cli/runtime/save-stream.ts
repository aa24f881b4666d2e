/**
 * A download into a file: written beside it first, so that one that breaks off or is interrupted leaves what was there, and nothing
 * else.
 */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { abortable } from './abort.ts';
import { failure } from './failure.ts';
import type { Host } from './host.ts';

export const saveStream = async (
  host: Host,
  body: ReadableStream<Uint8Array>,
  target: string,
): Promise<void> => {
  const partial = `${target}.${process.pid}.part`;
  const { signal, release } = abortable(host, `${target} was not written`);
  try {
    const input = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
    await pipeline(input, createWriteStream(partial), { signal });
    await rename(partial, target);
  } catch (cause) {
    await rm(partial, { force: true });
    signal.throwIfAborted();
    const why = cause instanceof Error ? cause.message : String(cause);
    throw failure('download_failed', `${target} was not written: ${why}`, { cause });
  } finally {
    release();
  }
};
