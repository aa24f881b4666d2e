/**
 * Secrets Manager on one machine: secrets that are created, replaced, read, listed and deleted for good, for the
 * real `@aws-sdk/client-secrets-manager`.
 *
 * Older versions, rotation and recovery are refused by name. No answer and no error contains a value, except the answer to
 * GetSecretValue.
 */

import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  CreateSecretCommandInput,
  DeleteSecretCommandInput,
  GetSecretValueCommandInput,
  ListSecretsCommandInput,
  PutSecretValueCommandInput,
} from '@aws-sdk/client-secrets-manager';
import { accountId, type Keys, region } from '../endpoint/account.ts';
import { AwsError, parseJson, readBody } from '../endpoint/http-messages.ts';
import { type Endpoint, listenSigned } from '../endpoint/listen.ts';
import { holdRecords, openRecordFiles, type RecordFiles } from '../endpoint/record-files.ts';

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

const bodyBytesMax = 512 * 1024;
const targetPrefix = 'secretsmanager.';
const defaultDeletionMs = 1000;

export const start = async ({
  folder,
  invisibleMs = 0,
  deletionMs = defaultDeletionMs,
  now = Date.now,
  keys,
}: SecretsManagerOptions): Promise<Endpoint> => {
  const registry = openSecretRegistry(await openRecordFiles<StoredSecret>(folder), {
    invisibleMs,
    deletionMs,
    now,
  });
  return listenSigned((request, response) => answer(registry, request, response), { keys });
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
    throw new AwsError(400, 'UnknownOperationException', `unknown operation: ${target}`);
  const body = await readBody(request, bodyBytesMax);
  if (body === undefined) throw new AwsError(413, 'InvalidRequestException', 'the request is too large');
  const input = parseJson(body.toString());
  // The parser's own message would repeat a part of the text.
  if (input === undefined) throw refusal('SerializationException', 'the request is not JSON');
  const result = await operation(registry, input as Input);
  response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(result));
};

/** The input is the request's JSON, as the SDK wrote it. */
type Operation = (registry: SecretRegistry, input: Input) => unknown;

type Input = CreateSecretCommandInput &
  GetSecretValueCommandInput &
  DeleteSecretCommandInput &
  ListSecretsCommandInput &
  PutSecretValueCommandInput;

/** https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html */
const nameSyntax = /^[A-Za-z0-9/_+=.@-]{1,512}$/;
const tokenSyntax = /^.{32,64}$/;
const textBytesMax = 65_536;

