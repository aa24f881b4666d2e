/** Execution slots in use: what a caller may see, counted by owner. */
import { expect, test } from 'vitest';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { OwnerId, ProjectId, WorkspaceId } from '../../domain/ids.ts';
import { deploymentOwner, type Principal, projectPrincipal } from '../../domain/principal.ts';
import type { SlotStore } from '../../ports/slots.ts';
import { resourceStats } from './resource-stats.ts';

const id = crypto.randomUUID() as ProjectId;
const projects = [{ id, owner: deploymentOwner, name: 'shop', createdAt: 1 }];
const settings = { executionMax: 4, poolSize: 0, limits: 'enforced' } as const;

const portsWith = (used: Readonly<Record<string, number>>) => {
  const { ports } = openQuietPorts();
  const sandbox = { workspace: crypto.randomUUID() as WorkspaceId, generation: 1, flavor: 'small' };
  const read = async (holder: string) => ({
    taken: Array.from({ length: used[holder] ?? 0 }, () => ({ sandbox })),
  });
  return { workspaces: ports.workspaces, slots: { read } as unknown as SlotStore };
};

const ports = portsWith({ 'execution#deployment': 1, [`execution#${id}`]: 3, 'execution#person-ada': 2 });
const statsOf = (principal: Principal) => resourceStats(ports, { principal, projects }, settings);

test.each(['admin', 'admin:ro'] as const)('the scope %s counts those of all projects', async (scope) => {
  expect(await statsOf({ owner: deploymentOwner, scope, tokenHash: 't' })).toMatchObject({
    activeSessions: 4,
    flavorCounts: { small: 4 },
    // Of each owner, and of the one that uses most.
    ...{ maxSessions: 4, sessionUtilization: 75 },
    executionSlots: [
      { name: 'deployment', used: 1, max: 4 },
      { project: id, name: 'shop', used: 3, max: 4 },
    ],
  });
});

test('a token of a project and a person count their own', async () => {
  expect(await statsOf(projectPrincipal(id))).toMatchObject({
    ...{ activeSessions: 3, sessionUtilization: 75 },
    executionSlots: [{ project: id, name: 'shop', used: 3, max: 4 }],
  });
  const ada = { owner: 'person-ada' as OwnerId, name: 'Ada', tokenHash: 'a', isPerson: true } as const;
  expect((await statsOf({ ...ada, scope: `project:${id}` })).executionSlots).toEqual([
    { name: 'Ada', used: 2, max: 4 },
  ]);
  expect((await statsOf({ ...ada, scope: 'admin' })).executionSlots.map(({ name }) => name)).toEqual([
    ...['Ada', 'deployment', 'shop'],
  ]);
});
