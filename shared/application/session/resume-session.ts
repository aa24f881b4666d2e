/**
 * Reopens an ended agent session while its history is kept: with its conversation, its approvals mode and the rest of its
 * budget, and without its grants. Its workspace has the files of the last checkpoint.
 */

import { eventFrame } from '../../contracts/frames.ts';
import { idleLimit } from '../../domain/idle-time.ts';
import type { Principal } from '../../domain/principal.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import { AppError } from '../../errors.ts';
import { noConversationLeft } from '../access/find-session.ts';
import type { SessionDeps } from '../deps.ts';
import { openPublisher } from '../events/publisher.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';
import { auditsOf, refuseIfDeleted } from './create-session.ts';

/** Throws `invalid_session_state` for a session that cannot be resumed. */
export const resumeSession = (ports: SessionDeps, session: Session, by: Principal): Promise<Session> =>
  untilWon(async (race) => {
    const current = race === 0 ? session : await ports.sessions.get(session.id);
    if (current === undefined) throw notResumable('its history is no longer kept');
    return tryResume(ports, current, by);
  }, changesTooOften('the session'));

const tryResume = async (
  ports: SessionDeps,
  session: Session,
  by: Principal,
): Promise<Session | typeof raceLost> => {
  const { lifetimes, sessions, slotLimits, world } = ports;
  const at = world.now();
  const why = obstacle(session, at - lifetimes.historyMs);
  if (why !== undefined) throw notResumable(why);
  const { conversationsMax } = slotLimits;
  const resumed = await sessions.resume(session, {
    at,
    dueAt: at + idleLimit(session, lifetimes),
    conversationsMax,
    log: [{ type: 'system', data: { kind: 'session_status', status: 'idle' } }],
    audits: auditsOf(by, { ...session, createdAt: at }),
  });
  switch (resumed.status) {
    case 'moved':
      return raceLost;
    case 'gone':
      throw notResumable('its workspace or its history is deleted');
    case 'full':
      throw noConversationLeft(conversationsMax);
    case 'resumed': {
      await refuseIfDeleted(ports, resumed.session);
      const frames = resumed.events.map((event) => eventFrame(session.id, event));
      await openPublisher(ports, session).publish(frames);
      return resumed.session;
    }
  }
};

/** The reason for which it cannot be resumed. */
const obstacle = ({ kind, status, tree, lastActiveAt }: Session, keptSince: number): string | undefined => {
  if (kind !== 'agent')
    return 'an execution session is not resumed: a paused one starts again with its next call';
  if (tree !== undefined) return 'it was started by another agent';
  if (!isEnded(status)) return `it is ${status} and takes messages`;
  return lastActiveAt <= keptSince ? 'its history is no longer kept' : undefined;
};

const notResumable = (why: string): AppError =>
  new AppError('invalid_session_state', `the session cannot be resumed: ${why}`, {
    suggestions: ['Send a message to an active session, or create a new one.'],
    recoveryActions: ['create_new_session'],
  });
