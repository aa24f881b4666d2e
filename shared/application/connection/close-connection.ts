/**
 * Removes a closed connection and the tools that it offered. If a connection created its session and the session never got a
 * message, the session is due soon after its last connection closed. The janitor then removes it, unless a connection has come
 * back (janitor/sweep-due-records.ts).
 */

import type { ConnectionId, SessionId } from '../../domain/ids.ts';
import { unusedSessionMs } from '../../domain/limits.ts';
import { isEnded } from '../../domain/session.ts';
import type { TurnLimits } from '../../domain/turn/turn.ts';
import { isUnused } from '../../domain/unused-session.ts';
import type { Deps, MessageDeps } from '../deps.ts';
import { withdrawTools } from '../turn/requests/caller-tools.ts';

type Closing = { readonly connectionId: ConnectionId; readonly sessionId: SessionId | undefined };

/** A publisher that met the end first has removed the connection: the session is that of the request. */
export const closeConnection = async (
  ports: MessageDeps & Deps<'callers'>,
  { connectionId: id, sessionId }: Closing,
  limits: TurnLimits,
): Promise<void> => {
  const { connections, sessions, world } = ports;
  await connections.remove(id);
  if (sessionId === undefined) return;
  const session = await sessions.get(sessionId);
  if (session === undefined || isEnded(session.status)) return;
  if (session.status !== 'created') return withdrawTools(ports, { session, connectionId: id, limits });
  if (isUnused(session)) await sessions.postpone(session, world.now() + unusedSessionMs);
};
