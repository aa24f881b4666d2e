/**
 * Talks to the agent of a workspace: to the session that answers in it, or to a new one where there is none.
 *
 * The workspace names the agent session that entered it last, and a session enters under the condition that no
 * other was faster: one of any number of messages to a silent workspace creates the session and all reach it
 * (WS3). A message with an id is sent once, even if it is repeated and sessions end concurrently (WS4).
 */

import { mayWrite } from '../../domain/access.ts';
import { derivedUuid, type MessageId, type SessionId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Project } from '../../domain/project.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import { AppError, isAppError } from '../../errors.ts';
import type { SealedEnvironment } from '../../ports/environments.ts';
import { findSession } from '../access/find-session.ts';
import type { SessionDeps } from '../deps.ts';
import { type NewMessage, offerMessage } from '../turn/requests/accept-message.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';
import { createIn, workingProject } from './create-session.ts';
import type { SessionDefaults, SessionOptions } from './new-session.ts';
import { type ResolvedWorkspace, resolveWorkspace, type WorkspaceRef } from './resolve-workspace.ts';
import { resumeSession } from './resume-session.ts';

export type Speech = {
  readonly principal: Principal;
  /** Absent: the project of the scope, or the default one. */
  readonly project?: string | undefined;
  readonly ref: WorkspaceRef;
  /** Options of a session that is created here. */
  readonly options: Omit<SessionOptions, 'kind' | 'project' | 'ref' | 'firstCall' | 'environment'>;
  /** Seals the variables of a session that is created here. */
  readonly sealFor?: (session: SessionId) => SealedEnvironment;
  readonly defaults: SessionDefaults;
  /** Repeated with the same id, it is sent once. */
  readonly messageId?: string | undefined;
  /** Applied to the session before it gets the message, so that the turn finds it. */
  readonly prepare?: (session: Session) => Promise<void>;
};

export type Message = Speech & { readonly text: string };

export type Spawn = Speech & {
  /** Absent: the session gets no message. */
  readonly text?: string | undefined;
  /** Even where one answers already. */
  readonly newSession: boolean;
  /** One that has ended is resumed while its history is kept. */
  readonly resumes?: boolean;
};

export type Conversed = {
  readonly session: Session;
  /** True when the session is new. */
  readonly spawned: boolean;
  readonly workspaceCreated: boolean;
  /** The log up to here has nothing about the message. */
  readonly lastEventIndex: number;
  readonly messageId?: MessageId;
  /** True when the message was sent before: the log may have its answer. */
  readonly isRepeated: boolean;
};

/** Sends a message to the session that answers in the workspace, or to a new one. */
export const messageWorkspace = (
  ports: SessionDeps,
  message: Message,
): Promise<Conversed & { readonly messageId: MessageId }> =>
  converse(ports, { ...message, newSession: false }) as Promise<Conversed & { messageId: MessageId }>;

/** Sends a message to the named session. */
export const messageSession = async (
  ports: SessionDeps,
  { id, ...message }: Message & { readonly id: string },
): Promise<Conversed> => {
  const { principal } = message;
  const { session } = await findSession(ports.turns, { id, principal, intent: 'write' });
  const entered = { session, spawned: false, workspaceCreated: false };
  if (!isEnded(session.status)) await message.prepare?.(session);
  const conversed = await say(ports, { ...message, newSession: false }, entered);
  if (conversed !== undefined) return conversed;
  throw new AppError('invalid_session_state', 'the session has ended', {
    suggestions: ['Resume it: action spawn with the id of its workspace.'],
    recoveryActions: ['create_new_session'],
  });
};

/** The session that answers in the workspace, resumed if it has ended, or a new one; a text is sent to it. */
export const spawnSession = (ports: SessionDeps, spawn: Spawn): Promise<Conversed> =>
  converse(ports, { ...spawn, resumes: true });

const converse = async (ports: SessionDeps, spawn: Spawn): Promise<Conversed> => {
  const { principal, ref, messageId } = spawn;
  const once = messageId === undefined ? {} : { onceFor: messageId };
  // A lost race is a session that was created or ended concurrently, or a project that was deleted.
  return untilWon(async () => {
    const project = await workingProject(ports.projects, principal, spawn.project);
    const where = await resolveWorkspace(ports, { project, principal }, { ...ref, ...once });
    const entered = await enter(ports, spawn, { project, where });
    if (entered !== undefined && !isEnded(entered.session.status)) await spawn.prepare?.(entered.session);
    return (entered && (await say(ports, spawn, entered))) ?? raceLost;
  }, changesTooOften('the set of sessions of this workspace'));
};

type Within = { readonly project: Project; readonly where: ResolvedWorkspace };
type Entered = Pick<Conversed, 'session' | 'spawned' | 'workspaceCreated'>;

