/** The platform as a client of the OIDC issuer, by the operator's variables; without them people sign in with tokens only. */
import type { LoginClient } from '#shared/ports/access.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import { makeLoginClient } from './login-client.ts';

export type LoginVariables = {
  readonly OIDC_ISSUER?: string | undefined;
  readonly OIDC_SCOPE_CLAIM: string;
  readonly OIDC_CLIENT_ID?: string | undefined;
  readonly OIDC_CLIENT_SECRET?: string | undefined;
  readonly OIDC_LOGIN_SCOPES: string;
};

type LoginParts = {
  readonly telemetry: Pick<Telemetry, 'info' | 'warn'>;
  readonly resolveSecret: (value: string) => Promise<string>;
};

export const openLoginClient = (
  { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, ...variables }: LoginVariables,
  { telemetry, resolveSecret }: LoginParts,
): LoginClient | undefined => {
  if (issuer === undefined || clientId === undefined) return undefined;
  const { OIDC_CLIENT_SECRET: secret, OIDC_LOGIN_SCOPES: scopes, OIDC_SCOPE_CLAIM: scopeClaim } = variables;
  const clientSecret = secret === undefined ? undefined : () => resolveSecret(secret);
  return makeLoginClient({ issuer, clientId, clientSecret, scopes, scopeClaim, telemetry });
};
