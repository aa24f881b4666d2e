/** An OIDC issuer that stands beside our own tokens: tells whom a JWT was made for. */
import type { Identity, PersonRules } from '../domain/person.ts';

export interface IdentityIssuer {
  /**
   * Undefined for whatever is not good, for any reason: forged, expired, meant for somebody else.
   * Throws `issuer_unavailable` when the issuer's keys cannot be had, so that nobody throws a good token away.
   */
  verify(token: string): Promise<Identity | undefined>;
}

/** An issuer, and what its people may do here. */
export type SignIn = { readonly issuer: IdentityIssuer; readonly rules: PersonRules };
