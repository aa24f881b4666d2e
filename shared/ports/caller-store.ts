/**
 * The tools that clients of a session offer to its agent; a turn reads them with its other work
 * (`SessionStore.loadWork`).
 */
import type { Caller } from '../domain/caller-tool.ts';
import type { ConnectionId, SessionId } from '../domain/ids.ts';

export interface CallerStore {
  /** Replaces an earlier offer of the same id. `full` when the session has as many callers as it may have. */
  declare(session: SessionId, caller: Caller): Promise<'declared' | 'full'>;
  list(session: SessionId): Promise<readonly Caller[]>;
  /** No effect when another connection has declared it since. */
  withdraw(session: SessionId, callerId: string, connectionId: ConnectionId): Promise<void>;
}
