/** Running calls that their client may still cancel, whichever function receives the cancellation. */
export type RunningCall = {
  /** Derived from token and request id, and reveals neither. */
  readonly caller: string;
  readonly id: string;
  /** Epoch milliseconds, both. */
  readonly startedAt: number;
  /** It has ended by then, even if its function died. */
  readonly until: number;
};

export interface RunningCallStore {
  put(call: RunningCall): Promise<void>;
  /** The calls of one caller that may still run. */
  find(caller: string, now: number): Promise<readonly RunningCall[]>;
  /** No effect when the call has ended. */
  cancel(call: RunningCall): Promise<void>;
  isCancelled(call: RunningCall): Promise<boolean>;
  remove(call: RunningCall): Promise<void>;
}
