/**
 * A request body, read whole up to a bound.
 *
 * Over the bound the answer is `undefined` and the rest is read and dropped, so that the refusal still
 * reaches a client that only looks for it after it has sent everything. A body whose hash was signed must have it.
 */
import type { IncomingMessage } from 'node:http';
import { AwsError } from './aws-error.ts';
import { sha256 } from './signature.ts';

const signedHashes = new WeakMap<IncomingMessage, string>();

/** The body's hash in a signature: hexadecimal SHA-256. */
export const claimBody = (request: IncomingMessage, hash: string): void => {
  signedHashes.set(request, hash);
};

export const readBody = async (request: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> => {
  const body = await collect(request, bytesMax);
  if (body === undefined) return undefined;
  const hash = signedHashes.get(request);
  if (hash !== undefined && sha256(body) !== hash)
    throw new AwsError(400, 'XAmzContentSHA256Mismatch', {
      message: 'The body is not the one that was signed.',
    });
  return body;
};

/** By events: every call of the table comes through here, and an iterator costs as much as the rest. */
const collect = (request: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= bytesMax) chunks.push(chunk);
    });
    request.once('end', () => resolve(bytes > bytesMax ? undefined : Buffer.concat(chunks, bytes)));
    request.once('error', reject);
    request.once('close', () => reject(new Error('the request broke off')));
  });
