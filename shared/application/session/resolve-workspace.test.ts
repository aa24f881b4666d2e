/** A workspace that is made under an id that another one may have had. */
import { expect, test } from 'vitest';
import { fake } from '../../../tests/fake.ts';
import { nextGeneration } from '../../domain/generation.ts';
import type { ProjectId } from '../../domain/ids.ts';
import { deploymentOwner } from '../../domain/principal.ts';
import type { Project } from '../../domain/project.ts';
import type { Deps } from '../deps.ts';
import { resolveWorkspace, type WorkspaceRef } from './resolve-workspace.ts';

const project = { id: crypto.randomUUID() as ProjectId, createdAt: 1 } as Project;
const principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'h' } as const;

const madeAt = async (now: number, ref: WorkspaceRef) => {
  const ports: Deps<'workspaces' | 'world'> = {
    workspaces: fake<Deps<'workspaces'>['workspaces']>({ get: async () => undefined }),
    world: { now: () => now, uuid: () => crypto.randomUUID(), sha256: (text) => text, sleep: async () => {} },
  };
  return nextGeneration((await resolveWorkspace(ports, { project, principal }, ref)).workspace);
};

const id = crypto.randomUUID();

test.each([
  ['a client’s choice', { id, creates: true }],
  ['a message', { creates: true, onceFor: 'message 1' }],
])('under an id of %s begins above the generations of one that was deleted', async (_, ref) => {
  const day = 86_400_000;
  const first = await madeAt(day, ref);
  expect(await madeAt(2 * day, ref)).toBeGreaterThan(first + 1000);
});

test('under an id that is new in the world begins with one', async () => {
  expect(await madeAt(86_400_000, { creates: true })).toBe(1);
});
