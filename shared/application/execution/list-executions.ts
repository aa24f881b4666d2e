/** The execution sessions of an owner: those that hold a slot, by one query and one batch of reads. */
import type { Principal } from '../../domain/principal.ts';
import { holdsSlot, type Session } from '../../domain/session.ts';
import { executionSlots } from '../../domain/slots.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { SlotStore } from '../../ports/slot-store.ts';

/** Oldest first. */
export const listExecutions = async (
  { slots, sessions }: { readonly slots: SlotStore; readonly sessions: Pick<SessionStore, 'getMany'> },
  { owner }: Principal,
): Promise<readonly Session[]> => {
  const { taken } = await slots.read(executionSlots(owner));
  const found = await sessions.getMany(taken.map(({ session }) => session));
  return found.filter(holdsSlot).sort((one, other) => one.createdAt - other.createdAt);
};
