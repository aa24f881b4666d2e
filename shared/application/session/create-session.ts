/**
 * Creates a session, in the workspace it names or in one of its own. An execution session acquires its slot at
 * once, an agent session with its first message.
 */

import { projectOf } from '../../domain/access.ts';
import { InvariantError } from '../../domain/assert.ts';
import type { SessionId, WorkspaceId } from '../../domain/ids.ts';
import { redriveAfterMs } from '../../domain/limits.ts';
import { defaultProject, type Principal } from '../../domain/principal.ts';
import type { Project } from '../../domain/project.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import { endedStatus, type Session } from '../../domain/session.ts';
import { slotsMax } from '../../domain/slots.ts';
import { AppError } from '../../errors.ts';
import type { ProjectStore } from '../../ports/projects.ts';
import { auditRow } from '../access/audit.ts';
import { findProject, projectNotFound } from '../access/find-project.ts';
import { noFreeSlot } from '../access/find-session.ts';
import type { SessionDeps } from '../deps.ts';
import { newSession, type SessionDefaults, type SessionOptions } from './new-session.ts';
import { type ResolvedWorkspace, resolveWorkspace } from './resolve-workspace.ts';

export type { SessionDefaults, SessionOptions } from './new-session.ts';

export type CreateRequest = {
  readonly id: SessionId;
  readonly principal: Principal;
  readonly options: SessionOptions;
  readonly defaults: SessionDefaults;
};

/** Each lost race is a concurrent creation, use or deletion of the same workspace. */
const racesMax = 10;

/** The session, or undefined when the id is taken. Throws `resource_limit_exceeded` when no slot is left. */
export const createSession = async (
  ports: SessionDeps,
  request: CreateRequest,
): Promise<Session | undefined> => {
  const { principal, options } = request;
  const project = await workingProject(ports.projects, principal, options.project);
  for (let race = 0; race < racesMax; race += 1) {
    const where = options.ref && (await resolveWorkspace(ports, { project, principal }, options.ref));
    const made = await createIn(ports, request, { project, ...(where === undefined ? {} : { where }) });
    if (made !== 'moved') return made === 'exists' ? undefined : made;
  }
  throw new AppError('conflict', 'the workspace is being changed concurrently', {
    suggestions: ['Try again.'],
    recoveryActions: ['retry_operation'],
  });
};

type Whereabouts = {
  readonly project: Project;
  /** Absent: a workspace of its own. */
  readonly where?: ResolvedWorkspace;
  /** Only while this is the latest agent session of the workspace; `null`: while it has none. */
  readonly after?: SessionId | null;
};

/** `exists`: the id is taken. `moved`: the workspace has changed since it was read. */
export const createIn = async (
  ports: SessionDeps,
  request: CreateRequest,
  { project, where, after }: Whereabouts,
): Promise<Session | 'exists' | 'moved'> => {
  const { id, defaults } = request;
  const workspace = where?.workspace.id ?? (ports.world.uuid() as WorkspaceId);
  const session = newSession({ now: ports.world.now(), id }, { project, workspace }, request);
  const { kind } = session;
  const max = slotsMax(kind, defaults.slots);
  const result = await ports.sessions.create(session, {
    ...(where?.isNew === false
      ? { enters: after === undefined ? {} : { after } }
      : { workspace: firstEntered(session, where?.workspace) }),
    slotsMax: max,
    audits: auditsOf(request.principal, session),
  });
  if (result === 'full') throw noFreeSlot(kind, max);
  if (result === 'orphan') throw new InvariantError('a session without a parent cannot be an orphan');
  if (result !== 'created') return result;
  await refuseIfDeleted(ports, session);
  return session;
};

/** A session that runs without approvals is in the audit log, with the caller that chose it. */
const auditsOf = (principal: Principal, { id, project, kind, approvals, createdAt }: Session) =>
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

/**
 * Deleting a project marks it and then looks for its sessions; creating a session writes it and then looks for
 * the mark. So one of the two sees the other (WS5).
 */
const refuseIfDeleted = async (
  { projects, sessions, world }: SessionDeps,
  session: Session,
): Promise<void> => {
  if (session.project === defaultProject || (await projects.get(session.project)) !== undefined) return;
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
