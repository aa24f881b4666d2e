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

export const saveSecrets = async (
  client: SecretsManagerClient,
  { sandbox, prefix }: SecretNames,
  folder: string,
): Promise<void> => {
  const read = async (SecretId: string): Promise<string> =>
    (await client.send(new GetSecretValueCommand({ SecretId }))).SecretString ?? '';
  const projects: Record<string, string> = {};
  const Filters = [{ Key: 'name' as const, Values: [prefix] }];
  for await (const { SecretList = [] } of paginateListSecrets({ client }, { Filters }))
    for (const { Name } of SecretList) if (Name?.startsWith(prefix)) projects[Name] = await read(Name);
  const own = sandbox === undefined ? {} : { sandbox: await read(sandbox) };
  await writeWhole(join(folder, secretsFile), `${JSON.stringify({ ...own, projects })}\n`);
};

export type SecretsTarget = {
  /** The ARN of the secret of the sandboxes; absent where there is none. */
  readonly sandboxSecret?: string;
  /** The key that encrypts the secrets of projects; absent: the one that AWS manages. */
  readonly secretsKey?: string;
};

/** A bundle is never changed, so one that is there already has the same values. */
export const loadSecrets = async (
  client: SecretsManagerClient,
  { sandboxSecret: sandbox, secretsKey }: SecretsTarget,
  folder: string,
): Promise<number> => {
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
  return Object.keys(copy.projects).length;
};
