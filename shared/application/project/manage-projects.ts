/** Projects: created, changed (AC13), shown, listed. Another owner's is not found. */

import { projectOf } from '../../domain/access.ts';
import type { Network } from '../../domain/egress-policy.ts';
import type { ProjectId } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import { deploymentOwner, type Principal } from '../../domain/principal.ts';
import { type Project, type ProjectChange, theDefaultProject } from '../../domain/project.ts';
import type { ProjectStore } from '../../ports/projects.ts';
import { audit } from '../access/audit.ts';
import { findProject } from '../access/find-project.ts';
import type { ProjectDeps } from '../deps.ts';
import type { KnownTemplates } from '../sandbox/known-template.ts';
import { refuseBeyond } from '../session/choose-network.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';
import { type ProjectOptions, projectFields } from './project-fields.ts';

type Known = { readonly templates?: KnownTemplates | undefined };

/**
 * For callers who may write resources of the deployment (`global:write`), which owns every project; names need
 * not be unique.
 */
export const createProject = async (
  ports: ProjectDeps,
  principal: Principal,
  { templates, ...options }: ProjectOptions & Known & { readonly name: string },
): Promise<Project> => {
  const { projects, world } = ports;
  refuseBeyondCeiling(ports, options.network);
  const fields = Object.entries(projectFields(options, { templates })).filter(([, value]) => value !== null);
  const project: Project = {
    ...Object.fromEntries(fields),
    id: world.uuid() as ProjectId,
    owner: deploymentOwner,
    name: options.name,
    createdAt: world.now(),
  };
  await projects.create(project);
  await audit(ports, principal, {
    action: 'project.create',
    subject: project.id,
    project: project.id,
    detail: changedIn(fields),
  });
  return project;
};

/** For the same callers. Existing sessions retain their settings. */
export const updateProject = async (
  ports: ProjectDeps,
  principal: Principal,
  { id, templates, ...options }: ProjectOptions & Known & { readonly id: string },
): Promise<Project> => {
  const { change, changed } = await untilWon(async () => {
    const before = await findProject(ports.projects, { id, principal, intent: 'write' });
    refuseBeyondCeiling(ports, options.network);
    const change = projectFields(options, { before, templates });
    if (Object.keys(change).length === 0) return { change, changed: before };
    // A project that was deleted since is not found by the next attempt.
    const changed = await ports.projects.change(before.id, change, readFor(change, before));
    return changed === undefined ? raceLost : { change, changed };
  }, changesTooOften('the project'));
  if (Object.keys(change).length === 0) return changed;
  await audit(ports, principal, {
    action: 'project.update',
    subject: changed.id,
    project: changed.id,
    detail: changedIn(Object.entries(change)),
  });
  return changed;
};

/** The fields from which the change was made: another caller may have changed them since. */
const readFor = (change: ProjectChange, before: Project) => ({
  ...('limits' in change ? { limits: before.limits } : {}),
  ...('network' in change ? { network: before.network } : {}),
});

/** The operator's list bounds every project's. */
const refuseBeyondCeiling = ({ egressCeiling }: ProjectDeps, network: Network | null | undefined): void => {
  if (network) refuseBeyond(network, egressCeiling, 'deployment');
};

/** The names of the changed fields, and the values of two: the approval mode and the network with the names of its secrets. */
const changedIn = (fields: readonly (readonly [string, unknown])[]): JsonObject => {
  const approvals = fields.find(([name]) => name === 'approvals')?.[1];
  const network = fields.find(([name]) => name === 'network')?.[1] as Network | null | undefined;
  return {
    fields: fields.map(([name]) => name),
    ...(typeof approvals === 'string' ? { approvals } : {}),
    ...(network === undefined ? {} : { network: network === null ? [] : [...network.allow] }),
    ...(network?.inject === undefined ? {} : { inject: network.inject.map((rule) => ({ ...rule })) }),
  };
};

export const getProject = (projects: ProjectStore, principal: Principal, id: string): Promise<Project> =>
  findProject(projects, { id, principal, intent: 'read' });

/** Newest first; the default project is the oldest. A scope that is bound to a project lists that one. */
export const listProjects = async (
  projects: ProjectStore,
  principal: Principal,
  page: { readonly after?: string; readonly itemsMax: number },
): Promise<{ readonly projects: readonly Project[]; readonly next?: string }> => {
  const bound = projectOf(principal.scope);
  if (bound !== undefined) {
    const own = await projects.get(bound);
    return { projects: own === undefined ? [] : [own] };
  }
  const listed = await projects.list(deploymentOwner, page);
  if (listed.next !== undefined) return listed;
  const stored = listed.projects.some(({ id }) => id === theDefaultProject.id);
  return stored ? listed : { projects: [...listed.projects, theDefaultProject] };
};
