/**
 * Which workspace a request works in: the resolution table, whole (WS1).
 *
 * What is another project's, or another person's, is answered as what does not exist; only who wants to make
 * a workspace under that very id learns that it cannot be had.
 */
import type { OwnerId, ProjectId, WorkspaceId } from './ids.ts';
import type { Principal } from './principal.ts';

export type WorkspaceOptions = {
  readonly id?: WorkspaceId | undefined;
  /** Make it when it is not there. */
  readonly creates: boolean;
};

/** Of the id that was named: in this project and the asker's to use, somebody else's, or nowhere. */
export type Whereabouts = 'here' | 'elsewhere' | 'nowhere';

export type WorkspaceStep =
  /** The project's own. */
  | 'default'
  /** A new one, under an id of ours. */
  | 'new'
  /** The one that was named. */
  | 'use'
  /** A new one, under the id that was named. */
  | 'make'
  | 'not-found'
  /** The id cannot be had. */
  | 'conflict';

export const workspaceStep = (
  { id, creates }: WorkspaceOptions,
  whereabouts: Whereabouts = 'nowhere',
): WorkspaceStep => {
  if (id === undefined) return creates ? 'new' : 'default';
  if (whereabouts === 'here') return 'use';
  if (!creates) return 'not-found';
  return whereabouts === 'elsewhere' ? 'conflict' : 'make';
};

/** Whose a named workspace is: the project's, whoever of it made it, or the person's. */
export const namedWorkspaceOwner = (
  { owner, isPerson }: Pick<Principal, 'owner' | 'isPerson'>,
  project: ProjectId,
): OwnerId => (isPerson ? owner : (project as string as OwnerId));

/** What the id of a default workspace follows from, to be hashed: one per project, and one more per person in it. */
export const defaultWorkspaceKey = (
  principal: Pick<Principal, 'owner' | 'isPerson'>,
  project: ProjectId,
): string => `default workspace\n${project}\n${namedWorkspaceOwner(principal, project)}`;
