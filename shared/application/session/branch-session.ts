/**
 * Branches a conversation: a new session with the settings of another, its messages up to one, and the files of that time. A fork
 * has the files alone, and the sandbox that they were made for.
 *
 * Grants, tools of its clients and what was spent are not taken over, nor is the program that carried its turns: only the
 * built-in loop reads the copied messages. A function that dies on the way leaves a session without the conversation.
 */

import { type Branch, branchAt } from '../../domain/branch.ts';
import type { SessionId } from '../../domain/ids.ts';
import { checkpointAt } from '../../domain/kept-checkpoints.ts';
import { eventsPerSessionMax } from '../../domain/limits.ts';
import { decodeProvider } from '../../domain/model.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Session } from '../../domain/session.ts';
import { type FilesSource, sourceOfKept } from '../../domain/snapshot.ts';
import { AppError } from '../../errors.ts';
import { findSession, sessionNotFound } from '../access/find-session.ts';
import { requireReach } from '../access/require-permission.ts';
import type { Deps, SessionDeps } from '../deps.ts';
import { existingWorkspace, savedWorkspace } from '../sandbox/saved-workspace.ts';
import { type ForkOf, forkSource } from '../snapshot/fork-source.ts';
import type { SnapshotDeps } from '../snapshot/manage-snapshots.ts';
import { createSession } from './create-session.ts';
import type { SessionDefaults, SessionOptions } from './new-session.ts';

type BranchDeps = SessionDeps & SnapshotDeps & Deps<'turns' | 'eventLog' | 'environments'>;

export type BranchRequest = {
  readonly id: SessionId;
  readonly principal: Principal;
  readonly of: BranchOf;
  /** Those that are left out are as in the other session. */
  readonly options: SessionOptions;
  readonly defaults: SessionDefaults;
};

/** Undefined when the id is taken. */
export const branchSession = async (
  ports: BranchDeps,
  { id, principal, of, options, defaults }: BranchRequest,
): Promise<Session | undefined> => {
  if (options.kind === 'execution')
    throw new AppError('invalid_request', 'kind: only an agent session can continue a conversation');
  const source = await readBranch(ports, principal, of);
  const { session: other, branch, instructions } = source;
  const environment = options.environment ?? (await environmentOf(ports, other, id));
  const session = await createSession(ports, {
    ...{ id, principal, defaults },
    options: { ...settingsOf(other, options), ...withoutAbsent({ ...options, environment }) },
    sourceIn: async (project) => {
      if (project.id !== other.project) throw sessionNotFound();
      return branchFiles(ports, source, of.files);
    },
    continues: {
      ...(options.agent !== undefined || other.agent === undefined ? {} : { agent: other.agent }),
      ...(options.instructions !== undefined || instructions === undefined ? {} : { instructions }),
    },
  });
  if (session === undefined) return undefined;
  const { sessions, turns, world } = ports;
  const continued = await turns.continueFrom(session, {
    ...{ history: branch.history, events: branch.events, at: world.now() },
    note: {
      type: 'system',
      data: { kind: 'session_branched', sessionId: other.id, messageId: of.messageId },
    },
    ...(other.title === undefined ? {} : { title: other.title }),
  });
  return continued ?? sessions.get(id);
};

/** Of a session, in its project and with its template, flavor and network, where the request leaves them out. */
export const forkSession = async (
  ports: SessionDeps & SnapshotDeps,
  { of, options, ...request }: Omit<BranchRequest, 'of'> & { readonly of: ForkOf },
): Promise<Session | undefined> => {
  const { principal } = request;
  const other = of.session === undefined ? undefined : await ports.sessions.get(of.session as SessionId);
  if (of.session !== undefined && other === undefined) throw sessionNotFound();
  if (other !== undefined) requireReach(principal, other, { intent: 'read', notFound: sessionNotFound });
  return createSession(ports, {
    ...request,
    options: { ...(other && sandboxOf(other)), ...withoutAbsent(options) },
    sourceIn: forkSource(ports, principal, of),
  });
};

/** A network that was narrowed stays so. */
const sandboxOf = (session: Session): SessionOptions => {
  const { project, template, flavor, network = null } = session;
  return { project, template, flavor, network };
};

