/** Projects: made, shown, listed. Another owner's is not found. */
import { projectOf } from '../domain/access.ts';
import { decodeFlavor, decodeTemplate, type Flavor, type Template } from '../domain/flavor.ts';
import type { ProjectId } from '../domain/ids.ts';
import { deploymentOwner, type Principal } from '../domain/principal.ts';
import { type Project, theDefaultProject } from '../domain/project.ts';
import type { ApprovalMode } from '../domain/session.ts';
import { AppError } from '../errors.ts';
import type { ProjectStore } from '../ports/project-store.ts';
import { type AuditPorts, audit } from './audit.ts';
import { findProject } from './find-project.ts';

export type ProjectPorts = AuditPorts & { readonly projects: ProjectStore };

export type ProjectWish = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly flavor?: string | undefined;
  readonly template?: string | undefined;
  readonly flavorsAllowed?: readonly string[] | undefined;
  readonly approvals?: ApprovalMode | undefined;
};

/** For whoever may write what is the deployment's (`global:write`), whose every project is; names need not be unique. */
export const createProject = async (
  ports: ProjectPorts,
  principal: Principal,
  wish: ProjectWish,
): Promise<Project> => {
  const { projects, world } = ports;
  const { name, description, flavor, template, flavorsAllowed, approvals } = wish;
  const project: Project = {
    id: world.uuid() as ProjectId,
    owner: deploymentOwner,
    name,
    createdAt: world.now(),
    ...(description === undefined ? {} : { description }),
    ...(flavor === undefined ? {} : { flavor: knownFlavor(flavor) }),
    ...(template === undefined ? {} : { template: knownTemplate(template) }),
    ...(approvals === undefined ? {} : { approvals }),
    ...(flavorsAllowed === undefined ? {} : { flavorsAllowed: flavorsAllowed.map(knownFlavor) }),
  };
  await projects.create(project);
  await audit(ports, principal, { operation: 'project.create', target: project.id });
  return project;
};

const knownFlavor = (name: string): Flavor => {
  const flavor = decodeFlavor(name);
  if (flavor !== undefined) return flavor;
  throw new AppError('invalid_flavor', 'flavor: use one of micro, small, medium, large');
};

const knownTemplate = (name: string): Template => {
  const template = decodeTemplate(name);
  if (template !== undefined) return template;
  throw new AppError('unsupported_language', 'template: use one of python, node');
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
