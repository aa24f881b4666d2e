/**
 * Consent to a client that asks for `/mcp`, the connected clients, and the sign-ins of browsers, as REST shows them. No answer
 * has a token. A code appears only in the address to which the browser goes.
 */
import * as z from 'zod';
import { accessKinds, type Offer } from '#shared/domain/oauth/client-scope.ts';
import type { Grant, OAuthClient } from '#shared/domain/oauth/grant.ts';
import { type AccessToken, decodeScope } from '#shared/domain/principal.ts';
import { iso } from '../fields.ts';
import { type AuthorizationFields, authorizationFields } from '../oauth.ts';
import { redirectHost } from '../redirect-uri.ts';

const { shape } = authorizationFields;

/** The client's request as its browser brought it. */
export const consentQuery = z.object({
  clientId: shape.client_id.describe('Id of the client.'),
  redirectUri: shape.redirect_uri.describe('Address of the client to which the browser returns.'),
  responseType: shape.response_type.describe('Always `code`.'),
  codeChallenge: shape.code_challenge.describe('Challenge of PKCE.'),
  codeChallengeMethod: z.string().describe('Always `S256`.'),
  requestedScope: shape.scope.describe('Scopes that the client asks for, separated by spaces.'),
  state: shape.state.describe('State of the client.'),
  resource: shape.resource.describe('Address of `/mcp` as the client knows it.'),
});

type ConsentQuery = z.output<typeof consentQuery>;

export const consentQueryOf = (fields: AuthorizationFields): Readonly<Record<string, string | undefined>> =>
  ({
    clientId: fields.client_id,
    redirectUri: fields.redirect_uri,
    responseType: fields.response_type,
    codeChallenge: fields.code_challenge,
    codeChallengeMethod: fields.code_challenge_method,
    requestedScope: fields.scope,
    state: fields.state,
    resource: fields.resource,
  }) satisfies { readonly [Name in keyof Required<ConsentQuery>]: string | undefined };

/** Undefined for a request that is none, such as one with a plain challenge. */
export const fieldsOfConsent = (query: ConsentQuery): AuthorizationFields | undefined => {
  const { clientId, redirectUri, responseType, codeChallenge, codeChallengeMethod, requestedScope } = query;
  const { state, resource } = query;
  const decoded = authorizationFields.safeParse({
    ...{ client_id: clientId, redirect_uri: redirectUri, response_type: responseType },
    ...{ code_challenge: codeChallenge, code_challenge_method: codeChallengeMethod },
    ...{ scope: requestedScope, state, resource },
  });
  return decoded.success ? decoded.data : undefined;
};

const host = z.string().describe('Host to which the client leads, or `this machine`.');

export const consentAnswer = z
  .object({
    client: z.object({
      name: z.string().describe('Name of the client, as it calls itself.'),
      redirectUri: z.string(),
      host,
      registeredAt: z.iso.datetime(),
    }),
    access: z.array(z.enum(accessKinds)).describe('Kinds of access that you can give, the strongest first.'),
    project: z.uuid().optional().describe('Id of the project; absent: you choose one.'),
  })
  .meta({ id: 'Consent' });

export const consentView = (
  { name, createdAt }: OAuthClient,
  { access, project }: Offer,
  redirectUri: string,
): z.output<typeof consentAnswer> => ({
  client: { name, redirectUri, host: redirectHost(redirectUri), registeredAt: iso(createdAt) },
  access: [...access],
  ...(project === undefined ? {} : { project }),
});

const clientScope = z
  .string()
  .max(64)
  .transform((text, context) => {
    const scope = decodeScope(text);
    if (scope !== undefined) return scope;
    context.addIssue({ code: 'custom', message: 'must be project:<uuid> or project:<uuid>:ro' });
    return z.NEVER;
  });

export const consentBody = z.object({
  ...consentQuery.shape,
  approved: z.boolean().describe('False refuses the client.'),
  scope: clientScope.optional().describe('Scope that you give: project:<uuid> or project:<uuid>:ro.'),
});

export const consentedAnswer = z.object({
  redirectTo: z.string().describe('Address of the client to which the browser goes now.'),
});

export const clientAnswer = z
  .object({
    id: z.uuid(),
    name: z.string().describe('Name of the client, as it calls itself.'),
    host,
    scope: z.string().describe('Scope: project:<uuid> or project:<uuid>:ro.'),
    createdAt: z.iso.datetime(),
    refreshedAt: z.iso.datetime().describe('Time of its last access token.'),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'ConnectedClient' });

export const clientsAnswer = z.object({ clients: z.array(clientAnswer) });

export const clientView = (grant: Grant): z.output<typeof clientAnswer> => ({
  id: grant.id,
  name: grant.client.name,
  host: redirectHost(grant.redirectUri),
  scope: grant.consent.scope,
  createdAt: iso(grant.createdAt),
  refreshedAt: iso(grant.refreshedAt),
  expiresAt: iso(grant.expiresAt),
});

export const signInAnswer = z
  .object({
    id: z.uuid(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().optional(),
    isCurrent: z.boolean().describe('True for the sign-in of this browser.'),
  })
  .meta({ id: 'BrowserSignIn' });

export const signInsAnswer = z.object({ signIns: z.array(signInAnswer) });

export const signInView = (
  { id, hash, createdAt, expiresAt }: AccessToken,
  current: string | undefined,
): z.output<typeof signInAnswer> => ({
  id,
  createdAt: iso(createdAt),
  ...(expiresAt === undefined ? {} : { expiresAt: iso(expiresAt) }),
  isCurrent: hash === current,
});
