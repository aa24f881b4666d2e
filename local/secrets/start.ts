/**
 * Secrets Manager on one machine: secrets that are made whole, read and deleted for good, for the real
 * `@aws-sdk/client-secrets-manager`.
 *
 * Signatures are not checked, so it binds loopback only. Versions, rotation and recovery are refused by name. Nothing
 * it answers or throws repeats a value, except the answer to who asked for it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AwsError, answerError, refuseUnsigned } from '../endpoint/aws-error.ts';
import { listen } from '../endpoint/listen.ts';
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
};

export type SecretsManagerEndpoint = { readonly url: string; readonly stop: () => Promise<void> };

const bodyBytesMax = 512 * 1024;
const targetPrefix = 'secretsmanager.';
const defaultLeavingMs = 1000;

export const start = async ({
  folder,
  unseenMs = 0,
  leavingMs = defaultLeavingMs,
  now = Date.now,
}: SecretsManagerOptions): Promise<SecretsManagerEndpoint> => {
  const registry = openSecretRegistry(await openSecretFiles(folder), { unseenMs, leavingMs, now });
  const server = await listen((request, response) =>
    answerError(response, () => answer(registry, request, response)),
  );
  return { url: server.url, stop: server.stop };
};

const answer = async (
  registry: SecretRegistry,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  refuseUnsigned(request);
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
