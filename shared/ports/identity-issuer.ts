/** An OIDC issuer beside our own tokens: verifies a JWT and returns its identity. */
import type { Identity, PersonRules } from '../domain/person.ts';

export interface IdentityIssuer {
  /**
   * Undefined for every invalid token: forged, expired, or for another audience. Throws `issuer_unavailable` when
   * the issuer's keys cannot be fetched, so that no client discards a good token.
   */
  verify(token: string): Promise<Identity | undefined>;
}

/** An issuer, and the rules for its people. */
export type SignIn = { readonly issuer: IdentityIssuer; readonly rules: PersonRules };
