/** Cancels what a session works on, and what all that were started under it work on for it. */
import { generationsOf } from '../../domain/family.ts';
import type { SessionId } from '../../domain/ids.ts';
import { isEnded, treeOf } from '../../domain/session.ts';
import { type CancelTurnPorts, cancelTurn } from '../turn/cancel-turn.ts';

export const cancelTree = async (
  ports: CancelTurnPorts,
  id: SessionId,
  correlationId: string,
): Promise<void> => {
  await cancelTurn(ports, id, correlationId);
  const session = await ports.sessions.get(id);
  const root = session && treeOf(session);
  if (root === undefined) return;
  for (const generation of generationsOf(await ports.sessions.descendants(root), id)) {
    const working = generation.filter(({ status }) => !isEnded(status) && status !== 'idle');
    await Promise.all(working.map((child) => cancelTurn(ports, child.id, correlationId)));
  }
};
