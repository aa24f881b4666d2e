/**
 * The access to a preview port: by token for a caller who may write the session; for a browser by a ticket,
 * exchanged for a grant that opens this one port and nothing else, for a while.
 */

import type { SessionId } from '../../domain/ids.ts';
import { previewSecondsMax } from '../../domain/limits.ts';
import type { Principal } from '../../domain/principal.ts';
import type { AccessDeps } from '../deps.ts';
import { authenticate, stillHolds, unauthenticated } from './authenticate.ts';

export type PreviewTarget = { readonly sessionId: string; readonly port: number };

export type PreviewCredentials = {
  readonly token?: string | undefined;
  readonly ticket?: string | undefined;
  readonly grant?: string | undefined;
};

export type PreviewAccess =
  | { readonly kind: 'open'; readonly principal: Principal }
  /** The secret that the browser sends from now on instead of the ticket. */
  | { readonly kind: 'granted'; readonly secret: string; readonly principal: Principal };

export const openPreview = async (
  ports: AccessDeps,
  target: PreviewTarget,
  { token, ticket, grant }: PreviewCredentials,
): Promise<PreviewAccess> => {
  if (token !== undefined) return { kind: 'open', principal: await authenticate(ports, { token }) };
  if (ticket !== undefined) {
    const principal = await authenticate(ports, { ticket });
    return { kind: 'granted', principal, secret: await makeGrant(ports, target, principal) };
  }
  const known = grant === undefined ? undefined : await ports.connections.preview(ports.world.sha256(grant));
  const isGood =
    known !== undefined &&
    known.expiresAt > ports.world.now() &&
    known.sessionId === target.sessionId &&
    known.port === target.port &&
    (await stillHolds(ports, known.principal));
  if (!isGood) throw unauthenticated();
  return { kind: 'open', principal: known.principal };
};

const makeGrant = async (
  { connections, world }: AccessDeps,
  { sessionId, port }: PreviewTarget,
  principal: Principal,
): Promise<string> => {
  const secret = `${world.uuid()}${world.uuid()}`.replaceAll('-', '');
  const expiresAt = world.now() + previewSecondsMax * 1000;
  await connections.putPreview(world.sha256(secret), {
    principal,
    sessionId: sessionId as SessionId,
    port,
    expiresAt,
  });
  return secret;
};
