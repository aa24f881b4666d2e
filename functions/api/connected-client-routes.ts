/**
 * `/auth/consent`, `/auth/clients`, `/auth/sign-ins`: a person decides about a client that asks for `/mcp`, and sees and ends the
 * clients and the browsers that act for them. Each caller sees their own, and no others.
 *
 * A decision comes from a page of ours: with a token, which no other origin has, or with the cookie, which counts for our own
 * pages alone (AC10, OA5). A client's own token opens none of these routes.
 */

import { endOneSignIn, type LoginDeps, listSignIns } from '#shared/application/access/browser-sign-in.ts';
import {
  disconnectAll,
  disconnectClient,
  listClients,
} from '#shared/application/access/connected-clients.ts';
import { giveConsent, refuseConsent, showConsent } from '#shared/application/access/consent.ts';
import type { Deps } from '#shared/application/deps.ts';
import {
  clientsAnswer,
  clientView,
  consentAnswer,
  consentBody,
  consentedAnswer,
  consentQuery,
  consentView,
  fieldsOfConsent,
  signInsAnswer,
  signInView,
} from '#shared/contracts/rest/connected-client-view.ts';
import { AppError } from '#shared/errors.ts';
import { type ApiEvent, type ApiRoute, json, pathId, principalOf, queryOf } from './api-route.ts';
import { bodyOf } from './request-body.ts';
import { requiredOrigin } from './request-credentials.ts';

export type ConnectedClientPorts = LoginDeps &
  Deps<'clients' | 'grants' | 'protocol' | 'projects' | 'tokens' | 'adminTokenHash'>;

type Connections = {
  readonly ports: ConnectedClientPorts;
  readonly publicUrl: string | undefined;
  /** False where an OIDC issuer gives tokens. */
  readonly isOAuthOn: boolean;
};

const gone = { statusCode: 204, headers: { 'cache-control': 'no-store' }, body: '' };

export const connectedClientRoutes = (connections: Connections): readonly ApiRoute[] => [
  ...consentRoutes(connections),
  ...clientRoutes(connections),
  ...signInRoutes(connections),
];

const consentRoutes = ({ ports, publicUrl, isOAuthOn }: Connections): readonly ApiRoute[] => {
  const askedBy = (event: ApiEvent, given: Parameters<typeof fieldsOfConsent>[0]) => {
    if (!isOAuthOn) throw withoutServer();
    const fields = fieldsOfConsent(given);
    if (fields === undefined) throw noRequest();
    const issuer = requiredOrigin(event, publicUrl);
    return { fields, resource: `${issuer}/mcp`, issuer };
  };
  return [
    {
      method: 'GET',
      path: '/api/auth/consent',
      needs: 'own:read',
      contract: {
        summary: 'Show what a client asks for, and what you can give it',
        query: consentQuery,
        answers: { 200: consentAnswer },
        errors: ['forbidden', 'not_found'],
      },
      handler: async (event) => {
        const asked = askedBy(event, queryOf(event, consentQuery));
        const { client, offer } = await showConsent(ports, principalOf(event), asked);
        return json(200, consentView(client, offer, asked.fields.redirect_uri));
      },
    },
    {
      method: 'POST',
      path: '/api/auth/consent',
      needs: 'own:read',
      contract: {
        summary: 'Connect a client to `/mcp` as you, or refuse it',
        body: consentBody,
        answers: { 200: consentedAnswer },
        errors: ['forbidden', 'not_found', 'project_not_found', 'resource_limit_exceeded'],
      },
      handler: async (event) => {
        const { approved, scope, ...given } = bodyOf(event, consentBody);
        const asked = askedBy(event, given);
        if (!approved) return json(200, { redirectTo: await refuseConsent(ports, asked) });
        if (scope === undefined)
          throw new AppError('invalid_request', 'scope: is required to connect a client');
        return json(200, { redirectTo: await giveConsent(ports, principalOf(event), { ...asked, scope }) });
      },
    },
  ];
};

const clientRoutes = ({ ports }: Connections): readonly ApiRoute[] => [
  {
    method: 'GET',
    path: '/api/auth/clients',
    needs: 'own:read',
    contract: { summary: 'List the clients that you connected', answers: { 200: clientsAnswer } },
    handler: async (event) => {
      const grants = await listClients(ports, principalOf(event));
      return json(200, { clients: grants.map(clientView) });
    },
  },
  {
    method: 'DELETE',
    path: '/api/auth/clients',
    needs: 'own:read',
    contract: { summary: 'Disconnect all clients that you connected', answers: { 204: 'empty' } },
    handler: async (event) => {
      await disconnectAll(ports, principalOf(event));
      return gone;
    },
  },
  {
    method: 'DELETE',
    path: '/api/auth/clients/{id}',
    needs: 'own:read',
    contract: {
      summary: 'Disconnect a client: its tokens end at once',
      answers: { 204: 'empty' },
      errors: ['not_found'],
    },
    handler: async (event) => {
      await disconnectClient(ports, principalOf(event), pathId(event));
      return gone;
    },
  },
];

const signInRoutes = ({ ports }: Connections): readonly ApiRoute[] => [
  {
    method: 'GET',
    path: '/api/auth/sign-ins',
    needs: 'own:read',
    contract: {
      summary: 'List the sign-ins of your browsers; with a token there are none',
      answers: { 200: signInsAnswer },
    },
    handler: async (event) => {
      const principal = principalOf(event);
      const signIns = await listSignIns(ports, principal);
      return json(200, { signIns: signIns.map((one) => signInView(one, principal.signIn)) });
    },
  },
  {
    method: 'DELETE',
    path: '/api/auth/sign-ins/{id}',
    needs: 'own:read',
    contract: {
      summary: 'End a sign-in of one of your browsers',
      answers: { 204: 'empty' },
      errors: ['not_found'],
    },
    handler: async (event) => {
      await endOneSignIn(ports, principalOf(event), pathId(event));
      return gone;
    },
  },
];

const withoutServer = (): AppError =>
  new AppError('not_found', 'in this deployment clients connect through the identity provider');

const noRequest = (): AppError =>
  new AppError('invalid_request', 'this is not an authorization request of a client', {
    suggestions: ['Connect again from the client.'],
  });
