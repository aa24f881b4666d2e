/** Creates a session, in the workspace that it names or in a new one. It holds no slot: its sandbox and its turns do. */

import { projectOf } from '../../domain/access.ts';
import { InvariantError } from '../../domain/assert.ts';
import type { SessionId, WorkspaceId } from '../../domain/ids.ts';
import { redriveAfterMs } from '../../domain/limits.ts';
import { defaultProject, type Principal } from '../../domain/principal.ts';
import type { Project } from '../../domain/project.ts';
import type { SandboxRecord, Workspace } from '../../domain/sandbox.ts';
import { differencesOf } from '../../domain/sandbox-differences.ts';
import { endedStatus, type Session } from '../../domain/session.ts';
import { type FilesSource, filesOfFork } from '../../domain/snapshot.ts';
import { AppError } from '../../errors.ts';
import type { ProjectStore } from '../../ports/projects.ts';
import { auditRow } from '../access/audit.ts';
import { findProject, projectNotFound } from '../access/find-project.ts';
import type { SessionDeps } from '../deps.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';
import { instructionsOf, newSession, type SessionDefaults, type SessionOptions } from './new-session.ts';
import { type ResolvedWorkspace, resolveWorkspace } from './resolve-workspace.ts';

export type { SessionDefaults, SessionOptions } from './new-session.ts';

export type CreateRequest = {
  readonly id: SessionId;
  readonly principal: Principal;
  readonly options: SessionOptions;
  readonly defaults: SessionDefaults;
  /** The files that its new workspace begins with; read for each attempt, with what they are then. */
  readonly sourceIn?: (project: Project) => Promise<FilesSource>;
  /** Of a session whose conversation it continues: the name of its agent, and what that reads. */
  readonly continues?: { readonly agent?: string; readonly instructions?: string };
};

/** The session, or undefined when the id is taken. */
export const createSession = async (
  ports: SessionDeps,
  request: CreateRequest,
): Promise<Session | undefined> => {
  const { principal, options } = request;
  // A lost race is a concurrent creation, use or deletion of the same workspace, or the deletion of its project.
  return untilWon(async () => {
    const project = await workingProject(ports.projects, principal, options.project);
    const where = options.ref && (await resolveWorkspace(ports, { project, principal }, options.ref));
    if (request.sourceIn !== undefined && where?.isNew === false) throw workspaceHasFiles();
    const source = await request.sourceIn?.(project);
    const made = await createIn(ports, request, {
      project,
      ...(where === undefined ? {} : { where }),
      ...(source === undefined ? {} : { source }),
    });
    if (made === 'moved') return raceLost;
    return made === 'exists' ? undefined : made;
  }, changesTooOften('the workspace'));
};

type Whereabouts = {
  readonly project: Project;
  /** Absent: a workspace of its own. */
  readonly where?: ResolvedWorkspace;
  /** The files of a new one; absent: none. */
  readonly source?: FilesSource;
  /** Only while this is the latest agent session of the workspace; `null`: while it has none. */
  readonly after?: SessionId | null;
};

/** `exists`: the id is taken. `moved`: the workspace has changed since it was read. */
export const createIn = async (
  ports: SessionDeps,
  request: CreateRequest,
  { project, where, source, after }: Whereabouts,
): Promise<Session | 'exists' | 'moved'> => {
  const { id } = request;
  const workspace = where?.workspace.id ?? (ports.world.uuid() as WorkspaceId);
  const made = {
    ...newSession({ now: ports.world.now(), id }, { project, workspace }, request),
    ...(request.continues?.agent === undefined ? {} : { agent: request.continues.agent }),
  };
  const session = joinRunningSandbox(made, where?.workspace ?? {}, request.options);
  const instructions = made.kind === 'agent' ? textFor(project, request) : undefined;
  const sealed = request.options.environment?.sealed;
  const result = await ports.sessions.create(session, {
    ...(where?.isNew === false
      ? { enters: after === undefined ? {} : { after } }
      : {
          workspace: { ...firstEntered(session, where?.workspace), ...filesOfFork(source, workspace) },
          ...(source === undefined ? {} : { source }),
        }),
    ...(request.options.slice === undefined ? {} : { slice: request.options.slice }),
    ...(sealed === undefined ? {} : { sealed }),
    ...(instructions === undefined ? {} : { instructions }),
    audits: auditsOf(request.principal, session),
  });
  if (result === 'orphan' || result === 'full')
    throw new InvariantError('a session without a parent belongs to no tree');
  return unlessProjectDeleted(ports, session, result);
};

