/**
 * Who asks: the owner whose resources a token opens, and what it may do with them.
 *
 * A resource of somebody else is answered as one that does not exist.
 */
import type { OwnerId, ProjectId } from './ids.ts';

export type Scope = 'admin' | 'admin:ro' | `project:${string}` | `project:${string}:ro`;

export type Principal = {
  readonly owner: OwnerId;
  readonly scope: Scope;
  /** SHA-256 of the token, in hexadecimal: how every request asks whether it still holds. */
  readonly tokenHash: string;
};

type Owned = { readonly owner: OwnerId; readonly project: ProjectId };

/** The deployment's own owner: of everything an admin token makes. */
export const deploymentOwner = 'deployment' as OwnerId;

/** The project of everything that names none. */
export const defaultProject = '00000000-0000-4000-8000-000000000000' as ProjectId;

const projectOf = (scope: Scope): string | undefined => /^project:([0-9a-f-]{36})(?::ro)?$/.exec(scope)?.[1];

export const mayRead = ({ scope }: Principal, { project }: Owned): boolean =>
  scope === 'admin' || scope === 'admin:ro' || projectOf(scope) === project;

export const mayWrite = (principal: Principal, resource: Owned): boolean =>
  mayRead(principal, resource) && !principal.scope.endsWith(':ro');
