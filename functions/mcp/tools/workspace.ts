/** `workspace`: the named workspaces of a project, listed and deleted. The tool `session` creates them. */

import { findProject } from '#shared/application/access/find-project.ts';
import { deleteWorkspace, listWorkspaces } from '#shared/application/project/manage-workspaces.ts';
import { workingProject } from '#shared/application/session/create-session.ts';
import { workspaceView } from '#shared/contracts/rest/workspace-view.ts';
import { deletedResult } from '#shared/contracts/tools/tool-fields.ts';
import {
  deleteWorkspaceArguments,
  listWorkspacesArguments,
  listWorkspacesResult,
} from '#shared/contracts/tools/workspace-tool.ts';
import { projectOf } from '#shared/domain/access.ts';
import { defaultProject } from '#shared/domain/principal.ts';
import type { Workspace } from '#shared/domain/sandbox.ts';
import { defineAction, defineActionTool } from '../action-tool.ts';

const list = defineAction({
  needs: 'own:read',
  input: listWorkspacesArguments,
  output: listWorkspacesResult,
  run: async ({ project_id, limit: itemsMax, after }, { ports, principal }) => {
    const id = project_id ?? projectOf(principal.scope) ?? defaultProject;
    const project = await findProject(ports.projects, { id, principal, intent: 'read' });
    const page = { itemsMax, ...(after === undefined ? {} : { after }) };
    const { workspaces, ...rest } = await listWorkspaces(ports, { project, principal }, page);
    return { workspaces: workspaces.map(view), ...rest };
  },
});

const remove = defineAction({
  needs: 'own:write',
  input: deleteWorkspaceArguments,
  output: deletedResult,
  run: async ({ project_id, workspace_id: id }, { ports, principal }) => {
    const project = await workingProject(ports.projects, principal, project_id);
    await deleteWorkspace(ports, { project, principal }, id);
    return { id, message: `workspace ${id} deleted successfully` };
  },
});

const view = (workspace: Workspace) => {
  const { id, project, isDefault, externalId, source, ...shown } = workspaceView(workspace);
  return {
    id,
    project_id: project,
    is_default: isDefault,
    ...(externalId === undefined ? {} : { external_id: externalId }),
    ...(source === undefined ? {} : { source }),
    created_at: shown.createdAt,
    active_sessions: shown.activeSessions,
    ...(shown.latestSession === undefined ? {} : { latest_session_id: shown.latestSession }),
    ...(shown.savedAt === undefined ? {} : { saved_at: shown.savedAt }),
  };
};

export const workspace = defineActionTool({
  name: 'workspace',
  description: 'Manages the workspaces of a project. Files of a workspace outlive its sessions.',
  actions: { list, delete: remove },
  annotations: { title: 'Manage workspaces', destructiveHint: true, openWorldHint: false },
});
