/**
 * Asks the holder of a turn to cancel it while its model answers, since only the holder has the text that has come so far.
 *
 * The request is a mark beside the version that was read; a step of the turn removes it. If the holder does not react in time,
 * the caller cancels without it, and the text is lost.
 */

import type { Deps } from '../../deps.ts';
import type { FoundTurn } from '../commit/commit-without-lease.ts';

/** Of the two seconds that a cancel may take; the holder reads every half second. */
const heardMsMax = 1500;
const lookMs = 100;

/** True when the turn is over: its holder cancelled it, or it ended by itself. */
export const askHolderToCancel = async (
  { turns, world }: Deps<'turns' | 'world'>,
  { session: { id, lease }, turn: { state, version } }: FoundTurn,
): Promise<boolean> => {
  if (state.kind !== 'thinking' || lease.until <= world.now()) return false;
  const until = world.now() + heardMsMax;
  let hasMoved = !(await turns.askToCancel(id, version));
  while (!hasMoved && world.now() < until) {
    await world.sleep(lookMs);
    hasMoved = (await turns.readVersion(id)).version !== version;
  }
  if (!hasMoved) return false;
  const now = (await turns.getWithTurn(id))?.turn.state;
  return !(now !== undefined && 'messageId' in now && now.turnId === state.turnId);
};
