/**
 * The execution sessions that a caller may see and that have not ended, also those that are paused: its own and, to a scope of the
 * deployment, the newest of its projects. The index of sessions is read, whose newest entries may be late, and the slots of the
 * caller, which are not.
 */

import { mayRead, mayUse } from '../../domain/access.ts';
import { listingPagesMax, pageItemsMax } from '../../domain/limits.ts';
import type { Principal } from '../../domain/principal.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import { executionSlots } from '../../domain/slot-holder.ts';
import type { Deps } from '../deps.ts';
import { countedProjects } from '../project/agent-slots.ts';

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
    mayUse(principal, 'admin:read') ? listOfProjects(ports, principal) : [],
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

/** A page of each project that is counted. */
const listOfProjects = async (
  ports: Deps<'sessions' | 'projects'>,
  principal: Principal,
): Promise<readonly Session[]> => {
  const projects = await countedProjects(ports, principal);
  const pages = await Promise.all(
    projects.map(({ id }) => ports.sessions.listOfProject(id, { itemsMax: pageItemsMax })),
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
