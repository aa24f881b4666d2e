/** Tells who asks, by a bearer token or a single-use ticket. What is stored and compared is only ever a hash. */

import { ticketSecondsMax } from '../domain/limits.ts';
import { deploymentOwner, type Principal } from '../domain/principal.ts';
import { isExpired, ownerOf } from '../domain/token.ts';
import { AppError } from '../errors.ts';
import type { ConnectionStore } from '../ports/connection-store.ts';
import type { TokenStore } from '../ports/token-store.ts';
import type { World } from '../ports/world.ts';

export type AccessPorts = {
  readonly tokens: Pick<TokenStore, 'get'>;
  readonly connections: Pick<ConnectionStore, 'putTicket' | 'redeemTicket'>;
  readonly world: World;
  readonly adminTokenHash: string;
};

export type Credentials = { readonly token?: string | undefined; readonly ticket?: string | undefined };

export const authenticate = async (
  ports: AccessPorts,
  { token, ticket }: Credentials,
): Promise<Principal> => {
  const { connections, world } = ports;
  if (token !== undefined) {
    const tokenHash = world.sha256(token);
    if (tokenHash === ports.adminTokenHash) return { owner: deploymentOwner, scope: 'admin', tokenHash };
    const known = await ports.tokens.get(tokenHash);
    if (known !== undefined && !isExpired(known, world.now()))
      return { owner: ownerOf(known.scope), scope: known.scope, tokenHash };
  }
  const principal = ticket && (await connections.redeemTicket(world.sha256(ticket), world.now()));
  if (principal && (await stillHolds(ports, principal))) return principal;
  throw unauthenticated();
};

type HoldPorts = Pick<AccessPorts, 'tokens' | 'world' | 'adminTokenHash'>;

/** Whether the token behind a principal is still good: asked again on every frame of an open socket. */
export const stillHolds = async (
  { tokens, world, adminTokenHash }: HoldPorts,
  { tokenHash }: Pick<Principal, 'tokenHash'>,
): Promise<boolean> => {
  if (tokenHash === adminTokenHash) return true;
  const token = await tokens.get(tokenHash);
  return token !== undefined && !isExpired(token, world.now());
};

export const unauthenticated = (): AppError =>
  new AppError('unauthenticated', 'a valid token is required', {
    suggestions: ['Send the header Authorization: Bearer <token>.'],
    recoveryActions: ['authenticate'],
  });

export type Ticket = { readonly ticket: string; readonly expiresInSeconds: number };

export const issueTicket = async (
  { connections, world }: AccessPorts,
  principal: Principal,
): Promise<Ticket> => {
  const ticket = `${world.uuid()}${world.uuid()}`.replaceAll('-', '');
  const expiresAt = world.now() + ticketSecondsMax * 1000;
  await connections.putTicket(world.sha256(ticket), { principal, expiresAt });
  return { ticket, expiresInSeconds: ticketSecondsMax };
};
