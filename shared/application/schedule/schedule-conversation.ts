/**
 * Talks to sessions for a schedule, in the name of an absent creator.
 *
 * Everything is done at most once per session id and message id, however often it is repeated: a run that died
 * halfway is driven again with the same ids. Rights are the principal's, checked where the session is found or
 * created.
 */

import type { MessageId, ProjectId, SessionId, WorkspaceId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import { isAppError } from '../../errors.ts';
import { findSession } from '../access/find-session.ts';
import type { Deps, SessionDeps } from '../deps.ts';
import { createSession, type SessionDefaults } from '../session/create-session.ts';
import type { SessionOptions } from '../session/new-session.ts';
import { resumeSession } from '../session/resume-session.ts';
import { acceptMessage } from '../turn/requests/accept-message.ts';
import { endSession } from '../turn/requests/end-session.ts';

export type Spoken = {
  readonly principal: Principal;
  readonly text: string;
  readonly messageId: MessageId;
};

export type Spawn = Spoken & {
  /** The id of the new session; repeated for one id, one is created. */
  readonly id: SessionId;
  readonly project: ProjectId;
  /** Absent: the default one of the project. */
  readonly workspace?: WorkspaceId;
};

/** `lastEventIndex`: the log up to here has nothing about the message. */
export type Conversation = {
  readonly session: SessionId;
  readonly workspace: WorkspaceId;
  readonly lastEventIndex: number;
};

export type Converse = {
  /**
   * To a session; one that has ended without it is resumed. `invalid_session_state`: it can no longer be resumed and did not
   * get the message.
   */
  readonly message: (request: Spoken & { readonly session: SessionId }) => Promise<Conversation>;
  /** To a new session; in the workspace of one that cannot be resumed it continues with its files. */
  readonly spawn: (request: Spawn) => Promise<Conversation>;
  /** Ends a session that no later run continues, unless it becomes active concurrently. */
  readonly end: (session: Session) => Promise<void>;
};

/** To drive the runs of schedules. */
export type RunDeps = SessionDeps &
  Deps<'schedules' | 'scheduler' | 'tokens' | 'grants' | 'adminTokenHash'> & { readonly converse: Converse };

export const makeConverse = (ports: SessionDeps, defaults: SessionDefaults): Converse => {
  const say = async (session: Session, request: Spoken): Promise<Conversation> => {
    const { text, messageId } = request;
    await acceptMessage(ports, session, { text, messageId });
    return { session: session.id, workspace: session.workspace, lastEventIndex: session.lastSeq };
  };
  const found = async (id: SessionId, principal: Principal): Promise<Session> =>
    (await findSession(ports.turns, { id, principal, intent: 'write' })).session;
  const spawn = async (request: Spawn): Promise<Conversation> => {
    const { id, principal, project, workspace } = request;
    const options = {
      kind: 'agent' as const,
      project,
      ref: { id: workspace, creates: false },
    } satisfies SessionOptions;
    const session =
      (await createSession(ports, { id, principal, options, defaults })) ?? (await found(id, principal));
    try {
      return await say(session, request);
    } catch (error) {
      // A session whose first message found no slot is of no use.
      if (isAppError(error)) await ports.sessions.removeUnused(session);
      throw error;
    }
  };
  const resumed = async (session: Session, { principal, messageId }: Spoken): Promise<Session> => {
    if (!isEnded(session.status) || (await ports.inbox.wasAccepted(session.id, messageId))) return session;
    try {
      return await resumeSession(ports, session, principal);
    } catch (error) {
      // Another caller may have resumed it since.
      const now = await found(session.id, principal);
      if (isEnded(now.status)) throw error;
      return now;
    }
  };
  return {
    spawn,
    message: async (request) =>
      say(await resumed(await found(request.session, request.principal), request), request),
    end: async (session) => {
      await endSession(ports, session, { reason: 'its run has ended', unlessMoved: true });
    },
  };
};
