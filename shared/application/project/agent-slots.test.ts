/** Agent slots of the projects of a caller: used of how many, the busiest first, and of its own project alone. */
import { expect, test } from 'vitest';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { OwnerId, ProjectId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import { theDefaultProject } from '../../domain/project.ts';
import type { SlotStore } from '../../ports/slots.ts';
import type { Deps } from '../deps.ts';
import { agentSlotsInUse, countedProjects } from './agent-slots.ts';

const owner = 'deployment' as OwnerId;
const admin: Principal = { owner, scope: 'admin', tokenHash: 't' };

const portsWith = (used: Readonly<Record<string, number>>) => {
  const { ports } = openQuietPorts();
  const read = async (holder: string) => ({ taken: Array.from({ length: used[holder] ?? 0 }) });
  const slots = { read } as unknown as SlotStore;
  const all = { projects: ports.projects, slots, slotLimits: { agentMax: 10 } };
  return all as unknown as Deps<'projects' | 'slots' | 'slotLimits'>;
};

const inUse = async (ports: ReturnType<typeof portsWith>, principal: Principal) =>
  agentSlotsInUse(ports, await countedProjects(ports, principal));

test('each project is shown with its use and the limit, the busiest first', async () => {
  const [quiet, busy] = [crypto.randomUUID(), crypto.randomUUID()] as [ProjectId, ProjectId];
  const ports = portsWith({ [`agent#${busy}`]: 3 });
  for (const [id, name] of [
    [quiet, 'quiet'],
    [busy, 'busy'],
  ] as const)
    await ports.projects.create({ id, owner, name, createdAt: 1 });
  const all = await inUse(ports, admin);
  expect(all[0]).toEqual({ project: busy, name: 'busy', used: 3, max: 10 });
  expect(all.map(({ name }) => name)).toContain('quiet');
  const bound: Principal = { ...admin, scope: `project:${quiet}` };
  expect(await inUse(ports, bound)).toEqual([{ project: quiet, name: 'quiet', used: 0, max: 10 }]);
});

test.each([24, 25, 40])('of %i projects at most 25 are read, the default one among them', async (stored) => {
  const ports = portsWith({});
  for (let at = 0; at < stored; at += 1)
    await ports.projects.create({
      ...{ id: crypto.randomUUID() as ProjectId, owner, name: `p${at}`, createdAt: at },
    });
  const shown = await inUse(ports, admin);
  expect(shown).toHaveLength(25);
  expect(shown.map(({ project }) => project)).toContain(theDefaultProject.id);
});
