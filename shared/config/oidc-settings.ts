/**
 * The settings of an OIDC issuer whose JWTs are credentials here, beside our own tokens: all or none.
 *
 * Refuses an issuer that is not behind https, unless it is on this machine, where one can be tried.
 */
import * as z from 'zod';

const loopbackHosts = ['localhost', '127.0.0.1', '[::1]'];

/** A URL without query and fragment (https://openid.net/specs/openid-connect-core-1_0.html#IDToken, `iss`). */
const isIssuer = (value: string): boolean => {
  if (!/^[\x21-\x7e]+$/.test(value) || !URL.canParse(value)) return false;
  const { protocol, hostname, username, password } = new URL(value);
  if (/[?#]/.test(value) || username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && loopbackHosts.includes(hostname));
};

const text = z.string().min(1).max(2048).describe('a text of 1 to 2048 characters');

export const oidcSettings = z.object({
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
});

/** Settings that have no meaning without another. */
export const oidcCompanions = [
  ['OIDC_ISSUER', 'OIDC_AUDIENCE'],
  ['OIDC_AUDIENCE', 'OIDC_ISSUER'],
  ['OIDC_SCOPE_CLAIM', 'OIDC_ISSUER'],
  ['OIDC_DEFAULT_SCOPE', 'OIDC_ISSUER'],
] as const;
