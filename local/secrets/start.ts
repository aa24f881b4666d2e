/**
 * Secrets Manager on one machine: secrets that are made whole, read and deleted for good, for the real
 * `@aws-sdk/client-secrets-manager`.
 *
 * Versions, rotation and recovery are refused by name. Nothing it answers or throws repeats a value, except the answer
 * to the one request for it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AwsError } from '../endpoint/aws-error.ts';
import { type Credentials, type Keys, makeKeys } from '../endpoint/keys.ts';
import { listenSigned } from '../endpoint/listen.ts';
import { readBody } from '../endpoint/request-body.ts';
import { operations } from './operations.ts';
import { openSecretFiles } from './secret-files.ts';
import { openSecretRegistry, type SecretRegistry } from './secret-registry.ts';

export type SecretsManagerOptions = {
  readonly folder: string;
  /** How long a new secret is not found yet. */
  readonly unseenMs?: number;
  /** How long the name of a deleted secret is taken. */
  readonly leavingMs?: number;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  readonly keys?: Keys;
};

export type SecretsManagerEndpoint = {
  readonly url: string;
  readonly credentials: Credentials;
  readonly stop: () => Promise<void>;
};

const bodyBytesMax = 512 * 1024;
const targetPrefix = 'secretsmanager.';
const defaultLeavingMs = 1000;

export const start = async ({
  folder,
  unseenMs = 0,
  leavingMs = defaultLeavingMs,
  now = Date.now,
  keys = makeKeys(),
}: SecretsManagerOptions): Promise<SecretsManagerEndpoint> => {
  const registry = openSecretRegistry(await openSecretFiles(folder), { unseenMs, leavingMs, now });
  const server = await listenSigned((request, response) => answer(registry, request, response), { keys });
  return { url: server.url, credentials: keys.issue('local'), stop: server.stop };
};

const answer = async (
  registry: SecretRegistry,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const target = String(request.headers['x-amz-target'] ?? '');
  const name = target.startsWith(targetPrefix) ? target.slice(targetPrefix.length) : '';
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (operation === undefined)
    throw new AwsError(400, 'UnknownOperationException', { message: `there is no ${target} here` });
  const body = await readBody(request, bodyBytesMax);
  if (body === undefined)
    throw new AwsError(413, 'InvalidRequestException', { message: 'the request is too large' });
  const result = await operation(registry, inputOf(body.toString()));
  response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(result));
};

/** The words of the parser show a piece of the text. */
const inputOf = (text: string) => {
  try {
    return JSON.parse(text);
  } catch {
    throw new AwsError(400, 'SerializationException', { message: 'the request is not JSON' });
  }
};
