/**
 * The slots that the agents of a caller's projects hold, beside the limit of each project.
 *
 * One page of projects is read, the newest first: a caller with more of them sees those.
 */

import type { ProjectId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
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

/** The busiest project first. */
export const agentSlotsInUse = async (
  ports: Deps<'projects' | 'slots' | 'slotLimits'>,
  principal: Principal,
): Promise<readonly AgentSlots[]> => {
  const { projects } = await listProjects(ports.projects, principal, { itemsMax: projectsMax });
  const counted = projects.slice(0, projectsMax).map(async ({ id, name }) => {
    const { taken } = await ports.slots.read(agentSlots(id));
    return { project: id, name, used: taken.length, max: ports.slotLimits.agentMax };
  });
  return (await Promise.all(counted)).toSorted((one, other) => other.used - one.used);
};
