/**
 * The execution sessions of an owner that have not ended, also those that are paused. The index of sessions is read, whose
 * newest entries may be late, and the slots, which are not.
 */

import { mayRead } from '../../domain/access.ts';
import { listingPagesMax, pageItemsMax } from '../../domain/limits.ts';
import type { Principal } from '../../domain/principal.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import { executionSlots } from '../../domain/slot-holder.ts';
import type { Deps } from '../deps.ts';

/** Oldest first; of very many sessions the newest. */
export const listExecutions = async (
  { slots, sessions }: Deps<'slots' | 'sessions'>,
  principal: Principal,
): Promise<readonly Session[]> => {
  const { owner } = principal;
  const [{ taken }, listed] = await Promise.all([slots.read(executionSlots(owner)), listOf(sessions, owner)]);
  const known = new Set(listed.map(({ id }) => id));
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
