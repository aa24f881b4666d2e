/**
 * The settings of an OIDC issuer whose JWTs are credentials here, beside our own tokens: all or none. And of the sign-in of
 * people at that issuer.
 *
 * Refuses an issuer that is not behind https, unless it is on this machine, where one can be tried.
 */
import * as z from 'zod';
import { group } from './group.ts';

const loopbackHosts = ['localhost', '127.0.0.1', '[::1]'];

/** A URL without query and fragment (https://openid.net/specs/openid-connect-core-1_0.html#IDToken, `iss`). */
const isIssuer = (value: string): boolean => {
  if (!/^[\x21-\x7e]+$/.test(value) || !URL.canParse(value)) return false;
  const { protocol, hostname, username, password } = new URL(value);
  if (/[?#]/.test(value) || username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && loopbackHosts.includes(hostname));
};

const text = z.string().min(1).max(2048).describe('a text of 1 to 2048 characters');

export const oidcSettings = group(() => ({
  OIDC_ISSUER: z
    .string()
    .max(2048)
    .refine(isIssuer)
    .describe('an https URL without query and fragment, or an http one of localhost')
    .optional(),
  OIDC_AUDIENCE: text.optional(),
  /** The claim that holds a person's scope. */
  OIDC_SCOPE_CLAIM: text.default('sallyport_scope'),
  /** The scope of a person whose token has no such claim; absent: they may do nothing. */
  OIDC_DEFAULT_SCOPE: z
    .string()
    .regex(/^(admin|project:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(:ro)?$/)
    .describe('admin, admin:ro, project:<uuid> or project:<uuid>:ro')
    .optional(),
}));

/** The server that gives tokens to clients of `/mcp`: an issuer, where there is one, or the platform itself. */
export const clientSettings = group(() => ({
  MCP_AUTHORIZATION_SERVER: z.enum(['issuer', 'platform']).default('issuer').describe('issuer or platform'),
}));

export const isOwnAuthorizationServer = (environment: {
  readonly OIDC_ISSUER?: string | undefined;
  readonly MCP_AUTHORIZATION_SERVER: 'issuer' | 'platform';
}): boolean => environment.OIDC_ISSUER === undefined || environment.MCP_AUTHORIZATION_SERVER === 'platform';

/** Sign-in of people with a browser: the platform as a client of that issuer. */
export const loginSettings = group(() => ({
  OIDC_CLIENT_ID: text.optional(),
  /** Absent: a public client. The value, or the ARN of a secret that holds it. */
  OIDC_CLIENT_SECRET: text.optional(),
  /** The scopes that the issuer is asked for. */
  OIDC_LOGIN_SCOPES: z
    .string()
    .regex(/^(?=.*(?:^| )openid(?: |$))[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/)
    .max(1024)
    .describe('words separated by spaces, with openid among them')
    .default('openid profile email'),
  /** The lifetime of a sign-in: a scope that the issuer takes away holds until its end. */
  SIGN_IN_SECONDS: z
    .string()
    .regex(/^\d+$/)
    .transform(Number)
    .refine((seconds) => seconds >= 300 && seconds <= 604_800)
    .describe('a whole number from 300 to 604800')
    .default(28_800),
}));

/** Settings that have no meaning without another. */
export const oidcCompanions = [
  ['OIDC_ISSUER', 'OIDC_AUDIENCE'],
  ['OIDC_AUDIENCE', 'OIDC_ISSUER'],
  ['OIDC_SCOPE_CLAIM', 'OIDC_ISSUER'],
  ['OIDC_DEFAULT_SCOPE', 'OIDC_ISSUER'],
  ['OIDC_CLIENT_ID', 'OIDC_ISSUER'],
  ['OIDC_CLIENT_SECRET', 'OIDC_CLIENT_ID'],
  ['OIDC_LOGIN_SCOPES', 'OIDC_CLIENT_ID'],
  ['SIGN_IN_SECONDS', 'OIDC_CLIENT_ID'],
  ['MCP_AUTHORIZATION_SERVER', 'OIDC_ISSUER'],
] as const;
