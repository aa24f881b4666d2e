/**
 * Finds a session for a caller whose token was checked a while ago, and checks it again with the same read: a
 * revoked token fails on the next frame of an open socket, and so does a person's sign-in that has ended.
 */

import type { Intent } from '../../domain/access.ts';
import { isUuid, type SessionId } from '../../domain/ids.ts';
import { isSignedIn } from '../../domain/person.ts';
import { isExpired, type Principal, recordedAs } from '../../domain/principal.ts';
import type { Deps } from '../deps.ts';
import { unauthenticated } from './authenticate.ts';
import { allowed, type FoundSession, sessionNotFound } from './find-session.ts';

export const enterSession = async (
  { turns, tokens, world, adminTokenHash }: Deps<'turns' | 'tokens' | 'world' | 'adminTokenHash'>,
  { id, principal, intent }: { id: string; principal: Principal; intent: Intent },
): Promise<FoundSession> => {
  if (principal.isPerson && !isSignedIn(principal, world.now())) throw unauthenticated();
  const tokenHash = recordedAs(principal, adminTokenHash);
  const at = world.now();
  const wanted = { tokenHash, withFeatures: true };
  const found = isUuid(id) ? await turns.getWithTurn(id as SessionId, wanted) : undefined;
  if (tokenHash !== undefined) {
    const token = found === undefined ? await tokens.get(tokenHash) : found.token;
    if (token === undefined || isExpired(token, world.now())) throw unauthenticated();
  }
  if (found === undefined) throw sessionNotFound();
  const { features, ...rest } = found;
  return allowed({ ...rest, seen: features && { ...features, at } }, { principal, intent });
};
