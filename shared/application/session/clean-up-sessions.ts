/** Removes sessions that ended long enough ago, of one project or of all that the caller can list. */

import { mayWrite } from '../../domain/access.ts';
import { pageItemsMax } from '../../domain/limits.ts';
import type { Principal } from '../../domain/principal.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import type { Deps } from '../deps.ts';
import { type ForgetSessionDeps, forgetSession } from './forget-session.ts';
import { listSessions } from './list-sessions.ts';

export type CleanUp = {
  readonly principal: Principal;
  readonly project?: string | undefined;
  readonly ageMsMin: number;
  readonly correlationId: string;
};

export type CleanedUp = {
  readonly removed: number;
  /** Too many for one request, or their sandboxes still stop: call again. */
  readonly hasMore: boolean;
};

const pagesMax = 50;
const atOnceMax = 10;

export const cleanUpSessions = async (
  ports: Deps<'sessions' | 'projects'> & ForgetSessionDeps,
  { principal, project, ageMsMin, correlationId }: CleanUp,
): Promise<CleanedUp> => {
  const endedBefore = ports.world.now() - ageMsMin;
  const isOld = (session: Session): boolean =>
    isEnded(session.status) && session.lastActiveAt <= endedBefore && mayWrite(principal, session);
  let removed = 0;
  let isLeft = false;
  let after: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const listed = await listSessions(ports, { principal, project, after, itemsMax: pageItemsMax });
    const old = listed.sessions.filter(isOld);
    for (let from = 0; from < old.length; from += atOnceMax) {
      const forgotten = await Promise.all(
        old.slice(from, from + atOnceMax).map((session) => forgetSession(ports, session, correlationId)),
      );
      removed += forgotten.filter((isForgotten) => isForgotten).length;
      isLeft ||= forgotten.includes(false);
    }
    after = listed.next;
    if (after === undefined) return { removed, hasMore: isLeft };
  }
  return { removed, hasMore: true };
};
