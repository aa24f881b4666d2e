/**
 * Empties a project that was marked as deleted: its secrets, its MCP servers, its workspaces. The record goes last, so
 * that a run that failed half way is done again. Ended sessions go in their own time.
 */
import type { ProjectId } from '../../domain/ids.ts';
import { pageItemsMax } from '../../domain/limits.ts';
import type { McpServerStore } from '../../ports/mcp-server-store.ts';
import type { ProjectSecrets } from '../../ports/project-secrets.ts';
import type { ProjectStore } from '../../ports/project-store.ts';
import { type ForgetWorkspacePorts, forgetWorkspace } from '../workspace/forget-workspace.ts';
import { type ClosePorts, closeWorkspace } from '../workspace/manage-workspaces.ts';

export type ForgetProjectPorts = ForgetWorkspacePorts &
  Omit<ClosePorts, 'forgetter'> & {
    readonly projects: ProjectStore;
    readonly mcpServers: Pick<McpServerStore, 'list' | 'remove'>;
    readonly secrets: Pick<ProjectSecrets, 'clear'>;
  };

/** False when it is not marked. */
export const forgetProject = async (
  ports: ForgetProjectPorts,
  id: ProjectId,
  correlationId: string,
): Promise<boolean> => {
  if ((await ports.projects.get(id)) !== undefined) return false;
  await ports.secrets.clear(id);
  for (const { name } of await ports.mcpServers.list(id)) await ports.mcpServers.remove(id, name);
  await forgetWorkspaces(ports, id, correlationId);
  await ports.projects.remove(id, ports.world.now());
  return true;
};

const forgetWorkspaces = async (
  ports: ForgetProjectPorts,
  project: ProjectId,
  correlationId: string,
): Promise<void> => {
  // What is closed here is forgotten here.
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
