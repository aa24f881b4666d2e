/** `/projects/{id}/secrets`: set, listed by name, removed; a value goes in and never comes out. */
import {
  listSecretNames,
  putSecret,
  removeSecret,
  type SecretPorts,
  type SecretReference,
} from '#shared/application/project/manage-secrets.ts';
import { putSecretBody, removedView, secretsView, secretView } from '#shared/contracts/rest/project-view.ts';
import { type ApiEvent, bodyOf, pathId, pathValue, principalOf } from './api-request.ts';
import { type ApiRoute, json } from './api-route.ts';
import { onProject } from './resource-route.ts';

export const secretRoutes = ({ ports }: { readonly ports: SecretPorts }): readonly ApiRoute[] => [
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
