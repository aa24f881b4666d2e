/**
 * The secrets there are, with the two delays of the real service: a new one may not be found yet, and the name of
 * a deleted one stays taken for a while, "so there might be a short delay"
 * (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_DeleteSecret.html).
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { accountId, region } from '../lambda/function-definition.ts';
import type { SecretFiles, StoredSecret } from './secret-files.ts';

export type Delays = {
  readonly unseenMs: number;
  readonly leavingMs: number;
  readonly now: () => number;
};

export type SecretRegistry = {
  /** By name or complete ARN; undefined when there is none, or none to be seen yet. */
  readonly find: (reference: string) => StoredSecret | undefined;
  /** The secret under this name, as creation sees it: at once. */
  readonly standing: (name: string) => StoredSecret | undefined;
  /** Whether a deleted secret still has this name. */
  readonly isLeaving: (name: string) => boolean;
  readonly create: (name: string, text: string, versionId?: string) => Promise<StoredSecret>;
  readonly remove: (secret: StoredSecret) => Promise<void>;
};

export const openSecretRegistry = (
  files: SecretFiles,
  { unseenMs, leavingMs, now }: Delays,
): SecretRegistry => {
  const secrets = new Map(files.kept.map((secret) => [secret.name, secret]));
  const leaving = new Map<string, number>();
  const isLeaving = (name: string): boolean => now() < (leaving.get(name) ?? 0);
  const forgetDeleted = (): void => {
    for (const name of leaving.keys()) if (!isLeaving(name)) leaving.delete(name);
  };
  return {
    find: (reference) => {
      const secret = secrets.get(reference) ?? [...secrets.values()].find(({ arn }) => arn === reference);
      return secret === undefined || now() < secret.createdAt + unseenMs ? undefined : secret;
    },
    standing: (name) => secrets.get(name),
    isLeaving,
    create: async (name, text, versionId = randomUUID()) => {
      const arn = `arn:aws:secretsmanager:${region}:${accountId}:secret:${name}-${randomBytes(3).toString('hex')}`;
      const secret = { name, arn, versionId, text, createdAt: now() };
      secrets.set(name, secret);
      await files.write(secret);
      return secret;
    },
    remove: async ({ name }) => {
      forgetDeleted();
      secrets.delete(name);
      leaving.set(name, now() + leavingMs);
      await files.remove(name);
    },
  };
};
