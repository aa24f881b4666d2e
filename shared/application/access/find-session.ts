/** Finds a session for a caller; another owner's is answered like one that does not exist. */
import type { Intent } from '../../domain/access.ts';
import type { FeaturesSeen } from '../../domain/features.ts';
import { isUuid, type SessionId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Session, SessionKind } from '../../domain/session.ts';
import type { TurnRecord } from '../../domain/turn/turn.ts';
import { AppError } from '../../errors.ts';
import type { TurnStore } from '../../ports/turn-store.ts';
import { requireReach } from './require-permission.ts';

export type { Intent } from '../../domain/access.ts';

export const sessionNotFound = (): AppError =>
  new AppError('session_not_found', 'there is no such session', {
    suggestions: ['Check the session id, or create a new session.'],
    recoveryActions: ['create_new_session'],
  });

export const noFreeSlot = (kind: SessionKind, max: number): AppError =>
  new AppError(
    'resource_limit_exceeded',
    `all ${max} slots of this ${kind === 'execution' ? "owner's execution sessions" : "project's agents"} are busy`,
    {
      facts: { maxSessions: max },
      suggestions: [
        'Wait until one of them has finished, or stop a session that is no longer needed.',
        ...(kind === 'execution' ? ['Let the call wait for a slot with wait_seconds.'] : []),
      ],
      recoveryActions: ['wait_and_retry', 'stop_session'],
    },
  );

export const noConversationLeft = (max: number): AppError =>
  new AppError('resource_limit_exceeded', `this project has ${max} conversations that have not ended`, {
    facts: { maxConversations: max },
    suggestions: ['Stop sessions that are no longer needed.'],
    recoveryActions: ['stop_session'],
  });

export type FoundSession = {
  readonly session: Session;
  readonly turn: TurnRecord;
  readonly seen?: FeaturesSeen | undefined;
};

export const findSession = async (
  turns: TurnStore,
  { id, principal, intent }: { id: string; principal: Principal; intent: Intent },
): Promise<FoundSession> => {
  const found = isUuid(id) ? await turns.getWithTurn(id as SessionId) : undefined;
  if (found === undefined) throw sessionNotFound();
  return allowed(found, { principal, intent });
};

/** The found session, if the principal may access it. */
export const allowed = <Found extends { readonly session: Session }>(
  found: Found,
  { principal, intent }: { readonly principal: Principal; readonly intent: Intent },
): Found => {
  requireReach(principal, found.session, { intent, notFound: sessionNotFound });
  return found;
};