/** Undefined when another caller was faster. */
const enter = async (ports: SessionDeps, spawn: Spawn, within: Within): Promise<Entered | undefined> => {
  const { where } = within;
  const { latestAgent } = where.workspace;
  const latest = latestAgent && (await ports.sessions.get(latestAgent));
  if (!spawn.newSession && latest !== undefined && (await answers(ports, spawn, latest)))
    return { session: latest, spawned: false, workspaceCreated: false };
  const resumed = await resumeLatest(ports, spawn, latest);
  if (resumed !== undefined) return { session: resumed, spawned: false, workspaceCreated: false };
  const id = newSessionId(ports, spawn, where.workspace.id);
  const { principal, options, defaults } = spawn;
  const asked = { ...options, kind: 'agent' as const, environment: spawn.sealFor?.(id) };
  const request = { id, principal, options: asked, defaults };
  const after = spawn.newSession ? {} : { after: latestAgent ?? null };
  const made = await createIn(ports, request, { ...within, ...after });
  if (made === 'moved') return undefined;
  if (made === 'exists') return entersAgain(ports, spawn, { id, where });
  const workspaceCreated = where.isNew && where.workspace.isDefault === undefined;
  return { session: made, spawned: true, workspaceCreated };
};

/** Undefined where there is none to resume, or it can be resumed no more. */
const resumeLatest = async (
  ports: SessionDeps,
  { principal, newSession, resumes = false }: Spawn,
  latest: Session | undefined,
): Promise<Session | undefined> => {
  if (!resumes || newSession || latest === undefined || !mayWrite(principal, latest)) return undefined;
  try {
    return await resumeSession(ports, latest, principal);
  } catch (error) {
    if (isAppError(error) && error.code === 'invalid_session_state') return undefined;
    throw error;
  }
};

/** One that has ended answers too, to a message it has already had. */
const answers = async (
  { inbox }: SessionDeps,
  { principal, messageId }: Spawn,
  session: Session,
): Promise<boolean> => {
  if (!mayWrite(principal, session)) return false;
  if (!isEnded(session.status)) return true;
  return messageId !== undefined && inbox.wasAccepted(session.id, messageId as MessageId);
};

/** A repeated message id gives the session of the first time. */
const newSessionId = ({ world }: SessionDeps, { messageId }: Spawn, workspace: string): SessionId =>
  (messageId === undefined
    ? world.uuid()
    : derivedUuid(world.sha256(`session\n${workspace}\n${messageId}`))) as SessionId;

const entersAgain = async (
  { sessions }: SessionDeps,
  { principal }: Spawn,
  { id, where }: { readonly id: SessionId; readonly where: ResolvedWorkspace },
): Promise<Entered> => {
  const session = await sessions.get(id);
  if (session === undefined || session.workspace !== where.workspace.id || !mayWrite(principal, session))
    throw new AppError('conflict', 'a session cannot be created for this message id', {
      suggestions: ['Use another message id.'],
    });
  return { session, spawned: false, workspaceCreated: false };
};

/** Undefined when the session has ended concurrently. */
const say = async (ports: SessionDeps, spawn: Spawn, entered: Entered): Promise<Conversed | undefined> => {
  const { session, spawned } = entered;
  const lastEventIndex = session.lastSeq;
  const { text, messageId, options } = spawn;
  if (text === undefined) return { ...entered, lastEventIndex, isRepeated: false };
  const { model, thinking } = options;
  const message = { text, messageId, model, thinking };
  const offered = isEnded(session.status) ? undefined : await offer(ports, session, { message, spawned });
  if (offered !== undefined && offered.result !== 'ended') {
    const isRepeated = offered.result === 'duplicate';
    return { ...entered, lastEventIndex, messageId: offered.messageId, isRepeated };
  }
  const repeated = await repeatedTo(ports, session, messageId);
  return repeated && { ...entered, lastEventIndex, ...repeated };
};

const repeatedTo = async (
  { inbox }: SessionDeps,
  { id }: Session,
  messageId: string | undefined,
): Promise<Pick<Conversed, 'messageId' | 'isRepeated'> | undefined> => {
  if (messageId === undefined || !(await inbox.wasAccepted(id, messageId as MessageId))) return undefined;
  return { messageId: messageId as MessageId, isRepeated: true };
};

/** A session whose first message found no slot is of no use. */
const offer = async (
  ports: SessionDeps,
  session: Session,
  { message, spawned }: { readonly message: NewMessage; readonly spawned: boolean },
) => {
  try {
    return await offerMessage(ports, session, message);
  } catch (error) {
    if (spawned && isAppError(error)) await ports.sessions.removeUnused(session);
    throw error;
  }
};
