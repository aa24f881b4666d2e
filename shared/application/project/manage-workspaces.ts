/** The named workspaces of a project: created, shown, listed, deleted. Another owner's is not found. */

import { mayRead } from '../../domain/access.ts';
import { isUuid, type SessionId, type WorkspaceId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import { isEnded } from '../../domain/session.ts';
import { AppError } from '../../errors.ts';
import { audit, auditRow, recordAudit } from '../access/audit.ts';
import type { AuditDeps, Deps, ProjectDeps } from '../deps.ts';
import { requestStop } from '../sandbox/stop-sandbox.ts';
import {
  defaultWorkspaceId,
  findDefault,
  isDefaultOf,
  isUsable,
  newWorkspace,
  resolveWorkspace,
  type Within,
  type WorkspaceRef,
  workspaceNotFound,
} from '../session/resolve-workspace.ts';
import { letGo } from '../turn/requests/end-session.ts';

type Page = { readonly after?: string; readonly itemsMax: number };

/** Oldest first; the default one is on the first page, even if it was never used. */
export const listWorkspaces = async (
  ports: Deps<'workspaces' | 'world'>,
  within: Within,
  page: Page,
): Promise<{ readonly workspaces: readonly Workspace[]; readonly next?: string }> => {
  const listed = await ports.workspaces.listNamed(within.project.id, page);
  const named = listed.workspaces.filter((workspace) => mayRead(within.principal, workspace));
  const others = named.filter((workspace) => !isDefaultOf(ports.world, within, workspace));
  const own = page.after === undefined ? await findDefault(ports, within) : undefined;
  return { ...listed, workspaces: [...(own === undefined ? [] : [own.workspace]), ...others] };
};

/** A workspace without a name is found by its id as well. */
export const findWorkspace = async (
  ports: Deps<'workspaces' | 'world'>,
  within: Within,
  id: string,
): Promise<Workspace> => {
  const own = id === defaultWorkspaceId(ports.world, within) ? await findDefault(ports, within) : undefined;
  if (own !== undefined) return own.workspace;
  const found = isUuid(id) ? await ports.workspaces.get(id as WorkspaceId) : undefined;
  const { principal, project } = within;
  const isReadable =
    found?.project === project.id && found.deletedAt === undefined && mayRead(principal, found);
  if (found === undefined || !isReadable) throw workspaceNotFound(id);
  return found;
};

/** `isNew` is false for one that existed. */
export const makeWorkspace = async (
  ports: Deps<'workspaces' | 'world'> & AuditDeps,
  within: Within,
  ref: Omit<WorkspaceRef, 'creates'>,
): Promise<{ readonly workspace: Workspace; readonly isNew: boolean }> => {
  const { world, workspaces } = ports;
  const wanted =
    ref.id === undefined
      ? { workspace: newWorkspace(world, within, { ...ref, id: undefined }), isNew: true }
      : await resolveWorkspace(ports, within, { ...ref, creates: true });
  if (!wanted.isNew) return wanted;
  const { workspace } = wanted;
  if (!(await workspaces.makeNamed(workspace)))
    return resolveWorkspace(ports, within, { id: workspace.id, creates: false });
  await audit(ports, within.principal, {
    action: 'workspace.create',
    subject: workspace.id,
    project: workspace.project,
  });
  return wanted;
};

/** Closed to new sessions when this returns; its sandbox and its saved files are deleted soon after. */
export const deleteWorkspace = async (
  ports: Deps<'workspaces' | 'world'> & ProjectDeps,
  within: Within,
  id: string,
): Promise<void> => {
  const found = await findWorkspace(ports, within, id);
  if (!isUsable(found, within)) throw workspaceNotFound(id);
  if (found.isDefault || isDefaultOf(ports.world, within, found))
    throw new AppError('conflict', 'cannot delete default workspace', {
      suggestions: ['It is deleted with its project. You can delete its files one by one.'],
    });
  if (!found.isNamed)
    throw new AppError('conflict', 'the workspace has no name: it is deleted with its sessions', {
      suggestions: ['End its sessions.'],
      recoveryActions: ['stop_session'],
    });
  const marked = await closeWorkspace(ports, found, within.principal);
  if (marked === undefined) throw hasActiveSessions(found.id);
};

/** Undefined while a session uses it. Once it is marked its deletion is due: a caller that dies here delays it. */
export const closeWorkspace = async (
  ports: ProjectDeps,
  found: Workspace,
  principal: Principal,
): Promise<Workspace | undefined> => {
  await leaveEnded(ports, found.users);
  const at = ports.world.now();
  const { id: subject, project } = found;
  const row = auditRow(principal, at, { action: 'workspace.delete', subject, project });
  const marked = await ports.workspaces.markDeleted(found, at, [row]);
  if (marked === undefined) return undefined;
  recordAudit(ports.telemetry, row);
  const reason = 'the workspace was deleted';
  const now = (await ports.workspaces.get(found.id)) ?? marked;
  await requestStop(ports, now, { reason });
  await ports.forgetter.forgetWorkspace(found.id);
  return marked;
};

/** The function that ended a session may have died before the session left its workspace. */
const leaveEnded = async (ports: ProjectDeps, users: readonly SessionId[]): Promise<void> => {
  const sessions = await ports.sessions.getMany(users);
  const ended = sessions.filter(({ status }) => isEnded(status));
  for (const session of ended) await letGo(ports, session, { reason: 'the session ended' });
};

const hasActiveSessions = (id: string): AppError =>
  new AppError('conflict', `workspace ${id} has active sessions`, {
    suggestions: ['End its sessions first.'],
    recoveryActions: ['stop_session'],
  });
