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

export interface TerminalStore {
  /** Registers a follower unless another one holds the lease; returns the time until which there is one. */
  claim(
    key: TerminalKey,
    follower: Follower,
    now: number,
  ): Promise<{ readonly isClaimed: boolean; readonly until: number }>;
  /** The processes of a connection that have a follower. */
  count(connection: ConnectionId, now: number): Promise<number>;
  /** The offset at which this run goes on; undefined when it was replaced. */
  resume(key: TerminalKey, run: string): Promise<number | undefined>;
  /** False when it was replaced. */
  renew(key: TerminalKey, follower: Follower): Promise<boolean>;
  /** No effect when it was replaced. */
  release(key: TerminalKey, run: string): Promise<void>;
}
