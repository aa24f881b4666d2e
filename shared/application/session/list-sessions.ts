/**
 * Sessions, newest first: all of a project, or those of an owner. A person sees only their own.
 *
 * A page is read until it is full or there is no more, up to a bound. A page that a filter left short or empty still has a
 * `next`.
 */

import { mayRead, projectOf } from '../../domain/access.ts';
import type { ProjectId } from '../../domain/ids.ts';
import { listingPagesMax } from '../../domain/limits.ts';
import type { Principal } from '../../domain/principal.ts';
import { isEnded, type Session, type SessionStatus } from '../../domain/session.ts';
import { hasLabel, type Label } from '../../domain/session-details.ts';
import { findProject } from '../access/find-project.ts';
import type { Deps } from '../deps.ts';

export type SessionSearch = {
  readonly principal: Principal;
  readonly project?: string | undefined;
  /** `active`: none that has ended. */
  readonly status?: SessionStatus | 'active' | undefined;
  readonly kind?: Session['kind'] | undefined;
  /** The listed sessions have all of them. */
  readonly label?: readonly Label[] | undefined;
  /** True: only those; false: only others. Absent: all. */
  readonly archived?: boolean | undefined;
  readonly after?: string | undefined;
  readonly itemsMax: number;
};

export type SessionPage = { readonly sessions: readonly Session[]; readonly next?: string };

type ReadPage = (page: { readonly after?: string; readonly itemsMax: number }) => Promise<SessionPage>;

export const listSessions = async (
  ports: Deps<'sessions' | 'projects'>,
  search: SessionSearch,
): Promise<SessionPage> => {
  const { principal, itemsMax } = search;
  const wanted = await wantedProject(ports, search);
  const read = readerOf(ports, principal, wanted);
  const isWanted = (session: Session): boolean =>
    session.trialOf === undefined &&
    mayRead(principal, session) &&
    (wanted === undefined || session.project === wanted) &&
    (search.kind === undefined || session.kind === search.kind) &&
    (search.label ?? []).every((label) => hasLabel(session, label)) &&
    (search.archived === undefined || (session.isArchived ?? false) === search.archived) &&
    hasStatus(session, search.status);
  const found: Session[] = [];
  let next = search.after;
  for (let page = 0; page < listingPagesMax && found.length < itemsMax; page += 1) {
    const asked = { itemsMax: itemsMax - found.length, ...(next === undefined ? {} : { after: next }) };
    const listed = await read(asked);
    found.push(...listed.sessions.filter(isWanted));
    next = listed.next;
    if (next === undefined) return { sessions: found };
  }
  return { sessions: found, ...(next === undefined ? {} : { next }) };
};

const hasStatus = ({ status }: Session, wanted: SessionSearch['status']): boolean =>
  wanted === undefined || (wanted === 'active' ? !isEnded(status) : status === wanted);

/** The named one, if it may be read; a token of a project means its own. */
const wantedProject = async (
  { projects }: Deps<'sessions' | 'projects'>,
  { project, principal }: SessionSearch,
): Promise<ProjectId | undefined> => {
  if (project !== undefined)
    return (await findProject(projects, { id: project, principal, intent: 'read' })).id;
  return principal.isPerson ? undefined : projectOf(principal.scope);
};

/** A person's sessions are fewer than their project's. */
const readerOf = (
  { sessions }: Deps<'sessions' | 'projects'>,
  { owner, isPerson, scope }: Principal,
  project: ProjectId | undefined,
): ReadPage => {
  const isOwnOnly = project === undefined || (isPerson && projectOf(scope) !== undefined);
  return isOwnOnly ? (page) => sessions.list(owner, page) : (page) => sessions.listOfProject(project, page);
};
