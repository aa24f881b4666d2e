/**
 * Finds a session for a caller whose token was checked a while ago, and checks it again with the same read: a
 * revoked token fails on the next frame of an open socket, and so does a person's sign-in that has ended.
 */
import type { Intent } from '../../domain/access.ts';
import { isUuid, type SessionId } from '../../domain/ids.ts';
import { isSignedIn } from '../../domain/person.ts';
import { isExpired, type Principal } from '../../domain/principal.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { TokenStore } from '../../ports/token-store.ts';
import type { World } from '../../ports/world.ts';
import { unauthenticated } from './authenticate.ts';
import { allowed, type FoundSession, sessionNotFound } from './find-session.ts';

export type EnterPorts = {
  readonly sessions: Pick<SessionStore, 'getWithTurn'>;
  readonly tokens: Pick<TokenStore, 'get'>;
  readonly world: World;
  readonly adminTokenHash: string;
};

export const enterSession = async (
  { sessions, tokens, world, adminTokenHash }: EnterPorts,
  { id, principal, intent }: { id: string; principal: Principal; intent: Intent },
): Promise<FoundSession> => {
  if (principal.isPerson && !isSignedIn(principal, world.now())) throw unauthenticated();
  const isWithoutRecord = principal.isPerson || principal.tokenHash === adminTokenHash;
  const tokenHash = isWithoutRecord ? undefined : principal.tokenHash;
  const at = world.now();
  const wanted = { tokenHash, withFeatures: true };
  const found = isUuid(id) ? await sessions.getWithTurn(id as SessionId, wanted) : undefined;
  if (!isWithoutRecord) {
    const token = found === undefined ? await tokens.get(principal.tokenHash) : found.token;
    if (token === undefined || isExpired(token, world.now())) throw unauthenticated();
  }
  if (found === undefined) throw sessionNotFound();
  const { features, ...rest } = found;
  return allowed({ ...rest, seen: features && { ...features, at } }, { principal, intent });
};
