/**
 * The stored secrets, with the two delays of the real service: a new secret may not be found yet, and the name of a
 * deleted one stays in use for a while, "so there might be a short delay"
 * (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_DeleteSecret.html).
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { accountId, region } from '../endpoint/account.ts';
import type { RecordFiles } from '../endpoint/record-files.ts';

export type StoredSecret = {
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

export type SecretRegistry = {
  /** By name or complete ARN; undefined when there is none, or when it is not visible yet. */
  readonly find: (reference: string) => StoredSecret | undefined;
  /** The secret of this name without the delay, as creation sees it. */
  readonly existing: (name: string) => StoredSecret | undefined;
  /** True while a deleted secret still has this name. */
  readonly isBeingDeleted: (name: string) => boolean;
  readonly create: (name: string, text: string, versionId?: string) => Promise<StoredSecret>;
  readonly remove: (secret: StoredSecret) => Promise<void>;
};

export const openSecretRegistry = (
  files: RecordFiles<StoredSecret>,
  { invisibleMs, deletionMs, now }: Delays,
): SecretRegistry => {
  const secrets = new Map(files.stored.map((secret) => [secret.name, secret]));
  const deletions = new Map<string, number>();
  const isBeingDeleted = (name: string): boolean => now() < (deletions.get(name) ?? 0);
  const forgetDeleted = (): void => {
    for (const name of deletions.keys()) if (!isBeingDeleted(name)) deletions.delete(name);
  };
  return {
    find: (reference) => {
      const secret = secrets.get(reference) ?? [...secrets.values()].find(({ arn }) => arn === reference);
      return secret === undefined || now() < secret.createdAt + invisibleMs ? undefined : secret;
    },
    existing: (name) => secrets.get(name),
    isBeingDeleted,
    create: async (name, text, versionId = randomUUID()) => {
      const arn = `arn:aws:secretsmanager:${region}:${accountId}:secret:${name}-${randomBytes(3).toString('hex')}`;
      const secret = { name, arn, versionId, text, createdAt: now() };
      secrets.set(name, secret);
      await files.write(name, secret);
      return secret;
    },
    remove: async ({ name }) => {
      forgetDeleted();
      secrets.delete(name);
      deletions.set(name, now() + deletionMs);
      await files.remove(name);
    },
  };
};
