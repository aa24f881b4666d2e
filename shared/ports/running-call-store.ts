/** Calls that run and that their client may still cancel, wherever the request that says so arrives. */
export type RunningCall = {
  /** Whoever knows token and request id knows it, and it tells neither. */
  readonly caller: string;
  readonly id: string;
  /** Epoch milliseconds, both. */
  readonly startedAt: number;
  /** It has ended by then, whatever became of its function. */
  readonly until: number;
};

export interface RunningCallStore {
  put(call: RunningCall): Promise<void>;
  /** Those of one caller that may still run. */
  find(caller: string, now: number): Promise<readonly RunningCall[]>;
  /** Nothing happens when the call has ended. */
  cancel(call: RunningCall): Promise<void>;
  isCancelled(call: RunningCall): Promise<boolean>;
  remove(call: RunningCall): Promise<void>;
}
