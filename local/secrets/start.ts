/**
 * Secrets Manager on one machine: secrets that are created, read and deleted for good, for the real
 * `@aws-sdk/client-secrets-manager`.
 *
 * Versions, rotation and recovery are refused by name. No answer and no error contains a value, except the answer to
 * GetSecretValue.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Credentials, type Keys, makeKeys } from '../endpoint/account.ts';
import { AwsError } from '../endpoint/aws-error.ts';
import { readBody } from '../endpoint/http-body.ts';
import { listenSigned } from '../endpoint/listen.ts';
import { openRecordFiles } from '../endpoint/record-files.ts';
import { operations } from './operations.ts';
import { openSecretRegistry, type SecretRegistry, type StoredSecret } from './secret-registry.ts';

export type SecretsManagerOptions = {
  readonly folder: string;
  /** The time in which a new secret is not found yet. */
  readonly invisibleMs?: number;
  /** The time in which the name of a deleted secret cannot be used again. */
  readonly deletionMs?: number;
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
const defaultDeletionMs = 1000;

export const start = async ({
  folder,
  invisibleMs = 0,
  deletionMs = defaultDeletionMs,
  now = Date.now,
  keys = makeKeys(),
}: SecretsManagerOptions): Promise<SecretsManagerEndpoint> => {
  const registry = openSecretRegistry(await openRecordFiles<StoredSecret>(folder), {
    invisibleMs,
    deletionMs,
    now,
  });
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
    throw new AwsError(400, 'UnknownOperationException', { message: `unknown operation: ${target}` });
  const body = await readBody(request, bodyBytesMax);
  if (body === undefined)
    throw new AwsError(413, 'InvalidRequestException', { message: 'the request is too large' });
  const result = await operation(registry, inputOf(body.toString()));
  response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(result));
};

/** The parser's own message would repeat a part of the text. */
const inputOf = (text: string) => {
  try {
    return JSON.parse(text);
  } catch {
    throw new AwsError(400, 'SerializationException', { message: 'the request is not JSON' });
  }
};
