/**
 * Empties a project that was marked as deleted: its tokens, its schedules, its webhooks, its secrets, its MCP
 * servers, its workspaces. The record is deleted last, so that a run that failed halfway is repeated. Ended
 * sessions expire by themselves.
 */
import { projectOf } from '../../domain/access.ts';
import type { ProjectId } from '../../domain/ids.ts';
import { pageItemsMax } from '../../domain/limits.ts';
import { deploymentOwner, type Principal } from '../../domain/principal.ts';
import type { McpServerStore } from '../../ports/mcp-server-store.ts';
import type { ProjectSecrets } from '../../ports/project-secrets.ts';
import type { ProjectStore } from '../../ports/project-store.ts';
import type { ScheduleStore } from '../../ports/schedule-store.ts';
import type { TokenStore } from '../../ports/token-store.ts';
import type { WebhookDispatcher } from '../../ports/webhook-post.ts';
import type { WebhookStore } from '../../ports/webhook-store.ts';
import { type AuditPorts, audit } from '../access/audit.ts';
import { type ForgetWorkspacePorts, forgetWorkspace } from '../sandbox/forget-workspace.ts';
import { type LeavePorts, leaveProject } from '../schedule/leave-project.ts';
import { type ClosePorts, closeWorkspace } from './manage-workspaces.ts';

export type ForgetProjectPorts = ForgetWorkspacePorts &
  AuditPorts &
  Omit<ClosePorts, 'forgetter'> & {
    readonly projects: ProjectStore;
    readonly tokens: Pick<TokenStore, 'list' | 'remove'>;
    readonly schedules: LeavePorts['schedules'] & Pick<ScheduleStore, 'listOf'>;
    readonly mcpServers: Pick<McpServerStore, 'list' | 'remove'>;
    readonly webhooks: Pick<WebhookStore, 'list' | 'remove'>;
    readonly webhookDispatcher: Pick<WebhookDispatcher, 'dispatch'>;
    readonly secrets: Pick<ProjectSecrets, 'clear'>;
  };

/** The project's own audit row names the caller. */
const janitor: Principal = { owner: deploymentOwner, scope: 'admin', tokenHash: 'janitor', name: 'janitor' };

/** False when it is not marked. */
export const forgetProject = async (
  ports: ForgetProjectPorts,
  id: ProjectId,
  correlationId: string,
): Promise<boolean> => {
  if ((await ports.projects.get(id)) !== undefined) return false;
  // First, so that no request comes in its name while the rest is deleted.
  await revokeTokens(ports, id);
  await leaveSchedules(ports, id);
  await removeWebhooks(ports, id, correlationId);
  await ports.secrets.clear(id);
  for (const { name } of await ports.mcpServers.list(id)) await ports.mcpServers.remove(id, name);
  await forgetWorkspaces(ports, id, correlationId);
  await ports.projects.remove(id, ports.world.now());
  return true;
};

const revokeTokens = async (ports: ForgetProjectPorts, project: ProjectId): Promise<void> => {
  let after: string | undefined;
  do {
    const page = await ports.tokens.list({
      itemsMax: pageItemsMax,
      ...(after === undefined ? {} : { after }),
    });
    for (const { id, scope } of page.tokens)
      if (projectOf(scope) === project && (await ports.tokens.remove(id)) !== undefined)
        await audit(ports, janitor, { action: 'token.revoke', subject: id, project });
    after = page.next;
  } while (after !== undefined);
};

const leaveSchedules = async (ports: ForgetProjectPorts, project: ProjectId): Promise<void> => {
  for (const { id } of await ports.schedules.listOf(project)) {
    const left = await leaveProject(ports, id, project);
    if (left === undefined) continue;
    const action = left.isDeleted ? 'schedule.delete' : 'schedule.update';
    await audit(ports, janitor, { action, subject: id, project });
  }
};

const removeWebhooks = async (
  ports: ForgetProjectPorts,
  project: ProjectId,
  correlationId: string,
): Promise<void> => {
  const { webhooks } = await ports.webhooks.list();
  for (const { id } of webhooks.filter((webhook) => webhook.project === project)) {
    if (!(await ports.webhooks.remove(id))) continue;
    await audit(ports, janitor, { action: 'webhook.delete', subject: id, project });
    await ports.webhookDispatcher.dispatch(id, correlationId);
  }
};

const forgetWorkspaces = async (
  ports: ForgetProjectPorts,
  project: ProjectId,
  correlationId: string,
): Promise<void> => {
  // Closing a workspace invokes no other janitor: this one deletes its files.
  const closing = { ...ports, forgetter: { forgetWorkspace: () => Promise.resolve() } };
  for (;;) {
    const { workspaces } = await ports.workspaces.listNamed(project, { itemsMax: pageItemsMax });
    if (workspaces.length === 0) return;
    for (const workspace of workspaces) {
      if ((await closeWorkspace(closing, workspace, correlationId)) === undefined)
        throw new Error(`workspace ${workspace.id} of a deleted project is in use`);
      await forgetWorkspace(ports, workspace.id, correlationId);
    }
  }
};
