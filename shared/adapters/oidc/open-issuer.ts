/** The OIDC issuer by the operator's variables; without them there is none, and a JWT is no credential. */
import { decodeScope } from '#shared/domain/principal.ts';
import type { SignIn } from '#shared/ports/access.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import { makeOidcIssuer } from './oidc-issuer.ts';

export type OidcVariables = {
  readonly OIDC_ISSUER?: string | undefined;
  readonly OIDC_AUDIENCE?: string | undefined;
  readonly OIDC_SCOPE_CLAIM: string;
  readonly OIDC_DEFAULT_SCOPE?: string | undefined;
};

export const openIssuer = (
  { OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience, OIDC_SCOPE_CLAIM: scopeClaim, ...variables }: OidcVariables,
  telemetry: Pick<Telemetry, 'info' | 'warn'>,
): SignIn | undefined => {
  if (issuer === undefined || audience === undefined) return undefined;
  const defaultScope = decodeScope(variables.OIDC_DEFAULT_SCOPE ?? '');
  return {
    issuer: makeOidcIssuer({ issuer, audience, scopeClaim, telemetry }),
    rules: { scopeClaim, ...(defaultScope === undefined ? {} : { defaultScope }) },
  };
};
