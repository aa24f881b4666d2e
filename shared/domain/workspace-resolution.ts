/**
 * The workspace of a request: the resolution table, whole (WS1).
 *
 * A workspace of another project or another person is answered as one that does not exist; only a caller that
 * wants to create one under that very id learns that it is taken. An id that others derive, as that of a default
 * workspace, is given to no caller that names it first.
 */
import { isDerived, type OwnerId, type ProjectId, type WorkspaceId } from './ids.ts';
import type { Principal } from './principal.ts';

type WorkspaceOptions = {
  readonly id?: WorkspaceId | undefined;
  /** Create it when it does not exist. */
  readonly creates: boolean;
};

/** The location of the named id: in this project and usable by the caller, another owner's, or nowhere. */
export type Whereabouts = 'here' | 'elsewhere' | 'nowhere';

type WorkspaceStep =
  /** The project's own. */
  | 'default'
  /** A new one, under a generated id. */
  | 'new'
  /** The named one. */
  | 'use'
  /** A new one, under the named id. */
  | 'make'
  | 'not-found'
  /** The id is taken, or another caller may derive it. */
  | 'conflict';

export const workspaceStep = (
  { id, creates }: WorkspaceOptions,
  whereabouts: Whereabouts = 'nowhere',
): WorkspaceStep => {
  if (id === undefined) return creates ? 'new' : 'default';
  if (whereabouts === 'here') return 'use';
  if (!creates) return 'not-found';
  return whereabouts === 'elsewhere' || isDerived(id) ? 'conflict' : 'make';
};

/** The owner of a named workspace: the project, or the person who makes it. */
export const namedWorkspaceOwner = (
  { owner, isPerson }: Pick<Principal, 'owner' | 'isPerson'>,
  project: ProjectId,
): OwnerId => (isPerson ? owner : (project as string as OwnerId));

/** The text from which the id of a default workspace is hashed: one per project, and one more per person in it. */
export const defaultWorkspaceKey = (
  principal: Pick<Principal, 'owner' | 'isPerson'>,
  project: ProjectId,
): string => `default workspace\n${project}\n${namedWorkspaceOwner(principal, project)}`;
