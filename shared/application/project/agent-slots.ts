/**
 * The slots that the agents of a caller's projects hold, beside the limit of each project.
 *
 * One page of projects is read, the newest first: a caller with more of them sees those.
 */

import type { ProjectId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Project } from '../../domain/project.ts';
import { agentSlots } from '../../domain/slot-holder.ts';
import type { Deps } from '../deps.ts';
import { listProjects } from './manage-projects.ts';

/** Each is a query of its own. */
const projectsMax = 25;

export type AgentSlots = {
  readonly project: ProjectId;
  readonly name: string;
  readonly used: number;
  readonly max: number;
};

/** The projects whose slots and executions are shown. */
export const countedProjects = async (
  ports: Deps<'projects'>,
  principal: Principal,
): Promise<readonly Project[]> => {
  const { projects } = await listProjects(ports.projects, principal, { itemsMax: projectsMax });
  return projects.slice(0, projectsMax);
};

/** The busiest project first. */
export const agentSlotsInUse = async (
  ports: Deps<'slots' | 'slotLimits'>,
  projects: readonly Project[],
): Promise<readonly AgentSlots[]> => {
  const counted = projects.map(async ({ id, name }) => {
    const { taken } = await ports.slots.read(agentSlots(id));
    return { project: id, name, used: taken.length, max: ports.slotLimits.agentMax };
  });
  return (await Promise.all(counted)).toSorted((one, other) => other.used - one.used);
};
