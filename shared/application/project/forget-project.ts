/**
 * Empties a project whose deletion was decided: its tokens, its schedules, its webhooks, its secrets, its MCP
 * servers, its snapshots, sessions that were made in it too late, its workspaces. The record is deleted last, so that a run that
 * failed halfway is repeated. A repeat finds whatever was not finished: what it is listed by goes last, or in the same write as the
 * rest, or leaves the rest due. Ended sessions expire by themselves.
 */

import { projectOf } from '../../domain/access.ts';
import type { ProjectId } from '../../domain/ids.ts';
import { pageItemsMax } from '../../domain/limits.ts';
import { deploymentOwner, type Principal } from '../../domain/principal.ts';
import { audit, auditRow, recordAudit } from '../access/audit.ts';
import { closeSocketsOfCredential } from '../access/close-sockets-of-credential.ts';
import type { ForgetDeps } from '../deps.ts';
import { forgetWorkspace } from '../sandbox/forget-workspace.ts';
import { removeProjectFromSchedule } from '../schedule/remove-project-from-schedule.ts';
import { deleteSnapshot } from '../snapshot/manage-snapshots.ts';
import { endSession } from '../turn/requests/end-session.ts';
import { activeSessionsOf } from './active-sessions.ts';
import { closeWorkspace } from './manage-workspaces.ts';

/** The project's own audit row names the caller. */
const janitor: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'janitor', name: 'janitor' };

/** False when that was not decided. */
export const forgetProject = async (ports: ForgetDeps, id: ProjectId): Promise<boolean> => {
  if ((await ports.projects.get(id)) !== undefined) return false;
  // First, so that no request comes in its name while the rest is deleted.
  await revokeTokens(ports, id);
  await leaveSchedules(ports, id);
  await removeWebhooks(ports, id);
  await ports.secrets.clear(id);
  for (const { name } of await ports.mcpServers.list(id)) await ports.mcpServers.remove(id, name);
  await deleteSnapshots(ports, id);
  await endSessions(ports, id);
  await forgetWorkspaces(ports, id);
  // The list may have been late.
  await revokeTokens(ports, id);
  await ports.projects.remove(id, ports.world.now());
  return true;
};

const revokeTokens = async (ports: ForgetDeps, project: ProjectId): Promise<void> => {
  let after: string | undefined;
  do {
    const page = await ports.tokens.list({
      itemsMax: pageItemsMax,
      ...(after === undefined ? {} : { after }),
    });
    for (const { id, scope } of page.tokens) {
      const removed = projectOf(scope) === project ? await ports.tokens.remove(id) : undefined;
      if (removed === undefined) continue;
      await closeSocketsOfCredential(ports, removed.hash);
      await audit(ports, janitor, { action: 'token.revoke', subject: id, project });
      await ports.tokens.forget(id);
    }
    after = page.next;
  } while (after !== undefined);
};

const leaveSchedules = async (ports: ForgetDeps, project: ProjectId): Promise<void> => {
  for (const { id } of await ports.schedules.listOf(project))
    await removeProjectFromSchedule(ports, id, { project, principal: janitor });
};

const removeWebhooks = async (ports: ForgetDeps, project: ProjectId): Promise<void> => {
  const { webhooks } = await ports.webhooks.list();
  for (const { id } of webhooks.filter((webhook) => webhook.project === project)) {
    const row = auditRow(janitor, ports.world.now(), { action: 'webhook.delete', subject: id, project });
    if (!(await ports.webhooks.remove(id, [row]))) continue;
    recordAudit(ports.telemetry, row);
    await ports.webhookDispatcher.dispatch(id);
  }
};

const deleteSnapshots = async (ports: ForgetDeps, project: ProjectId): Promise<void> => {
  for (const snapshot of await ports.snapshots.list(project)) await deleteSnapshot(ports, snapshot, janitor);
};

/** A caller that made one concurrently may have died before it looked for the mark. */
const endSessions = async (ports: ForgetDeps, project: ProjectId): Promise<void> => {
  for await (const session of activeSessionsOf(ports, project))
    await endSession(ports, session, { reason: 'its project was deleted' });
};

const done = (): Promise<void> => Promise.resolve();

const forgetWorkspaces = async (ports: ForgetDeps, project: ProjectId): Promise<void> => {
  // Closing a workspace invokes no other janitor: this one deletes its files.
  const closing = { ...ports, forgetter: { forgetWorkspace: done, forgetProject: done } };
  for (;;) {
    const { workspaces } = await ports.workspaces.listNamed(project, { itemsMax: pageItemsMax });
    if (workspaces.length === 0) return;
    for (const workspace of workspaces) {
      if ((await closeWorkspace(closing, workspace, janitor)) === undefined)
        throw new Error(`workspace ${workspace.id} of a deleted project is in use`);
      await forgetWorkspace(ports, workspace.id);
    }
  }
};
