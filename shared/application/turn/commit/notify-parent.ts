/**
 * Notifies a parent that a child has ended a turn, or has ended itself: runs the parent's turn, which collects the results of
 * its children. An unneeded notification finds nothing to do. If a crash prevents one, the janitor makes up for it some time
 * later.
 */

import type { Session } from '../../../domain/session.ts';
import type { TurnDeps } from '../../deps.ts';

/** Does nothing for a session without a parent. */
export const notifyParent = async (
  { turns, invoker, world }: TurnDeps,
  { tree }: Pick<Session, 'tree'>,
): Promise<void> => {
  if (tree === undefined) return;
  if (await turns.wake(tree.parent, world.now())) await invoker.runTurn(tree.parent);
};
