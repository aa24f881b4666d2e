/** Tools that clients of a session offer to its agent, and running calls that their client may still cancel. */
import type { Caller } from '../domain/caller-tool.ts';
import type { ConnectionId, SessionId } from '../domain/ids.ts';

/**
 * The tools that clients of a session offer to its agent; a turn reads them with its other work
 * (`TurnStore.loadWork`).
 */
export interface CallerStore {
  /** Replaces an earlier offer of the same id. `full` when the session has as many callers as it may have. */
  declare(session: SessionId, caller: Caller): Promise<'declared' | 'full'>;
  list(session: SessionId): Promise<readonly Caller[]>;
  /** No effect when another connection has declared it since. */
  withdraw(session: SessionId, callerId: string, connectionId: ConnectionId): Promise<void>;
}

export type RunningCall = {
  /** Derived from token and request id, and reveals neither. */
  readonly caller: string;
  readonly id: string;
  /** Epoch milliseconds, both. */
  readonly startedAt: number;
  /** It has ended by then, even if its function died. */
  readonly until: number;
};

/** Running calls that their client may still cancel, whichever function receives the cancellation. */
export interface RunningCallStore {
  put(call: RunningCall): Promise<void>;
  /** The calls of one caller that may still run. */
  find(caller: string, now: number): Promise<readonly RunningCall[]>;
  /** No effect when the call has ended. */
  cancel(call: RunningCall): Promise<void>;
  isCancelled(call: RunningCall): Promise<boolean>;
  remove(call: RunningCall): Promise<void>;
}
