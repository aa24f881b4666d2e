/**
 * The slots that the agents of a caller's projects hold, beside the limit of each project.
 *
 * One page of projects is read, the newest first: a caller with more of them sees those, and the default one.
 */

import { projectOf } from '../../domain/access.ts';
import type { ProjectId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import { type Project, theDefaultProject } from '../../domain/project.ts';
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
  const newest = projects.slice(0, projectsMax);
  const isBound = projectOf(principal.scope) !== undefined;
  if (isBound || newest.some(({ id }) => id === theDefaultProject.id)) return newest;
  const inDefault = (await ports.projects.get(theDefaultProject.id)) ?? theDefaultProject;
  return [...newest.slice(0, projectsMax - 1), inDefault];
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
