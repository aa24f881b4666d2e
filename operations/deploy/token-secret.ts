/**
 * The admin token in Secrets Manager instead of the terminal, whose output a build server keeps. No function may read it.
 *
 * The text goes to the `aws` program in a file, since arguments are visible to every user of the machine.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Aws } from './aws.ts';

/** Outside the prefix of projects' secrets, which functions read. */
export const tokenSecret = (deployment: string): string => `sallyport-admin-token/${deployment}`;

export const putToken = async (aws: Aws, deployment: string, text: string): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-token-'));
  try {
    const path = join(folder, 'token');
    await writeFile(path, text, { mode: 0o600 });
    const value = ['--secret-string', `file://${path}`] as const;
    const name = tokenSecret(deployment);
    const exists = ['ResourceExistsException'];
    const created = await aws.find<object>(
      exists,
      'secretsmanager',
      'create-secret',
      '--name',
      name,
      ...value,
    );
    if (created === undefined)
      await aws.ask('secretsmanager', 'put-secret-value', '--secret-id', name, ...value);
  } finally {
    await rm(folder, { recursive: true });
  }
};
