/**
 * Authenticates a caller: by a token of ours, by a JWT of the OIDC issuer if there is one, or by a single-use
 * ticket.
 *
 * Of tokens only a hash is stored and compared. A JWT is checked by the issuer's keys and costs no read of the
 * table; a token of ours never reaches the issuer. Refuses the token of a connected client everywhere but at `/mcp`, for which
 * alone it was issued (RFC 8707, OA1).
 */

import { ticketSecondsMax } from '../../domain/limits.ts';
import { clientPrincipal } from '../../domain/oauth/grant.ts';
import { decidePerson, isSignedIn, personKey } from '../../domain/person.ts';
import {
  type AccessToken,
  deploymentOwner,
  isExpired,
  ownerOf,
  type Principal,
  recordedAs,
} from '../../domain/principal.ts';
import { AppError } from '../../errors.ts';
import type { SignIn } from '../../ports/access.ts';
import type { World } from '../../ports/world.ts';
import type { AccessDeps, Deps } from '../deps.ts';

export type Credentials = {
  readonly token?: string | undefined;
  readonly ticket?: string | undefined;
  /** The endpoint `/mcp` is asked. */
  readonly isMcp?: boolean;
};

export const authenticate = async (
  ports: AccessDeps,
  { token, ticket, isMcp = false }: Credentials,
): Promise<Principal> => {
  const { connections, world } = ports;
  const bearer = token === undefined ? undefined : await bearerOf(ports, token, isMcp);
  if (bearer !== undefined) return bearer;
  const principal = ticket && (await connections.redeemTicket(world.sha256(ticket), world.now()));
  if (principal && (await stillHolds(ports, principal))) return principal;
  throw unauthenticated();
};

/** Three parts of base64url: no token of ours has a dot. */
const jwtForm = /^[\w-]+\.[\w-]+\.[\w-]*$/;

const bearerOf = async (ports: AccessDeps, token: string, isMcp: boolean): Promise<Principal | undefined> => {
  const { tokens, world, adminTokenHash, signIn } = ports;
  const tokenHash = world.sha256(token);
  if (tokenHash === adminTokenHash)
    return { owner: deploymentOwner, scope: 'admin', tokenHash, name: 'admin' };
  if (signIn !== undefined && jwtForm.test(token)) return personOf(signIn, token, world);
  const known = await tokens.get(tokenHash);
  if (known === undefined || isExpired(known, world.now())) return undefined;
  if (known.client !== undefined)
    return isMcp && isOfToday(known.client, adminTokenHash) ? clientPrincipal(known) : undefined;
  if (known.person !== undefined) return undefined;
  const { id: tokenId, name, scope } = known;
  return { owner: ownerOf(scope), scope, tokenHash, tokenId, name };
};

/** The deployment's first token is in no table: a client that was connected with a former one has ended. */
const isOfToday = ({ firstToken }: NonNullable<AccessToken['client']>, adminTokenHash: string): boolean =>
  firstToken === undefined || firstToken === adminTokenHash;

const personOf = async (
  { issuer, rules }: SignIn,
  token: string,
  world: World,
): Promise<Principal | undefined> => {
  const identity = await issuer.verify(token);
  if (identity === undefined) return undefined;
  const decision = decidePerson(identity, world.sha256(personKey(identity)), rules);
  if (decision.kind === 'person') return decision.principal;
  throw new AppError('forbidden', decision.problem, {
    suggestions: [
      `Have the issuer put admin, admin:ro, project:<uuid> or project:<uuid>:ro into the claim ${rules.scopeClaim}.`,
    ],
  });
};

/**
 * True when the credential behind a principal is still good: checked again on every frame of an open socket. A
 * person's has an expiry, and the issuer is not asked; that of a browser can be ended before.
 */
export const stillHolds = async (
  { tokens, world, adminTokenHash }: Deps<'tokens' | 'world' | 'adminTokenHash'>,
  principal: Principal,
): Promise<boolean> => {
  if (principal.isPerson && !isSignedIn(principal, world.now())) return false;
  const record = recordedAs(principal, adminTokenHash);
  if (record === undefined) return true;
  const token = await tokens.get(record);
  return token !== undefined && !isExpired(token, world.now());
};

export const unauthenticated = (): AppError =>
  new AppError('unauthenticated', 'a valid token is required', {
    suggestions: ['Send the header Authorization: Bearer <token>.'],
    recoveryActions: ['authenticate'],
  });

export type Ticket = { readonly ticket: string; readonly expiresInSeconds: number };

export const issueTicket = async (
  { connections, world }: AccessDeps,
  principal: Principal,
): Promise<Ticket> => {
  const ticket = `${world.uuid()}${world.uuid()}`.replaceAll('-', '');
  const expiresAt = world.now() + ticketSecondsMax * 1000;
  await connections.putTicket(world.sha256(ticket), { principal, expiresAt });
  return { ticket, expiresInSeconds: ticketSecondsMax };
};
