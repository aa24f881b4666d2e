/**
 * `OAuthProtocol` on the library `@node-oauth/oauth2-server`: authorization codes bound to client, address and challenge, S256
 * alone, and rotated refresh tokens. Ours is the storage (`grant-model.ts`).
 *
 * Refuses secrets of clients and every other grant. The library is loaded at the first request.
 */
import type OAuth2Server from '@node-oauth/oauth2-server';
import { accessSecondsMax, codeSecondsMax, grantSecondsMax } from '#shared/domain/oauth/grant.ts';
import type { Consented, OAuthFields, OAuthProtocol } from '#shared/ports/oauth.ts';
import { type GrantPorts, makeGrantModel } from './grant-model.ts';
import { familyOfRefresh } from './grant-values.ts';

type Library = typeof OAuth2Server;

const publicClients = { authorization_code: false, refresh_token: false };

export const makeOAuthProtocol = (ports: GrantPorts): OAuthProtocol => {
  const open = async (fields: OAuthFields, consented?: Consented) => {
    const { default: library } = await import('@node-oauth/oauth2-server');
    const refusal = (message: string): Error => new library.InvalidGrantError(message);
    const server = new library({
      model: makeGrantModel(ports, { consented, refusal }),
      authorizationCodeLifetime: codeSecondsMax,
      accessTokenLifetime: accessSecondsMax,
      refreshTokenLifetime: grantSecondsMax,
      requireClientAuthentication: publicClients,
      allowEmptyState: true,
    });
    return { server, library, request: requestOf(library, fields), response: new library.Response({}) };
  };
  return {
    authorize: async (fields, consented) => {
      const { server, library, request, response } = await open(fields, consented);
      try {
        const person = { handle: () => consented.consent };
        const { authorizationCode } = await server.authorize(request, response, {
          authenticateHandler: person,
        });
        return { kind: 'code', code: authorizationCode };
      } catch (error) {
        return { kind: 'refused', problem: refusalOf(library, error).message };
      }
    },
    token: async (fields) => {
      const { server, library, request, response } = await open(fields);
      // The library looks for a client's secret first, and misses it in every grant but ours.
      const grant = fields['grant_type'];
      if (grant === undefined) return refused('invalid_request', 'Missing parameter: grant_type');
      if (!Object.hasOwn(publicClients, grant))
        return refused('unsupported_grant_type', 'use authorization_code or refresh_token');
      try {
        await server.token(request, response);
      } catch (error) {
        refusalOf(library, error);
      }
      return { status: response.status ?? 0, body: response.body };
    },
    familyOf: (text) => {
      const family = familyOfRefresh(text);
      return family === undefined ? undefined : ports.world.sha256(family);
    },
  };
};

const refused = (error: string, description: string) => ({
  status: 400,
  body: { error, error_description: description },
});

const serverFaultsFrom = 500;

/** The refusal of a request; a fault of ours, which the library wraps, is thrown. */
const refusalOf = (library: Library, error: unknown): OAuth2Server.OAuthError => {
  if (error instanceof library.OAuthError && error.code < serverFaultsFrom) return error;
  throw (error instanceof Error && (Reflect.get(error, 'inner') as unknown)) || error;
};

/** Only what the protocol reads: without a header of credentials there is no secret of a client. */
const requestOf = (library: Library, fields: OAuthFields): OAuth2Server.Request =>
  new library.Request({
    method: 'POST',
    query: {},
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '1' },
    body: { ...fields },
  });
