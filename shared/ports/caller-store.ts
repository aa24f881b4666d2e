/** What clients of a session offer to its agent; a turn reads it with all else it needs (`SessionStore.loadWork`). */
import type { Caller } from '../domain/caller-tool.ts';
import type { ConnectionId, SessionId } from '../domain/ids.ts';

export interface CallerStore {
  /** Again under the same id: instead of what was there. `full` when the session has as many callers as it may have. */
  declare(session: SessionId, caller: Caller): Promise<'declared' | 'full'>;
  list(session: SessionId): Promise<readonly Caller[]>;
  /** Nothing when another connection has declared it since. */
  withdraw(session: SessionId, callerId: string, connectionId: ConnectionId): Promise<void>;
}
