/** Changes of a project by two callers at the same time: neither is lost, and nothing that one removed comes back. */
import { expect, test } from 'vitest';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { Network } from '../../domain/egress-policy.ts';
import type { OwnerId, ProjectId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Project } from '../../domain/project.ts';
import type { ProjectDeps } from '../deps.ts';
import { updateProject } from './manage-projects.ts';
import type { ProjectOptions } from './project-fields.ts';

const principal: Principal = { owner: 'deployment' as OwnerId, scope: 'admin', tokenHash: 't' };

/** The project after a change, before whose write another one is made. */
const both = async (settings: Partial<Project>, first: ProjectOptions, second: ProjectOptions) => {
  const { ports, hooks } = openQuietPorts();
  const egressCeiling: Network = { allow: ['a.org', 'b.org'] };
  const deps = {
    ...ports,
    egressCeiling,
    auditLog: { append: async () => undefined },
  } as unknown as ProjectDeps;
  const id = crypto.randomUUID() as ProjectId;
  await ports.projects.create({
    ...{ id, owner: principal.owner, name: 'tools', createdAt: 1, ...settings },
  });
  hooks.before = async ({ constructor: { name } }) => {
    if (name !== 'UpdateCommand') return;
    hooks.before = async () => undefined;
    await updateProject(deps, principal, { id, ...second });
  };
  await updateProject(deps, principal, { id, ...first });
  return ports.projects.get(id);
};

test('AC13: limits of two callers both hold', async () => {
  const limits = { recursionDepthMax: 2 };
  const first = { limits: { costUsdMax: 3 } };
  expect(await both({ limits }, first, { limits: { agentsPerSessionMax: 4 } })).toMatchObject({
    limits: { recursionDepthMax: 2, costUsdMax: 3, agentsPerSessionMax: 4 },
  });
});

test('a rule for a secret that another caller removed does not come back', async () => {
  const rule = { host: 'a.org', header: 'x-key', secret: 'KEY' };
  const network = { allow: ['a.org'], inject: [rule] };
  const removed = { network: { allow: ['a.org'], inject: [] } };
  const changed = await both({ network }, { network: { allow: ['a.org', 'b.org'] } }, removed);
  expect(changed?.network?.allow).toEqual(['a.org', 'b.org']);
  expect(changed?.network?.inject ?? []).toEqual([]);
});
