/**
 * A person: an identity that an OIDC issuer vouches for, not a token of ours. The issuer's claims become a
 * principal, or a reason for a refusal.
 *
 * A person owns what they make, whatever their scope. The owner is a hash, since a subject may hold any
 * characters: it is stable as long as issuer and subject are, and reveals neither. One sign-in has one scope: a
 * sign-in that names two is refused, since the platform must not guess.
 */
import type { OwnerId } from './ids.ts';
import { decodeScope, type Principal, type Scope } from './principal.ts';

/** The identity that an issuer vouches for, by a token whose signature, issuer, audience and times are good. */
export type Identity = {
  readonly issuer: string;
  readonly subject: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** The name by the issuer, for people to read. */
  readonly name?: string;
  /** The value of the claim that names the scope, unchanged; undefined when the token has no such claim. */
  readonly scopeValue: unknown;
};

export type PersonRules = {
  /** The claim that names a person's scope. */
  readonly scopeClaim: string;
  /**
   * The scope of a person without that claim; absent: they may do nothing. A claim that is present is never
   * replaced.
   */
  readonly defaultScope?: Scope;
};

type PersonDecision =
  | { readonly kind: 'person'; readonly principal: Principal }
  | { readonly kind: 'without scope'; readonly problem: string };

/** The text that identifies a person, to be hashed. No URL holds a line break, so no two pairs give one text. */
export const personKey = ({ issuer, subject }: Pick<Identity, 'issuer' | 'subject'>): string =>
  `${issuer}\n${subject}`;

/** `hash`: SHA-256 of `personKey`, in hexadecimal. It also stands in for a token's hash, for rates and audit. */
export const decidePerson = (
  { expiresAt, scopeValue, name }: Identity,
  hash: string,
  rules: PersonRules,
): PersonDecision => {
  const scopes = scopeValue === undefined ? defaultOf(rules) : namedScopes(scopeValue);
  const [scope, ...others] = scopes;
  if (scope === undefined)
    return refuse(`the claim ${rules.scopeClaim} of this sign-in ${without(scopeValue)}`);
  if (others.length > 0)
    return refuse(`the claim ${rules.scopeClaim} of this sign-in names more than one scope`);
  const principal: Principal = {
    owner: `person-${hash}` as OwnerId,
    scope,
    tokenHash: hash,
    isPerson: true,
    expiresAt,
    ...(name === undefined ? {} : { name }),
  };
  return { kind: 'person', principal };
};

const refuse = (problem: string): PersonDecision => ({ kind: 'without scope', problem });

const defaultOf = ({ defaultScope }: PersonRules): readonly Scope[] =>
  defaultScope === undefined ? [] : [defaultScope];

const without = (scopeValue: unknown): string => (scopeValue === undefined ? 'is missing' : 'names no scope');

/** A list, or words separated by spaces as in OAuth's `scope`; other words belong to other systems. */
const namedScopes = (value: unknown): readonly Scope[] => {
  const words = (Array.isArray(value) ? value : [value]).flatMap((one: unknown) =>
    typeof one === 'string' ? one.split(' ') : [],
  );
  return [...new Set(words.flatMap((word) => decodeScope(word) ?? []))];
};

/** True when a person's sign-in still holds. One without an expiry never does. */
export const isSignedIn = ({ expiresAt }: Pick<Principal, 'expiresAt'>, now: number): boolean =>
  expiresAt !== undefined && now < expiresAt;
