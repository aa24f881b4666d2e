/** Tells who asks, by a bearer token or a single-use ticket. What is stored and compared is only ever a hash. */

import { ticketSecondsMax } from '../domain/limits.ts';
import { deploymentOwner, type Principal } from '../domain/principal.ts';
import { AppError } from '../errors.ts';
import type { ConnectionStore } from '../ports/connection-store.ts';
import type { World } from '../ports/world.ts';

export type AccessPorts = {
  readonly connections: Pick<ConnectionStore, 'putTicket' | 'redeemTicket'>;
  readonly world: World;
  readonly adminTokenHash: string;
};

export type Credentials = { readonly token?: string | undefined; readonly ticket?: string | undefined };

export const authenticate = async (
  { connections, world, adminTokenHash }: AccessPorts,
  { token, ticket }: Credentials,
): Promise<Principal> => {
  if (token !== undefined) {
    const tokenHash = world.sha256(token);
    if (tokenHash === adminTokenHash) return { owner: deploymentOwner, scope: 'admin', tokenHash };
  }
  const principal = ticket && (await connections.redeemTicket(world.sha256(ticket), world.now()));
  if (principal && holds(adminTokenHash, principal)) return principal;
  throw unauthenticated();
};

/** Whether the token behind a principal is still good: asked again on every frame of an open socket. */
export const holds = (adminTokenHash: string, { tokenHash }: Pick<Principal, 'tokenHash'>): boolean =>
  tokenHash === adminTokenHash;

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
