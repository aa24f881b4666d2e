/** `/projects/{id}/workspaces`: the named workspaces of a project, created, listed, shown, deleted. */
import type { ProjectDeps } from '#shared/application/deps.ts';
import {
  deleteWorkspace,
  findWorkspace,
  listWorkspaces,
  makeWorkspace,
} from '#shared/application/project/manage-workspaces.ts';
import { createWorkspaceBody, pageQuery } from '#shared/contracts/rest/bodies.ts';
import { deletedAnswer } from '#shared/contracts/rest/project-view.ts';
import { workspaceAnswer, workspacesAnswer, workspaceView } from '#shared/contracts/rest/workspace-view.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import type { Project } from '#shared/domain/project.ts';
import { type ApiEvent, type ApiRoute, json, pathId, principalOf, queryOf } from './api-route.ts';
import { bodyOf } from './request-body.ts';
import { onProject } from './resource-route.ts';

const within = (event: ApiEvent, project: Project) => ({ project, principal: principalOf(event) });

export const workspaceRoutes = ({ ports }: { readonly ports: ProjectDeps }): readonly ApiRoute[] => [
  onProject(ports, {
    method: 'GET',
    path: '/api/projects/{id}/workspaces',
    needs: 'own:read',
    contract: {
      summary: 'List the named workspaces of a project, oldest first',
      query: pageQuery,
      answers: { 200: workspacesAnswer },
    },
    handler: async (event, project) => {
      const { after } = queryOf(event, pageQuery);
      const page = { itemsMax: pageItemsMax, ...(after === undefined ? {} : { after }) };
      const { workspaces, ...rest } = await listWorkspaces(ports, within(event, project), page);
      return json(200, { workspaces: workspaces.map(workspaceView), ...rest });
    },
  }),
  onProject(ports, {
    method: 'POST',
    path: '/api/projects/{id}/workspaces',
    needs: 'own:write',
    contract: {
      summary: 'Create a named workspace, or return the existing one',
      body: createWorkspaceBody,
      answers: { 200: workspaceAnswer, 201: workspaceAnswer },
      errors: ['conflict'],
    },
    handler: async (event, project) => {
      const options = bodyOf(event, createWorkspaceBody);
      const { workspace, isNew } = await makeWorkspace(ports, within(event, project), options);
      return json(isNew ? 201 : 200, workspaceView(workspace));
    },
  }),
  onProject(ports, {
    method: 'GET',
    path: '/api/projects/{id}/workspaces/{workspace}',
    needs: 'own:read',
    contract: {
      summary: 'Show a workspace',
      answers: { 200: workspaceAnswer },
      errors: ['workspace_not_found'],
    },
    handler: async (event, project) =>
      json(
        200,
        workspaceView(await findWorkspace(ports, within(event, project), pathId(event, 'workspace'))),
      ),
  }),
  onProject(ports, {
    method: 'DELETE',
    path: '/api/projects/{id}/workspaces/{workspace}',
    needs: 'own:write',
    contract: {
      summary: 'Delete an unused workspace and its files',
      answers: { 200: deletedAnswer },
      errors: ['workspace_not_found', 'conflict'],
    },
    handler: async (event, project) => {
      const id = pathId(event, 'workspace');
      await deleteWorkspace(ports, within(event, project), id);
      return json(200, { id, message: 'the workspace is deleted' });
    },
  }),
];
