/**
 * Notifies a parent that a child has ended a turn, or itself: its turn is run, which collects the results of its children.
 * A notification too many finds nothing. One that a crash prevents is made up for by the janitor some time later.
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
