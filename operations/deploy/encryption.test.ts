/** A deployment that would leave the key of its data, whose functions could then read neither files nor secrets. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { deployCommand } from './deploy.ts';
import { busyAccount, openMachine, usualFacts } from './fixtures/machine.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-encryption-'));
afterAll(() => rmSync(folder, { recursive: true }));

const arn = (id: string): string => `arn:aws:kms:eu-central-1:111122223333:key/${id}`;

/** A deploy with these settings into an account whose bucket is under the key. */
const deployWith = async (encryption: unknown, used: string | undefined) => {
  const path = join(folder, 'settings.json');
  writeFileSync(path, JSON.stringify({ encryption }));
  const data = busyAccount.stacks['sallyport-data'];
  const key = ['AWS::KMS::Key', 'EncryptionKey12345678', 'own'];
  const rule = used === undefined ? { SSEAlgorithm: 'AES256' } : { KMSMasterKeyID: used };
  const machine = openMachine({
    ...busyAccount,
    stacks: {
      ...busyAccount.stacks,
      'sallyport-data': { ...data, resources: [...data.resources, ...(used === arn('own') ? [key] : [])] },
    },
    has: {
      ...usualFacts,
      's3api get-bucket-encryption': {
        ServerSideEncryptionConfiguration: { Rules: [{ ApplyServerSideEncryptionByDefault: rule }] },
      },
    },
  });
  const { error } = await machine.run(deployCommand, ['--settings', path, '--no-check'], 'no');
  return error;
};

const kept = 'nothing was deployed\n';

test.each([
  ['its own key', ['customer-managed', arn('own')], kept],
  ['an existing key', [{ keyArn: arn('theirs') }, arn('theirs')], kept],
  ['AWS’s key', ['aws-managed', undefined], kept],
  ['AWS’s key for one of its own', ['customer-managed', undefined], kept],
  ['its own key for AWS’s', ['aws-managed', arn('own')], /under the key \S+own, .* could not use/],
  ['its own key for an existing one', [{ keyArn: arn('theirs') }, arn('own')], /under the key \S+own/],
  ['an existing key for another', [{ keyArn: arn('other') }, arn('theirs')], /under the key \S+theirs/],
  ['an existing key for its own', ['customer-managed', arn('theirs')], /under the key \S+theirs/],
] as const)('a deploy that keeps or changes %s', async (_, [encryption, used], says) => {
  expect(await deployWith(encryption, used)).toMatch(says);
});
