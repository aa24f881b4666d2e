/**
 * Requests and responses of an endpoint: a body read complete up to a bound, a response written at the pace of its
 * reader, and a refusal as AWS sends it.
 */

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sha256 } from './signature.ts';

type ErrorDetails = Readonly<Record<string, string | readonly string[]>>;

export class AwsError extends Error {
  readonly status: number;
  readonly details: ErrorDetails;

  /** A text is the `message` of the details. */
  constructor(status: number, name: string, about: string | ErrorDetails = {}) {
    const details: ErrorDetails = typeof about === 'string' ? { message: about } : about;
    super(String(details['message'] ?? details['Message'] ?? name));
    this.name = name;
    this.status = status;
    this.details = details;
  }
}

/** Writes a refusal in the form of the service. */
export type WriteError = (request: IncomingMessage, response: ServerResponse, error: AwsError) => void;

export const writeJsonError: WriteError = (_request, response, { status, name, details }) => {
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': name });
  response.end(Object.keys(details).length === 0 ? '' : JSON.stringify(details));
};

const signedHashes = new WeakMap<IncomingMessage, string>();

/** Records the hash that the signature claims for the body: hexadecimal SHA-256. */
export const claimBody = (request: IncomingMessage, hash: string): void => {
  signedHashes.set(request, hash);
};

/**
 * Reads a body. Over the bound the result is `undefined` and the rest is read and dropped, so that the refusal still
 * reaches a client that reads it only after it has sent everything. A body whose hash was signed must have that hash.
 */
export const readBody = async (request: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> => {
  const body = await collect(request, bytesMax);
  if (body === undefined) return undefined;
  const hash = signedHashes.get(request);
  if (hash !== undefined && sha256(body) !== hash)
    throw new AwsError(400, 'XAmzContentSHA256Mismatch', 'The body does not match its signed hash.');
  return body;
};

/** Undefined for text that is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Uses events, since every call of the table is read here and an iterator would double the cost. */
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
    request.once('close', () => reject(new Error('the request was interrupted')));
  });

/** Writes a piece and waits until there is room for the next. It does not wait for a client that has disconnected. */
export const writePaced = async (response: ServerResponse, bytes: Uint8Array): Promise<void> => {
  if (response.destroyed || bytes.length === 0 || response.write(bytes)) return;
  const settled = new AbortController();
  const events = ['drain', 'close'].map((event) => once(response, event, { signal: settled.signal }));
  await Promise.race(events).finally(() => settled.abort());
};
