/**
 * Notifies a parent that a child has ended a turn, or itself: its turn is run, which collects the results of its children.
 * A notification too many finds nothing. One that a crash prevents is made up for by the janitor some time later.
 */
import type { Session } from '../../../domain/session.ts';
import type { Invoker } from '../../../ports/invoker.ts';
import type { SessionStore } from '../../../ports/session-store.ts';
import type { World } from '../../../ports/world.ts';

export type NotifyPorts = {
  readonly sessions: Pick<SessionStore, 'wake'>;
  readonly invoker: Pick<Invoker, 'runTurn'>;
  readonly world: World;
};

/** Does nothing for a session without a parent. */
export const notifyParent = async (
  { sessions, invoker, world }: NotifyPorts,
  { tree }: Pick<Session, 'tree'>,
  correlationId: string,
): Promise<void> => {
  if (tree === undefined) return;
  if (await sessions.wake(tree.parent, world.now())) await invoker.runTurn(tree.parent, correlationId);
};
