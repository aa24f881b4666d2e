/** Secrets over the table in memory and a Secrets Manager that may refuse: each change that holds has its row in the audit log. */
import { expect, test } from 'vitest';
import { fake } from '../../../tests/fake.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { makeSecretPointers } from '../../adapters/aws/dynamo/secret-pointer.ts';
import { makeProjectSecrets } from '../../adapters/aws/project-secrets.ts';
import type { ProjectId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Secrets } from '../../domain/project.ts';
import type { Deps, ProjectDeps } from '../deps.ts';
import { putSecret, removeSecret } from './manage-secrets.ts';

const principal = fake<Principal>({ owner: 'o' as never, scope: 'admin', tokenHash: 'h' });

const open = async () => {
  const project = crypto.randomUUID() as ProjectId;
  const bundles = new Map<string, Secrets>();
  const faults = { create: false, remove: false };
  const refuse = (isRefused: boolean): void => {
    if (isRefused) throw new Error('Secrets Manager is away');
  };
  const rows: string[] = [];
  const ports = fake<ProjectDeps & Deps<'secrets'>>({
    projects: fake<ProjectDeps['projects']>({
      get: async (id) => ({ id, owner: 'o' as never, name: 'p', createdAt: 1 }),
    }),
    auditLog: fake<ProjectDeps['auditLog']>({ append: async ({ action }) => void rows.push(action) }),
    telemetry: fake<ProjectDeps['telemetry']>({ info: () => undefined }),
    world: fake<ProjectDeps['world']>({ now: () => 1 }),
    secrets: makeProjectSecrets({
      pointers: makeSecretPointers(openQuietPorts().table),
      bundles: {
        create: async (name, secrets) => {
          refuse(faults.create);
          bundles.set(name, secrets);
        },
        find: async (name) => bundles.get(name),
        claim: async () => false,
        remove: async (name) => {
          refuse(faults.remove);
          bundles.delete(name);
        },
      },
      ...{ prefix: 'p/', now: () => 1 },
    }),
  });
  const put = (value: string) => putSecret(ports, principal, { project, name: 'A', value });
  const remove = () => removeSecret(ports, principal, { project, name: 'A' });
  await put('first');
  return { faults, rows, put, remove, bundles };
};

test('a value that holds is recorded, although the former one could not be deleted; a repeat deletes it', async () => {
  const { faults, rows, put, bundles } = await open();
  faults.remove = true;
  await expect(put('second')).rejects.toThrow('could not be deleted');
  expect([rows, bundles.size]).toEqual([['secret.put', 'secret.put'], 2]);
  faults.remove = false;
  await put('second');
  expect([...bundles.values()]).toEqual([{ A: 'second' }]);
});

test('a removal that holds is recorded, although the value could not be deleted', async () => {
  const { faults, rows, remove, bundles } = await open();
  faults.remove = true;
  await expect(remove()).rejects.toThrow('could not be deleted');
  expect(rows).toEqual(['secret.put', 'secret.remove']);
  faults.remove = false;
  await expect(remove()).rejects.toMatchObject({ code: 'not_found' });
  expect([rows.length, bundles.size]).toEqual([2, 0]);
});

test('a change that failed is not recorded', async () => {
  const { faults, rows, put } = await open();
  faults.create = true;
  await expect(put('second')).rejects.toThrow('away');
  expect(rows).toEqual(['secret.put']);
});
