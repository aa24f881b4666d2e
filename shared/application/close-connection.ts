/** Forgets a connection that closed; a session that never got a message goes with its last one. */
import type { ConnectionId } from '../domain/ids.ts';
import type { ConnectionStore } from '../ports/connection-store.ts';
import type { SessionStore } from '../ports/session-store.ts';

export const closeConnection = async (
  { connections, sessions }: { readonly connections: ConnectionStore; readonly sessions: SessionStore },
  id: ConnectionId,
): Promise<void> => {
  const connection = await connections.get(id);
  if (connection === undefined) return;
  await connections.remove(id);
  const session = await sessions.get(connection.sessionId);
  if (session?.status !== 'created') return;
  const watchers = await connections.watchers(session.id);
  if (watchers.length === 0) await sessions.removeUnused(session);
};
