/** Projects: made, shown, listed. Another owner's is not found. */
import { decodeFlavor, decodeTemplate, type Flavor, type Template } from '../domain/flavor.ts';
import { isUuid, type ProjectId } from '../domain/ids.ts';
import { deploymentOwner, mayRead, type Principal } from '../domain/principal.ts';
import { type Project, theDefaultProject } from '../domain/project.ts';
import type { ApprovalMode } from '../domain/session.ts';
import { AppError } from '../errors.ts';
import type { ProjectStore } from '../ports/project-store.ts';
import type { World } from '../ports/world.ts';
import { projectNotFound } from './create-session.ts';

export type ProjectWish = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly flavor?: string | undefined;
  readonly template?: string | undefined;
  readonly flavorsAllowed?: readonly string[] | undefined;
  readonly approvals?: ApprovalMode | undefined;
};

/** Only an admin token makes projects; names need not be unique. */
export const createProject = async (
  { projects, world }: { readonly projects: ProjectStore; readonly world: World },
  principal: Principal,
  wish: ProjectWish,
): Promise<Project> => {
  if (principal.scope !== 'admin') throw new AppError('forbidden', 'only an admin token makes projects');
  const { name, description, flavor, template, flavorsAllowed, approvals } = wish;
  const project: Project = {
    id: world.uuid() as ProjectId,
    owner: principal.owner,
    name,
    createdAt: world.now(),
    ...(description === undefined ? {} : { description }),
    ...(flavor === undefined ? {} : { flavor: knownFlavor(flavor) }),
    ...(template === undefined ? {} : { template: knownTemplate(template) }),
    ...(approvals === undefined ? {} : { approvals }),
    ...(flavorsAllowed === undefined ? {} : { flavorsAllowed: flavorsAllowed.map(knownFlavor) }),
  };
  await projects.create(project);
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

export const getProject = async (
  projects: ProjectStore,
  principal: Principal,
  id: string,
): Promise<Project> => {
  const project = isUuid(id) ? await projects.get(id as ProjectId) : undefined;
  if (project === undefined || !mayRead(principal, { owner: project.owner, project: project.id }))
    throw projectNotFound();
  return project;
};

/** Newest first; the default project is the oldest of the deployment's own. */
export const listProjects = async (
  projects: ProjectStore,
  principal: Principal,
  page: { readonly after?: string; readonly itemsMax: number },
): Promise<{ readonly projects: readonly Project[]; readonly next?: string }> => {
  const listed = await projects.list(principal.owner, page);
  if (principal.owner !== deploymentOwner || listed.next !== undefined) return listed;
  const stored = listed.projects.some(({ id }) => id === theDefaultProject.id);
  return stored ? listed : { projects: [...listed.projects, theDefaultProject] };
};
