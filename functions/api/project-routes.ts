/** `/projects`: an owner's projects, and their secrets, which go in and never come out. */

import { findProject } from '#shared/application/access/find-project.ts';
import type { Deps, ProjectDeps } from '#shared/application/deps.ts';
import { deleteProject } from '#shared/application/project/delete-project.ts';
import { createProject, listProjects, updateProject } from '#shared/application/project/manage-projects.ts';
import {
  listSecretNames,
  putSecret,
  removeSecret,
  type SecretReference,
} from '#shared/application/project/manage-secrets.ts';
import { choicesInForce, type SessionDefaults } from '#shared/application/session/new-session.ts';
import { pageQuery } from '#shared/contracts/rest/bodies.ts';
import { createProjectBody, updateProjectBody } from '#shared/contracts/rest/project-bodies.ts';
import {
  deletedAnswer,
  inForceView,
  listedProjectView,
  projectAnswer,
  projectOptionsOf,
  projectsAnswer,
  projectView,
  putSecretBody,
  removedView,
  secretsView,
  secretView,
  showProjectQuery,
} from '#shared/contracts/rest/project-view.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import { limitsInForceFor, type TreeLimits } from '#shared/domain/session-tree.ts';
import { type ApiEvent, type ApiRoute, json, pathId, pathValue, principalOf, queryOf } from './api-route.ts';
import { bodyOf } from './request-body.ts';
import { onProject, onProjectItself } from './resource-route.ts';

export const projectRoutes = ({
  ports,
  settings,
  treeLimits,
}: {
  readonly ports: ProjectDeps &
    Deps<'secrets'> &
    Deps<'slots' | 'slotLimits' | 'sessions' | 'workspaces'> &
    Deps<'metrics' | 'world'>;
  readonly settings: Pick<SessionDefaults, 'provider' | 'model' | 'template' | 'templates'>;
  readonly treeLimits: Required<TreeLimits>;
}): readonly ApiRoute[] => [
  {
    method: 'POST',
    path: '/api/projects',
    needs: 'global:write',
    contract: {
      summary: 'Create a project',
      body: createProjectBody,
      answers: { 201: projectAnswer },
      errors: ['invalid_flavor', 'unsupported_language'],
    },
    handler: async (event) => {
      const { name, ...body } = bodyOf(event, createProjectBody);
      const options = { ...projectOptionsOf(body), name, templates: settings.templates };
      return json(201, projectView(await createProject(ports, principalOf(event), options)));
    },
  },
  onProjectItself(ports, {
    method: 'PATCH',
    path: '/api/projects/{id}',
    contract: {
      summary: 'Change a project; existing sessions keep their settings',
      body: updateProjectBody,
      answers: { 200: projectAnswer },
      errors: ['invalid_flavor', 'unsupported_language'],
    },
    handler: async (event) => {
      const id = pathId(event);
      await findProject(ports.projects, { id, principal: principalOf(event), intent: 'write' });
      const options = {
        ...projectOptionsOf(bodyOf(event, updateProjectBody)),
        id,
        templates: settings.templates,
      };
      return json(200, projectView(await updateProject(ports, principalOf(event), options)));
    },
  }),
  onProjectItself(ports, {
    method: 'DELETE',
    path: '/api/projects/{id}',
    contract: {
      summary: 'Delete a project without active sessions, and all its data',
      answers: { 200: deletedAnswer },
      errors: ['conflict'],
    },
    handler: async (event) => {
      const id = pathId(event);
      await deleteProject(ports, principalOf(event), id);
      return json(200, { id, message: 'the project is deleted' });
    },
  }),
  {
    method: 'GET',
    path: '/api/projects',
    needs: 'own:read',
    contract: { summary: 'List your projects', query: pageQuery, answers: { 200: projectsAnswer } },
    handler: async (event) => {
      const { after } = queryOf(event, pageQuery);
      const page = { itemsMax: pageItemsMax, ...(after === undefined ? {} : { after }) };
      const listed = await listProjects(ports.projects, principalOf(event), page);
      return json(200, { ...listed, projects: listed.projects.map(listedProjectView) });
    },
  },
  onProject(ports, {
    method: 'GET',
    path: '/api/projects/{id}',
    needs: 'own:read',
    contract: { summary: 'Show a project', query: showProjectQuery, answers: { 200: projectAnswer } },
    handler: async (event, project) => {
      const secrets = await ports.secrets.names(project.id);
      const shown = { ...projectView(project), secrets };
      if (!queryOf(event, showProjectQuery).in_force) return json(200, shown);
      const inForce = inForceView(choicesInForce(project, settings), limitsInForceFor(project, treeLimits));
      return json(200, { ...shown, inForce });
    },
  }),
];

export const secretRoutes = ({
  ports,
}: {
  readonly ports: ProjectDeps & Deps<'secrets'>;
}): readonly ApiRoute[] => [
  {
    method: 'GET',
    path: '/api/projects/{id}/secrets',
    needs: 'own:read',
    resource: 'project',
    contract: { summary: 'List the names of the secrets of a project', answers: { 200: secretsView } },
    handler: async (event) => {
      const names = await listSecretNames(ports, principalOf(event), pathId(event));
      return json(200, { secrets: names.map((name) => ({ name })) });
    },
  },
  onProject(ports, {
    method: 'PUT',
    path: '/api/projects/{id}/secrets/{name}',
    needs: 'own:write',
    contract: {
      summary: 'Set a secret of a project',
      body: putSecretBody,
      answers: { 200: secretView, 201: secretView },
      errors: ['resource_limit_exceeded', 'too_many_requests'],
    },
    handler: async (event) => {
      const reference = referenceOf(event);
      const { value } = bodyOf(event, putSecretBody);
      const { isNew } = await putSecret(ports, principalOf(event), { ...reference, value });
      return json(isNew ? 201 : 200, { name: reference.name });
    },
  }),
  {
    method: 'DELETE',
    path: '/api/projects/{id}/secrets/{name}',
    needs: 'own:write',
    resource: 'project',
    contract: {
      summary: 'Delete a secret of a project',
      answers: { 200: removedView },
      errors: ['not_found', 'too_many_requests'],
    },
    handler: async (event) => {
      const reference = referenceOf(event);
      await removeSecret(ports, principalOf(event), reference);
      return json(200, { message: `Secret ${reference.name} removed` });
    },
  },
];

const referenceOf = (event: ApiEvent): SecretReference => ({
  project: pathId(event),
  name: pathValue(event, 'name'),
});
