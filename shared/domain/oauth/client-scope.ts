/**
 * Scopes of connected clients: what a client may ask for, and what a person may give it.
 *
 * A client is bound to one project, to read and write it or only to read it. Refuses the scopes of administrators: with one, a
 * client could make tokens that outlive its own end (OA6). `own:write` and `own:ro` leave the project to the person.
 */
import { projectOf } from '../access.ts';
import type { ProjectId } from '../ids.ts';
import { decodeScope, type Scope } from '../principal.ts';

/** As the metadata lists them; `project:<uuid>` and `project:<uuid>:ro` are taken besides. */
export const scopesSupported = ['own:write', 'own:ro'] as const;

export const accessKinds = ['write', 'read'] as const;
export type AccessKind = (typeof accessKinds)[number];

/** One word of a request. */
type Wish = { readonly kind: AccessKind; readonly project?: ProjectId };

export type WishedScope =
  | { readonly kind: 'wishes'; readonly wishes: readonly Wish[] }
  | { readonly kind: 'refused'; readonly problem: string };

const whatever: readonly Wish[] = [{ kind: 'write' }];

/** Words of other systems are left out, as many clients send some; without a word of ours, the person chooses. */
export const decodeWishes = (text: string | undefined): WishedScope => {
  const words = (text ?? '').split(' ').filter((word) => word !== '');
  if (words.some((word) => word === 'admin' || word.startsWith('admin:')))
    return { kind: 'refused', problem: 'no client is given a scope of administrators' };
  const wishes = words.flatMap((word) => wishOf(word) ?? []);
  return { kind: 'wishes', wishes: wishes.length === 0 ? whatever : wishes };
};

const wishOf = (word: string): Wish | undefined => {
  if (word === 'own:write') return { kind: 'write' };
  if (word === 'own:ro') return { kind: 'read' };
  const scope = decodeScope(word);
  const project = scope === undefined ? undefined : projectOf(scope);
  return scope === undefined || project === undefined ? undefined : { kind: kindOf(scope), project };
};

const kindOf = (scope: Scope): AccessKind => (scope.endsWith(':ro') ? 'read' : 'write');

/** The access that a person of some scope can give a client: the kinds, the stronger first, and the project, where there is no choice. */
export type Offer = { readonly access: readonly AccessKind[]; readonly project?: ProjectId };

export const offerOf = (person: Scope, wishes: readonly Wish[]): Offer | undefined => {
  const access = accessKinds.filter((kind) => wishes.some((wish) => covers(wish.kind, kind)));
  const within = access.filter((kind) => covers(kindOf(person), kind));
  const own = projectOf(person);
  const [named, ...others] = [...new Set(wishes.flatMap(({ project }) => project ?? []))];
  const project = own ?? (others.length === 0 && wishes.every((wish) => wish.project) ? named : undefined);
  const isOpen = within.some((kind) => wishes.some((wish) => isWithin({ kind, project }, wish)));
  if (!isOpen) return undefined;
  return { access: within, ...(project === undefined ? {} : { project }) };
};

/** True for a scope that the client asked for and the person has. */
export const mayGive = (person: Scope, wishes: readonly Wish[], given: Scope): boolean => {
  const project = projectOf(given);
  if (project === undefined) return false;
  const asked = { kind: kindOf(given), project };
  const own = projectOf(person);
  const has = { kind: kindOf(person), ...(own === undefined ? {} : { project: own }) };
  return isWithin(asked, has) && wishes.some((wish) => isWithin(asked, wish));
};

const covers = (outer: AccessKind, inner: AccessKind): boolean => outer === 'write' || inner === 'read';

type Reach = { readonly kind: AccessKind; readonly project?: ProjectId | undefined };

const isWithin = (inner: Reach, outer: Wish): boolean =>
  covers(outer.kind, inner.kind) &&
  (outer.project === undefined || inner.project === undefined || outer.project === inner.project);
