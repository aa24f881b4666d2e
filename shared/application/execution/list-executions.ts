/** The execution sessions of an owner: those that hold a slot, by one query and one batch of reads. */

import type { Principal } from '../../domain/principal.ts';
import { holdsSlot, type Session } from '../../domain/session.ts';
import { executionSlots } from '../../domain/slots.ts';
import type { Deps } from '../deps.ts';

/** Oldest first. */
export const listExecutions = async (
  { slots, sessions }: Deps<'slots' | 'sessions'>,
  { owner }: Principal,
): Promise<readonly Session[]> => {
  const { taken } = await slots.read(executionSlots(owner));
  const found = await sessions.getMany(taken.map(({ session }) => session));
  return found.filter(holdsSlot).sort((one, other) => one.createdAt - other.createdAt);
};
