/**
 * The authorisation matrix: what each scope may do, as one table. Rules in docs/spec/access.md.
 *
 * Every route and tool names the permission it needs; the endpoints check `mayUse` before they do anything or,
 * where the answer depends on the owner of a resource, `mayRead` and `mayWrite` once it is found. A resource of
 * another owner is answered as one that does not exist.
 */
import type { OwnerId, ProjectId } from './ids.ts';
import type { Principal, Scope } from './principal.ts';

/** `any`: every authenticated caller. `global`: of the deployment. `admin:read`: of all owners. `own`: of a project or a person. */
export const needs = [
  'any',
  'global:read',
  'global:write',
  'admin:read',
  'admin',
  'own:read',
  'own:write',
] as const;
export type Permission = (typeof needs)[number];

/** The kind of access to a resource that has been found. */
export type Intent = 'read' | 'write';

/** Any permission on a resource that does not only read it changes it. */
export const intentOf = (permission: Permission): Intent =>
  permission === 'any' || permission.endsWith(':read') ? 'read' : 'write';

type Reach = 'none' | Intent;
type Rights = {
  readonly global: Reach;
  readonly admin: boolean;
  readonly own: Reach;
  readonly others: Reach;
};

export const scopeKinds = ['admin', 'admin:ro', 'project', 'project:ro'] as const;
export type ScopeKind = (typeof scopeKinds)[number];

export const rights: Readonly<Record<ScopeKind, Rights>> = {
  admin: { global: 'write', admin: true, own: 'write', others: 'write' },
  'admin:ro': { global: 'read', admin: false, own: 'read', others: 'read' },
  project: { global: 'read', admin: false, own: 'write', others: 'none' },
  'project:ro': { global: 'read', admin: false, own: 'read', others: 'none' },
};

const scopeKind = (scope: Scope): ScopeKind => {
  if (scope === 'admin' || scope === 'admin:ro') return scope;
  return scope.endsWith(':ro') ? 'project:ro' : 'project';
};

const kindMayUse = (kind: ScopeKind, permission: Permission): boolean => {
  const { global, admin, own, others } = rights[kind];
  switch (permission) {
    case 'any':
      return true;
    case 'global:read':
      return global !== 'none';
    case 'global:write':
      return global === 'write';
    case 'admin:read':
      return others !== 'none';
    case 'admin':
      return admin;
    case 'own:read':
      return own !== 'none';
    case 'own:write':
      return own === 'write';
  }
};

/** True when a scope may use an endpoint at all; `mayRead` and `mayWrite` decide about a resource that is found. */
export const mayUse = ({ scope }: Pick<Principal, 'scope'>, permission: Permission): boolean =>
  kindMayUse(scopeKind(scope), permission);

/** The scopes that would suffice, as they are written; a project's own stands for all of them. */
export const scopesFor = (permission: Permission): readonly string[] =>
  scopeKinds
    .filter((kind) => kindMayUse(kind, permission))
    .map((kind) => kind.replace('project', 'project:<uuid>'));

/** The owner of a resource; a project itself is owned by the scopes that name it. */
export type Owned = { readonly owner?: OwnerId; readonly project: ProjectId };

/** The project a scope is bound to. */
export const projectOf = (scope: Scope): ProjectId | undefined =>
  /^project:([0-9a-f-]{36})(?::ro)?$/.exec(scope)?.[1] as ProjectId | undefined;

/** A person owns what they made in their project; a project token owns all of its project. */
const isOwn = ({ scope, owner, isPerson }: Principal, resource: Owned): boolean =>
  projectOf(scope) === resource.project &&
  (!isPerson || resource.owner === undefined || owner === resource.owner);

const reachOf = (principal: Principal, resource: Owned): Reach => {
  const { own, others } = rights[scopeKind(principal.scope)];
  return isOwn(principal, resource) ? own : others;
};

/** The calls that a principal may decide: all, those of a project, or of a person in a project. Undefined: none. */
export const decidableBy = (
  principal: Principal,
): { readonly project?: ProjectId; readonly owner?: OwnerId } | undefined => {
  if (!mayUse(principal, 'own:write')) return undefined;
  const project = projectOf(principal.scope);
  if (project === undefined) return {};
  return principal.isPerson ? { project, owner: principal.owner } : { project };
};

export const mayRead = (principal: Principal, resource: Owned): boolean =>
  reachOf(principal, resource) !== 'none';

export const mayWrite = (principal: Principal, resource: Owned): boolean =>
  reachOf(principal, resource) === 'write';
