/** Removes ended sessions: those that are named, or those of long ago, of one project or of all that the caller can list. */

import { mayWrite } from '../../domain/access.ts';
import type { SessionId } from '../../domain/ids.ts';
import { pageItemsMax, redriveAfterMs } from '../../domain/limits.ts';
import type { Principal } from '../../domain/principal.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import type { Deps } from '../deps.ts';
import { type ForgetSessionDeps, forgetSession } from './forget-session.ts';
import { listSessions } from './list-sessions.ts';

export type CleanUp = {
  readonly principal: Principal;
  readonly project?: string | undefined;
  readonly ageMsMin: number;
  /** The only ones, whatever their age. */
  readonly only?: readonly SessionId[] | undefined;
};

export type CleanedUp = {
  readonly removed: number;
  /** Too many for one request, or their sandboxes still stop, or a parent has not read them: call again. */
  readonly hasMore: boolean;
};

const pagesMax = 50;
const atOnceMax = 10;

export const cleanUpSessions = async (
  ports: Deps<'sessions' | 'projects'> & ForgetSessionDeps,
  { principal, project, ageMsMin, only }: CleanUp,
): Promise<CleanedUp> => {
  const forget = async (old: readonly Session[]): Promise<readonly boolean[]> => {
    const forgotten: boolean[] = [];
    for (let from = 0; from < old.length; from += atOnceMax)
      forgotten.push(
        ...(await Promise.all(
          old.slice(from, from + atOnceMax).map((session) => forgetAsRead(ports, session)),
        )),
      );
    return forgotten;
  };
  if (only !== undefined) {
    const isWanted = (session: Session): boolean =>
      isEnded(session.status) &&
      mayWrite(principal, session) &&
      (project === undefined || session.project === project);
    const forgotten = await forget((await ports.sessions.getMany(only)).filter(isWanted));
    return { removed: count(forgotten), hasMore: forgotten.includes(false) };
  }
  const endedBefore = ports.world.now() - ageMsMin;
  const isOld = (session: Session): boolean =>
    isEnded(session.status) && session.lastActiveAt <= endedBefore && mayWrite(principal, session);
  let removed = 0;
  let isLeft = false;
  let after: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const listed = await listSessions(ports, { principal, project, after, itemsMax: pageItemsMax });
    const forgotten = await forget(listed.sessions.filter(isOld));
    removed += count(forgotten);
    isLeft ||= forgotten.includes(false);
    after = listed.next;
    if (after === undefined) return { removed, hasMore: isLeft };
  }
  return { removed, hasMore: true };
};

/** The children of a session that was resumed since it was read are not ended: its page may have been long ago. */
const forgetAsRead = async (ports: ForgetSessionDeps, session: Session): Promise<boolean> => {
  const soon = ports.world.now() + redriveAfterMs;
  if (session.hasChildren && !(await ports.sessions.postpone(session, soon))) return false;
  return forgetSession(ports, session);
};

const count = (forgotten: readonly boolean[]): number =>
  forgotten.filter((isForgotten) => isForgotten).length;
