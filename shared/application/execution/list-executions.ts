/** The execution sessions somebody has: those that hold a place, by one query and one batch of reads. */
import type { Principal } from '../../domain/principal.ts';
import { executionPlaces } from '../../domain/quota.ts';
import { holdsPlace, type Session } from '../../domain/session.ts';
import type { PlaceStore } from '../../ports/place-store.ts';
import type { SessionStore } from '../../ports/session-store.ts';

/** Oldest first. */
export const listExecutions = async (
  { places, sessions }: { readonly places: PlaceStore; readonly sessions: Pick<SessionStore, 'getMany'> },
  { owner }: Principal,
): Promise<readonly Session[]> => {
  const { taken } = await places.read(executionPlaces(owner));
  const found = await sessions.getMany(taken.map(({ session }) => session));
  return found.filter(holdsPlace).sort((one, other) => one.createdAt - other.createdAt);
};