/** A deletion that was found before the session was made refuses it, too. */
const unlessProjectDeleted = async (
  ports: SessionDeps,
  session: Session,
  result: 'created' | 'exists' | 'moved',
): Promise<Session | 'exists' | 'moved'> => {
  if (result === 'moved' && (await ports.projects.isMarked(session.project))) throw projectNotFound();
  if (result !== 'created') return result;
  await refuseIfDeleted(ports, session);
  return session;
};

const textFor = (project: Project, { continues, options }: CreateRequest): string | undefined =>
  continues?.instructions ?? instructionsOf(project, options);

/** A session that runs without approvals is in the audit log, with the caller that chose it. */
export const auditsOf = (principal: Principal, { id, project, kind, approvals, createdAt }: Session) =>
  kind === 'agent' && approvals === 'auto'
    ? [
        auditRow(principal, createdAt, {
          action: 'session.approvals_auto',
          subject: id,
          project,
          detail: { sessionId: id, approvals },
        }),
      ]
    : [];

const firstEntered = (
  { id, owner, project, workspace, createdAt, kind }: Session,
  named: Workspace | undefined,
): Workspace => ({
  ...(named ?? { id: workspace, owner, project, createdAt }),
  users: [id],
  ...(kind === 'agent' ? { latestAgent: id } : {}),
});

const workspaceHasFiles = (): AppError =>
  new AppError('conflict', 'from: the workspace exists already, and keeps its files', {
    suggestions: ['Leave `workspace` out: the session gets a new one.'],
    recoveryActions: ['correct_arguments'],
  });

/**
 * Deleting a project marks it and then looks for its sessions; creating a session writes it and then looks for
 * the mark. So one of the two sees the other (WS5).
 */
export const refuseIfDeleted = async (
  { projects, sessions, world }: SessionDeps,
  session: Session,
): Promise<void> => {
  if (!(await projects.isMarked(session.project))) return;
  const at = world.now();
  await sessions.end(session, { status: endedStatus(session.kind), at, dueAt: at + redriveAfterMs });
  throw projectNotFound();
};

/** The project a principal may work in: the named one, its own, or the default. */
export const workingProject = (
  projects: ProjectStore,
  principal: Principal,
  wanted: string | undefined,
): Promise<Project> => {
  const id = wanted ?? projectOf(principal.scope) ?? defaultProject;
  return findProject(projects, { id, principal, intent: 'write' });
};

/**
 * A session takes what runs, unless it asked for something else by name, which is a conflict. A sandbox that stops takes nothing with
 * it: the next one is as the session wants it.
 */
export const joinRunningSandbox = (
  session: Session,
  { sandbox }: Partial<Pick<Workspace, 'sandbox'>>,
  options: SessionOptions,
): Session => {
  if (sandbox?.state !== 'starting' && sandbox?.state !== 'ready') return session;
  const differences = differencesOf(options, session, sandbox);
  if (differences.length === 0) return taking(session, sandbox);
  const { flavor, template } = sandbox;
  throw new AppError('conflict', `the sandbox of the workspace runs with another ${differences.join(', ')}`, {
    facts: { flavor, template },
    suggestions: [
      `Leave out ${differences.join(', ')} to use what runs, or name another workspace.`,
      'Or wait until the sandbox has stopped.',
    ],
  });
};

const taking = (
  { network: _, ...session }: Session,
  { flavor, template, network }: Pick<SandboxRecord, 'flavor' | 'template' | 'network'>,
): Session => ({ ...session, flavor, template, ...(network === undefined ? {} : { network }) });
