/** Finds the workspace of a request, or decides which one is created: the table of docs/spec/sessions.md. */

import { mayWrite } from '../../domain/access.ts';
import { firstGenerationAt } from '../../domain/generation.ts';
import { derivedUuid, isUuid, type WorkspaceId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Project } from '../../domain/project.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import {
  defaultWorkspaceKey,
  namedWorkspaceOwner,
  workspaceStep,
} from '../../domain/workspace-resolution.ts';
import { AppError } from '../../errors.ts';
import type { World } from '../../ports/world.ts';
import type { Deps } from '../deps.ts';

/** The requested workspace; for a new one also its descriptive fields. */
export type WorkspaceRef = {
  readonly id?: string | undefined;
  /** Create it when it does not exist. */
  readonly creates: boolean;
  readonly externalId?: string | undefined;
  readonly source?: string | undefined;
  /** A new one without an id is named after it: repeated, one is created. */
  readonly onceFor?: string | undefined;
};

export type Within = { readonly project: Project; readonly principal: Principal };

/** `isNew`: it is not in the table yet, and is created with the session that enters it first. */
export type ResolvedWorkspace = { readonly workspace: Workspace; readonly isNew: boolean };

export const resolveWorkspace = async (
  ports: Deps<'workspaces' | 'world'>,
  within: Within,
  ref: WorkspaceRef,
): Promise<ResolvedWorkspace> => {
  const named = ref.id === undefined ? undefined : idOf(ref.id, ref.creates);
  const defaultId = defaultWorkspaceId(ports.world, within);
  if (named === defaultId) return theDefault(ports, within);
  const found = named && (await ports.workspaces.get(named));
  const whereabouts = found === undefined ? 'nowhere' : isUsable(found, within) ? 'here' : 'elsewhere';
  switch (workspaceStep({ id: named, creates: ref.creates }, whereabouts)) {
    case 'default':
      return theDefault(ports, within);
    case 'use':
      return { workspace: found as Workspace, isNew: false };
    case 'new':
      return onceMade(ports, within, ref);
    case 'make':
      return { workspace: madeUnder(ports.world, within, { ...ref, id: named }), isNew: true };
    case 'conflict':
      throw idTaken();
    case 'not-found':
      throw workspaceNotFound(ref.id ?? '');
  }
};

export const isUsable = (workspace: Workspace, { project, principal }: Within): boolean =>
  workspace.project === project.id && workspace.deletedAt === undefined && mayWrite(principal, workspace);

export const defaultWorkspaceId = ({ sha256 }: World, { project, principal }: Within): WorkspaceId =>
  derivedUuid(sha256(defaultWorkspaceKey(principal, project.id))) as WorkspaceId;

/** The caller's own, by its project and its owner: under its id there may be one that another caller made. */
export const isDefaultOf = (world: World, within: Within, { id, project, owner }: Workspace): boolean =>
  id === defaultWorkspaceId(world, within) &&
  project === within.project.id &&
  owner === namedWorkspaceOwner(within.principal, project);

const theDefault = async (
  ports: Deps<'workspaces' | 'world'>,
  within: Within,
): Promise<ResolvedWorkspace> => {
  const found = await findDefault(ports, within);
  if (found === undefined) throw defaultTaken();
  return found;
};

/** The default one exists even if it was never used. Undefined where another caller's workspace has its id. */
export const findDefault = async (
  { workspaces, world }: Deps<'workspaces' | 'world'>,
  within: Within,
): Promise<ResolvedWorkspace | undefined> => {
  const id = defaultWorkspaceId(world, within);
  const found = await workspaces.get(id);
  if (found !== undefined)
    return isDefaultOf(world, within, found) ? { workspace: found, isNew: false } : undefined;
  // As old as its project: the time of its first use is unknown.
  const { createdAt } = within.project;
  return { workspace: { ...newWorkspace(world, within, { id }), isDefault: true, createdAt }, isNew: true };
};

type Naming = Pick<WorkspaceRef, 'externalId' | 'source'> & { readonly id: WorkspaceId | undefined };

/** Under an id that is not new in the world: one that was deleted may have had it. */
const madeUnder = (world: World, within: Within, naming: Naming): Workspace => ({
  ...newWorkspace(world, within, naming),
  firstGeneration: firstGenerationAt(world.now()),
});

/** A workspace with a name that no session has entered yet. */
export const newWorkspace = (
  world: World,
  { project, principal }: Within,
  { id, externalId, source }: Naming,
): Workspace => ({
  id: id ?? (world.uuid() as WorkspaceId),
  owner: namedWorkspaceOwner(principal, project.id),
  project: project.id,
  createdAt: world.now(),
  users: [],
  isNamed: true,
  ...(externalId === undefined ? {} : { externalId }),
  ...(source === undefined ? {} : { source }),
});

const onceMade = async (
  ports: Deps<'workspaces' | 'world'>,
  within: Within,
  ref: WorkspaceRef,
): Promise<ResolvedWorkspace> => {
  const { world, workspaces } = ports;
  if (ref.onceFor === undefined)
    return { workspace: newWorkspace(world, within, { ...ref, id: undefined }), isNew: true };
  const key = `new workspace\n${within.project.id}\n${within.principal.owner}\n${ref.onceFor}`;
  const id = derivedUuid(world.sha256(key)) as WorkspaceId;
  const found = await workspaces.get(id);
  if (found === undefined) return { workspace: madeUnder(world, within, { ...ref, id }), isNew: true };
  if (!isUsable(found, within)) throw idTaken();
  return { workspace: found, isNew: false };
};

const idOf = (id: string, creates: boolean): WorkspaceId => {
  if (isUuid(id)) return id as WorkspaceId;
  if (!creates) throw workspaceNotFound(id);
  throw new AppError('invalid_request', 'the id of a workspace is a UUID', {
    suggestions: ['Leave out the id to get a new one.'],
    recoveryActions: ['correct_arguments'],
  });
};

const shownCharactersMax = 64;

export const workspaceNotFound = (id: string): AppError =>
  new AppError('workspace_not_found', `workspace ${id.slice(0, shownCharactersMax)} not found`, {
    suggestions: ['List the workspaces of the project, or create this one.'],
    recoveryActions: ['correct_arguments'],
  });

const idTaken = (): AppError =>
  new AppError('conflict', 'a workspace cannot be created under this id', {
    suggestions: ['Leave out the id to get a new one.'],
    recoveryActions: ['correct_arguments'],
  });

/** Before ids of this kind were refused, a caller could name one. */
const defaultTaken = (): AppError =>
  new AppError('conflict', 'another workspace has the id of the default workspace', {
    suggestions: ['Name a workspace, or create one.', 'Ask an operator to delete that workspace.'],
    recoveryActions: ['correct_arguments'],
  });
