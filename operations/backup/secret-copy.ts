/**
 * The secrets of a deployment in one file that only its owner may read: the secret of the sandboxes, which also seals
 * the environments of sessions, and the bundles of projects' secrets under their names.
 *
 * It is the one file of a backup whose reader learns secrets of people, so it is made only when it is asked for.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CreateSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  paginateListSecrets,
  ResourceExistsException,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { secretsFile, writeWhole } from './folder.ts';

export type SecretNames = {
  /** The ARN of the secret of the sandboxes; absent where the backup has no such secret. */
  readonly sandbox?: string;
  /** The prefix of the bundles' names: `sallyport/<deployment>/`. */
  readonly prefix: string;
};

const copyShape = z.object({
  sandbox: z.string().exactOptional(),
  /** Values by name. */
  projects: z.record(z.string(), z.string()),
});

const read = async (client: SecretsManagerClient, SecretId: string): Promise<string> =>
  (await client.send(new GetSecretValueCommand({ SecretId }))).SecretString ?? '';

async function* namesUnder(client: SecretsManagerClient, prefix: string): AsyncGenerator<string> {
  const Filters = [{ Key: 'name' as const, Values: [prefix] }];
  for await (const { SecretList = [] } of paginateListSecrets({ client }, { Filters }))
    for (const { Name } of SecretList) if (Name?.startsWith(prefix)) yield Name;
}

/** Values by the names of the bundles. One that is deleted after the listing is left out: a change of its secrets has made another. */
export const readBundles = async (
  client: SecretsManagerClient,
  { prefix }: SecretNames,
): Promise<ReadonlyMap<string, string>> => {
  const bundles = new Map<string, string>();
  for await (const name of namesUnder(client, prefix)) {
    const value = await read(client, name).catch(orDeleted);
    if (value !== undefined) bundles.set(name, value);
  }
  return bundles;
};

/** Secrets Manager refuses to read a secret that it still deletes. */
const orDeleted = (cause: unknown): undefined => {
  if (cause instanceof ResourceNotFoundException) return undefined;
  if (cause instanceof Error && cause.name === 'InvalidRequestException') return undefined;
  throw cause;
};

export const hasBundle = async (client: SecretsManagerClient, bundle: string): Promise<boolean> => {
  for await (const name of namesUnder(client, bundle)) if (name === bundle) return true;
  return false;
};

type Written = { readonly sandbox?: string; readonly bundles: ReadonlyMap<string, string> };

/** Writes the bundles, and the secret of the sandboxes as it is now. */
export const writeSecrets = async (
  client: SecretsManagerClient,
  { sandbox, bundles }: Written,
  folder: string,
): Promise<void> => {
  const own = sandbox === undefined ? {} : { sandbox: await read(client, sandbox) };
  const text = JSON.stringify({ ...own, projects: Object.fromEntries(bundles) });
  await writeWhole(join(folder, secretsFile), `${text}\n`);
};

export type SecretsTarget = {
  /** The ARN of the secret of the sandboxes; absent where there is none. */
  readonly sandboxSecret?: string;
  /** The key that encrypts the secrets of projects; absent: the one that AWS manages. */
  readonly secretsKey?: string;
};

/** The names of the bundles. One is never changed, so one that is there already has the same values. */
export const loadSecrets = async (
  client: SecretsManagerClient,
  { sandboxSecret: sandbox, secretsKey }: SecretsTarget,
  folder: string,
): Promise<ReadonlySet<string>> => {
  const copy = copyShape.parse(JSON.parse(await readFile(join(folder, secretsFile), 'utf8')));
  if (sandbox !== undefined && copy.sandbox !== undefined)
    await client.send(new PutSecretValueCommand({ SecretId: sandbox, SecretString: copy.sandbox }));
  const keyed = secretsKey === undefined ? {} : { KmsKeyId: secretsKey };
  for (const [Name, SecretString] of Object.entries(copy.projects)) {
    try {
      await client.send(new CreateSecretCommand({ Name, SecretString, ...keyed }));
    } catch (error) {
      if (!(error instanceof ResourceExistsException)) throw error;
    }
  }
  return new Set(Object.keys(copy.projects));
};
