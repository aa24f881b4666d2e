/** Finds a session for somebody who asks; another owner's is answered like one that does not exist. */
import { isUuid, type SessionId } from '../domain/ids.ts';
import { mayRead, mayWrite, type Principal } from '../domain/principal.ts';
import type { Session } from '../domain/session.ts';
import type { TurnRecord } from '../domain/turn/turn.ts';
import { AppError } from '../errors.ts';
import type { SessionStore } from '../ports/session-store.ts';

export type Intent = 'read' | 'write';

export const sessionNotFound = (): AppError =>
  new AppError('session_not_found', 'there is no such session', {
    suggestions: ['Check the session id, or make a new session.'],
    recoveryActions: ['create_new_session'],
  });

export const findSession = async (
  sessions: SessionStore,
  { id, principal, intent }: { id: string; principal: Principal; intent: Intent },
): Promise<{ readonly session: Session; readonly turn: TurnRecord }> => {
  const found = isUuid(id) ? await sessions.getWithTurn(id as SessionId) : undefined;
  if (found === undefined) throw sessionNotFound();
  return allowed(found, { principal, intent });
};

/** What was found, if the principal may have it. */
export const allowed = <Found extends { readonly session: Session }>(
  found: Found,
  { principal, intent }: { readonly principal: Principal; readonly intent: Intent },
): Found => {
  if (!mayRead(principal, found.session)) throw sessionNotFound();
  if (intent === 'write' && !mayWrite(principal, found.session))
    throw new AppError('forbidden', 'this token may read but not write');
  return found;
};
