/**
 * The execution sessions that a caller may see and that have not ended, also those that are paused: its own and, to a scope of the
 * deployment, the newest of its projects. The index of sessions is read, whose newest entries may be late, and the slots of the
 * caller, which are not.
 */

import { mayRead, mayUse } from '../../domain/access.ts';
import { listingPagesMax, pageItemsMax } from '../../domain/limits.ts';
import { defaultProject, deploymentOwner, type Principal } from '../../domain/principal.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import { executionSlots } from '../../domain/slot-holder.ts';
import type { Deps } from '../deps.ts';

/** Each is a query of its own. */
const projectsMax = 25;

/** Oldest first; of very many sessions the newest. */
export const listExecutions = async (
  ports: Deps<'slots' | 'sessions' | 'projects'>,
  principal: Principal,
): Promise<readonly Session[]> => {
  const { owner } = principal;
  const { slots, sessions } = ports;
  const [{ taken }, own, others] = await Promise.all([
    slots.read(executionSlots(owner)),
    listOf(sessions, owner),
    mayUse(principal, 'admin:read') ? listOfProjects(ports) : [],
  ]);
  const known = new Map([...own, ...others].map((session) => [session.id, session]));
  const listed = [...known.values()];
  const late = taken.map(({ session }) => session).filter((id) => !known.has(id));
  const found = [...listed, ...(late.length === 0 ? [] : await sessions.getMany(late))];
  return (
    found
      .filter(
        ({ kind, status, trialOf }) => kind === 'execution' && !isEnded(status) && trialOf === undefined,
      )
      // A person, or a client of theirs, may have the scope of one project alone.
      .filter((session) => mayRead(principal, session))
      .sort((one, other) => one.createdAt - other.createdAt)
  );
};

/** A page of each project, of a page of projects. */
const listOfProjects = async ({
  sessions,
  projects,
}: Deps<'sessions' | 'projects'>): Promise<readonly Session[]> => {
  const listed = await projects.list(deploymentOwner, { itemsMax: projectsMax });
  const ids = new Set([defaultProject, ...listed.projects.slice(0, projectsMax).map(({ id }) => id)]);
  const pages = await Promise.all(
    [...ids].map((id) => sessions.listOfProject(id, { itemsMax: pageItemsMax })),
  );
  return pages.flatMap((page) => page.sessions);
};

const listOf = async (
  sessions: Deps<'sessions'>['sessions'],
  owner: Principal['owner'],
): Promise<readonly Session[]> => {
  const found: Session[] = [];
  let after: string | undefined;
  for (let page = 0; page < listingPagesMax; page += 1) {
    const listed = await sessions.list(owner, {
      itemsMax: pageItemsMax,
      ...(after === undefined ? {} : { after }),
    });
    found.push(...listed.sessions);
    after = listed.next;
    if (after === undefined) break;
  }
  return found;
};
