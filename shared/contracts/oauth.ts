/**
 * Shapes of the authorization server (RFC 6749, 7591, 8414): what a client sends as forms, queries and JSON, and what describes
 * the server. Names are those of the protocol, in snake_case.
 */
import * as z from 'zod';
import { scopesSupported } from '#shared/domain/oauth/client-scope.ts';
import { redirectUrisMax } from '#shared/domain/oauth/grant.ts';
import { isPlainName, plainNameRule } from '#shared/domain/visible-text.ts';
import { mayBeRegistered, redirectUriRule } from './redirect-uri.ts';

/** Below the origin. */
export const oauthPath = '/oauth';
export const authorizationServerPath = '/.well-known/oauth-authorization-server';

const clientNameCharactersMax = 100;
const textCharactersMax = 2048;
export const formBytesMax = 16_384;

/** Of a registration only what is kept; clients send much more, which RFC 7591 lets a server ignore. */
export const registrationBody = z.object({
  redirect_uris: z.array(z.string().refine(mayBeRegistered, redirectUriRule)).min(1).max(redirectUrisMax),
  client_name: z
    .string()
    .trim()
    .min(1)
    .max(clientNameCharactersMax)
    .refine(isPlainName, plainNameRule)
    .default('An MCP client'),
});

const text = z.string().min(1).max(textCharactersMax);

/** A request for authorization (RFC 6749, 4.1.1; RFC 7636, 4.3; RFC 8707), of which each field comes once. */
export const authorizationFields = z.object({
  client_id: text,
  redirect_uri: text,
  response_type: text,
  code_challenge: z.string().regex(/^[\w-]{43}$/, 'must be a SHA-256 in base64url'),
  code_challenge_method: z.string().refine((method) => method === 'S256', 'must be S256'),
  scope: text.optional(),
  state: z
    .string()
    .max(textCharactersMax)
    .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
    .optional(),
  resource: text.optional(),
});

export type AuthorizationFields = z.output<typeof authorizationFields>;

/** The metadata of the authorization server of an origin (RFC 8414, RFC 9207). */
export const authorizationServer = (origin: string): Readonly<Record<string, unknown>> => ({
  issuer: origin,
  authorization_endpoint: `${origin}${oauthPath}/authorize`,
  token_endpoint: `${origin}${oauthPath}/token`,
  registration_endpoint: `${origin}${oauthPath}/register`,
  revocation_endpoint: `${origin}${oauthPath}/revoke`,
  scopes_supported: scopesSupported,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
});
