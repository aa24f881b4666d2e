/** Followers of terminals: for each connection and process one, which holds a lease while it sends output. */
import type { ConnectionId } from '../domain/ids.ts';

/** A process whose output a connection receives. */
export type TerminalKey = { readonly connection: ConnectionId; readonly process: string };

export type Follower = {
  /** Tells it from the one that takes its place when it has fallen silent. */
  readonly run: string;
  /** The first byte of the output that was not sent yet. */
  readonly offset: number;
  /** Epoch milliseconds. */
  readonly until: number;
};

/** A run is begun again when its function failed, or twice at once: its last execution goes on alone. */
export type Execution = Follower & { readonly execution: string };

export interface TerminalStore {
  /** Registers a follower unless another one holds the lease; returns the time until which there is one. */
  claim(
    key: TerminalKey,
    follower: Follower,
    now: number,
  ): Promise<{ readonly isClaimed: boolean; readonly until: number }>;
  /** The processes of a connection that have a follower. */
  count(connection: ConnectionId, now: number): Promise<number>;
  /** The offset at which this run goes on, in this execution alone; undefined when it was replaced. */
  resume(key: TerminalKey, run: string, execution: string): Promise<number | undefined>;
  /** False when it was replaced, as a run or as an execution. */
  renew(key: TerminalKey, execution: Execution): Promise<boolean>;
  /** No effect when it was replaced. Without an execution: of a run that was not begun. */
  release(key: TerminalKey, run: string, execution?: string): Promise<void>;
}
