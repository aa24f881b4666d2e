/** Cancels what a session works on, and what all that were started under it work on for it. */

import type { SessionId } from '../../domain/ids.ts';
import { isEnded, type Session, treeOf } from '../../domain/session.ts';
import { generationsOf } from '../../domain/session-tree.ts';
import { type CancelTurnPorts, cancelTurn } from './cancel-turn.ts';

export const cancelTree = async (
  ports: CancelTurnPorts,
  id: SessionId,
  correlationId: string,
): Promise<void> => {
  await cancelTurn(ports, id, correlationId);
  const session = await ports.sessions.get(id);
  if (session !== undefined && treeOf(session) !== undefined)
    await cancelChildren(ports, session, correlationId);
};

/** One that is idle may have a message that nobody has taken up yet. */
export const cancelChildren = async (
  ports: CancelTurnPorts,
  { id, tree: family }: Session,
  correlationId: string,
): Promise<void> => {
  const tree = await ports.sessions.descendants(family?.root ?? id);
  for (const generation of generationsOf(tree, id)) {
    const living = generation.filter(({ status }) => !isEnded(status));
    await Promise.all(living.map((child) => cancelTurn(ports, child.id, correlationId)));
  }
};