const settingsOf = (session: Session, asked: SessionOptions): SessionOptions => {
  const { provider, approvals, thinking, allowSmallerFlavor } = session;
  const hasOtherProvider = asked.provider !== undefined && decodeProvider(asked.provider) !== provider;
  const { labels, idleMs, lifetimeMs, cwd, disabledTools, allowedTools, effects, limits } = session;
  return {
    ...sandboxOf(session),
    ...{ provider, approvals, thinking, allowSmallerFlavor, runtime: 'builtin' },
    // Another provider does not know the model.
    ...(hasOtherProvider ? {} : { model: session.model }),
    ...{ labels, cwd, disabledTools, allowedTools, effects },
    ...(idleMs === undefined ? {} : { idleSeconds: idleMs / 1000 }),
    ...(limits?.ownCostUsdMax === undefined ? {} : { maxCostUsd: limits.ownCostUsdMax }),
    ...(lifetimeMs === undefined ? {} : { lifetimeSeconds: lifetimeMs / 1000 }),
  };
};

const withoutAbsent = (options: SessionOptions): SessionOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

/** The variables of the other session, sealed anew: each has its own lifetime. */
const environmentOf = async (
  { environments }: BranchDeps,
  { environment }: Session,
  id: SessionId,
): Promise<SessionOptions['environment']> => {
  const variables = environment && (await environments.read(environment.of));
  if (environment !== undefined && variables === undefined)
    throw new AppError('conflict', 'the variables of this session can no longer be read', {
      suggestions: ['Give the branch its own variables: env.'],
      recoveryActions: ['correct_arguments'],
    });
  return variables && environments.seal(id, variables);
};

export type BranchOf = {
  readonly session: SessionId;
  readonly messageId: string;
  readonly files?: 'then' | 'now' | undefined;
};

export type BranchSource = {
  readonly session: Session;
  readonly branch: Branch;
  /** The text that the agent of the other session reads. */
  readonly instructions?: string;
};

/** Throws `session_not_found`, or `invalid_request` naming the message. */
const readBranch = async (
  { turns, eventLog }: Deps<'turns' | 'eventLog'>,
  principal: Principal,
  { session: id, messageId }: BranchOf,
): Promise<BranchSource> => {
  const { session } = await findSession(turns, { id, principal, intent: 'read' });
  if (session.kind !== 'agent') throw refused('from.session: an execution session has no conversation');
  // The log first: a message that is in the history alone was said since.
  const { events } = await eventLog.read(id, { since: -1, eventsMax: eventsPerSessionMax });
  const { history, instructions } = await turns.loadWork(id);
  const branch = branchAt({ history, events }, messageId);
  if (branch === undefined)
    throw refused('from.messageId: the conversation cannot be continued from this message', [
      "Name a message of the user, or an answer that ended its turn, of the agent's present conversation.",
    ]);
  return { session, branch, ...(instructions === undefined ? {} : { instructions }) };
};

/**
 * The files of a branch; read again for each attempt to create its session. Nothing is saved and no sandbox is asked for files of an
 * earlier time.
 */
const branchFiles = async (
  ports: SnapshotDeps,
  { session, branch }: BranchSource,
  files: BranchOf['files'] = 'then',
): Promise<FilesSource> => {
  if (files === 'now' || branch.filesAt === 'now') {
    const saved = await savedWorkspace(ports, session.workspace);
    return sourceOfKept(saved, saved.checkpoint);
  }
  const workspace = await existingWorkspace(ports, session.workspace);
  const found = branch.filesAt === undefined ? 'unknown' : checkpointAt(workspace, branch.filesAt);
  if (found !== 'unknown') return sourceOfKept(workspace, found);
  throw new AppError('conflict', 'the files of the time of this message are no longer kept', {
    suggestions: ['Branch with the present files: from.files "now".'],
    recoveryActions: ['correct_arguments'],
  });
};

const refused = (message: string, suggestions: readonly string[] = []): AppError =>
  new AppError('invalid_request', message, {
    ...(suggestions.length === 0 ? {} : { suggestions }),
    recoveryActions: ['correct_arguments'],
  });