const refusal = (name: string, message: string): AwsError => new AwsError(400, name, message);
const notFound = (): AwsError =>
  refusal('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");

const createSecret = async (
  registry: SecretRegistry,
  { Name = '', SecretString, ClientRequestToken }: CreateSecretCommandInput,
) => {
  if (!nameSyntax.test(Name)) throw refusal('ValidationException', 'Invalid name.');
  if (ClientRequestToken !== undefined && !tokenSyntax.test(ClientRequestToken))
    throw refusal('ValidationException', 'Invalid ClientRequestToken.');
  const text = textOf(SecretString);
  const existing = registry.existing(Name);
  // Created before with the same token: a retry gets the first answer.
  if (existing?.versionId === ClientRequestToken && existing?.text === text) return summaryOf(existing);
  if (existing !== undefined)
    throw refusal('ResourceExistsException', 'The operation failed because the secret already exists.');
  if (registry.isBeingDeleted(Name))
    throw refusal(
      'InvalidRequestException',
      "You can't create this secret because a secret with this name is already scheduled for deletion.",
    );
  return summaryOf(await registry.create(Name, text, ClientRequestToken));
};

const textOf = (text: string | undefined): string => {
  if (text === undefined || text === '')
    throw refusal('InvalidParameterException', 'Only secrets with a SecretString are implemented here.');
  if (Buffer.byteLength(text) > textBytesMax)
    throw refusal('ValidationException', `SecretString has more than ${textBytesMax} bytes.`);
  return text;
};

const getSecretValue = (
  registry: SecretRegistry,
  { SecretId = '', VersionId, VersionStage = 'AWSCURRENT' }: GetSecretValueCommandInput,
) => {
  const secret = registry.find(SecretId);
  if (secret === undefined) throw notFound();
  if (VersionStage !== 'AWSCURRENT' || (VersionId !== undefined && VersionId !== secret.versionId))
    throw notFound();
  return {
    ...summaryOf(secret),
    SecretString: secret.text,
    VersionStages: ['AWSCURRENT'],
    CreatedDate: secret.createdAt / 1000,
  };
};

/** The version before is not kept. */
const putSecretValue = async (
  registry: SecretRegistry,
  { SecretId = '', SecretString, ClientRequestToken }: PutSecretValueCommandInput,
) => {
  const secret = registry.find(SecretId);
  if (secret === undefined) throw notFound();
  return summaryOf(await registry.replace(secret, textOf(SecretString), ClientRequestToken));
};

/** A forced deletion of a missing secret succeeds; its ARN is then not known. */
const deleteSecret = async (
  registry: SecretRegistry,
  { SecretId = '', ForceDeleteWithoutRecovery }: DeleteSecretCommandInput,
) => {
  if (ForceDeleteWithoutRecovery !== true)
    throw refusal('InvalidParameterException', 'Only ForceDeleteWithoutRecovery is implemented here.');
  const secret = registry.existing(SecretId) ?? registry.find(SecretId);
  if (secret !== undefined) await registry.remove(secret);
  const { ARN, Name } = secret === undefined ? { ARN: SecretId, Name: SecretId } : summaryOf(secret);
  return { ARN, Name, DeletionDate: Date.now() / 1000 };
};

/** All in one page. The service takes a name's beginning without regard to case. */
const listSecrets = (registry: SecretRegistry, { Filters = [] }: ListSecretsCommandInput) => {
  const prefixes = Filters.flatMap(({ Key, Values = [] }) => {
    if (Key !== 'name')
      throw refusal('InvalidParameterException', 'Only the filter name is implemented here.');
    return [Values.map((value) => value.toLowerCase())];
  });
  const isWanted = ({ name }: StoredSecret): boolean =>
    prefixes.every((values) => values.some((value) => name.toLowerCase().startsWith(value)));
  return { SecretList: registry.all().filter(isWanted).map(summaryOf) };
};

const summaryOf = ({ arn, name, versionId }: StoredSecret) => ({
  ARN: arn,
  Name: name,
  VersionId: versionId,
});

const operations: Readonly<Record<string, Operation>> = {
  CreateSecret: createSecret,
  GetSecretValue: getSecretValue,
  DeleteSecret: deleteSecret,
  ListSecrets: listSecrets,
  PutSecretValue: putSecretValue,
};

type StoredSecret = {
  readonly name: string;
  readonly arn: string;
  readonly versionId: string;
  readonly text: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
};

type Delays = {
  readonly invisibleMs: number;
  readonly deletionMs: number;
  readonly now: () => number;
};

type SecretRegistry = {
  /** By name or complete ARN; undefined when there is none, or when it is not visible yet. */
  readonly find: (reference: string) => StoredSecret | undefined;
  /** The secret of this name without the delay, as creation sees it. */
  readonly existing: (name: string) => StoredSecret | undefined;
  readonly all: () => readonly StoredSecret[];
  /** True while a deleted secret still has this name. */
  readonly isBeingDeleted: (name: string) => boolean;
  readonly create: (name: string, text: string, versionId?: string) => Promise<StoredSecret>;
  readonly replace: (secret: StoredSecret, text: string, versionId?: string) => Promise<StoredSecret>;
  readonly remove: (secret: StoredSecret) => Promise<void>;
};

const openSecretRegistry = (
  files: RecordFiles<StoredSecret>,
  { invisibleMs, deletionMs, now }: Delays,
): SecretRegistry => {
  const secrets = holdRecords(files, ({ name }) => name);
  const deletions = new Map<string, number>();
  const isBeingDeleted = (name: string): boolean => now() < (deletions.get(name) ?? 0);
  const forgetDeleted = (): void => {
    for (const name of deletions.keys()) if (!isBeingDeleted(name)) deletions.delete(name);
  };
  return {
    find: (reference) => {
      const secret = secrets.find(reference) ?? secrets.all().find(({ arn }) => arn === reference);
      return secret === undefined || now() < secret.createdAt + invisibleMs ? undefined : secret;
    },
    existing: secrets.find,
    all: secrets.all,
    isBeingDeleted,
    create: async (name, text, versionId = randomUUID()) => {
      const arn = `arn:aws:secretsmanager:${region}:${accountId}:secret:${name}-${randomBytes(3).toString('hex')}`;
      const secret = { name, arn, versionId, text, createdAt: now() };
      await secrets.put(secret);
      return secret;
    },
    replace: async (secret, text, versionId = randomUUID()) => {
      const next = { ...secret, text, versionId };
      await secrets.put(next);
      return next;
    },
    remove: async ({ name }) => {
      forgetDeleted();
      await secrets.remove(name);
      deletions.set(name, now() + deletionMs);
    },
  };
};
