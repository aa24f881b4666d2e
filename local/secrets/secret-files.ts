/**
 * Secrets on disk: a file each, for its owner alone, that appears whole or not at all.
 *
 * File names are hashes, so a secret's name never becomes a path. What a crash left half written is removed when
 * the folder is opened.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

export type StoredSecret = {
  readonly name: string;
  readonly arn: string;
  readonly versionId: string;
  readonly text: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
};

export type SecretFiles = {
  readonly kept: readonly StoredSecret[];
  readonly write: (secret: StoredSecret) => Promise<void>;
  readonly remove: (name: string) => Promise<void>;
};

const ownFolder = 0o700;
const ownFile = 0o600;

export const openSecretFiles = async (folder: string): Promise<SecretFiles> => {
  await mkdir(folder, { recursive: true, mode: ownFolder });
  const names = await readdir(folder);
  const whole = names.filter((name) => name.endsWith('.json'));
  const halves = names.filter((name) => name.endsWith('.tmp'));
  await Promise.all(halves.map((name) => rm(join(folder, name), { force: true })));
  const pathOf = (name: string): string =>
    join(folder, `${createHash('sha256').update(name).digest('hex')}.json`);
  return {
    kept: await Promise.all(
      whole.map(
        async (name): Promise<StoredSecret> => JSON.parse(await readFile(join(folder, name), 'utf8')),
      ),
    ),
    write: (secret) => replace(folder, pathOf(secret.name), JSON.stringify(secret)),
    remove: (name) => rm(pathOf(name), { force: true }),
  };
};

const replace = async (folder: string, path: string, text: string): Promise<void> => {
  const temporary = join(folder, `${randomUUID()}.tmp`);
  const file = await open(temporary, 'wx', ownFile);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
};
