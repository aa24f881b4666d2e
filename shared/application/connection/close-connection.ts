/**
 * Removes a connection that closed, and the tools it offered. A session that a connection made and that never got
 * a message is due soon after its last one closed: the janitor removes it unless a connection came back
 * (sweep.ts).
 */

import type { ConnectionId } from '../../domain/ids.ts';
import { unusedSessionMs } from '../../domain/limits.ts';
import { isEnded } from '../../domain/session.ts';
import type { TurnLimits } from '../../domain/turn/turn.ts';
import type { Deps, MessageDeps } from '../deps.ts';
import { withdrawTools } from '../turn/requests/caller-tools.ts';

export const closeConnection = async (
  ports: MessageDeps & Deps<'callers'>,
  id: ConnectionId,
  limits: TurnLimits,
): Promise<void> => {
  const { connections, sessions, world } = ports;
  const connection = await connections.remove(id);
  if (connection?.sessionId === undefined) return;
  const session = await sessions.get(connection.sessionId);
  if (session === undefined || isEnded(session.status)) return;
  if (session.status !== 'created') return withdrawTools(ports, { session, connectionId: id, limits });
  if (session.isFleeting === undefined) return;
  await sessions.postpone(session, world.now() + unusedSessionMs);
};
