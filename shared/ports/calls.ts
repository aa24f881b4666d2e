/**
 * Calls beside their turn: tools that clients of a session offer to its agent, what running calls print, and running calls
 * that their client may still cancel.
 */
import type { Caller } from '../domain/caller-tool.ts';
import type { SessionId } from '../domain/ids.ts';

/**
 * The tools that clients of a session offer to its agent; a turn reads them with its other work
 * (`TurnStore.loadWork`).
 */
export interface CallerStore {
  /** Replaces an earlier offer of the same id; one that withdraws it leaves nothing. `full` when the session has as many callers as it may have, `ended` when it is over. */
  declare(session: SessionId, caller: Caller): Promise<'declared' | 'ended' | 'full'>;
  list(session: SessionId): Promise<readonly Caller[]>;
  /** The offer of a connection, or one by its id: no effect when there was another since. */
  withdraw(session: SessionId, callerId: string, of: Pick<Caller, 'connectionId' | 'offer'>): Promise<void>;
  /** A call from a sandbox, outside any turn, waits for its answer until then, in epoch milliseconds. */
  ask(session: SessionId, requestId: string, until: number): Promise<void>;
  /** `late` for a call that waits no longer, was answered, or was never asked. */
  answer(
    session: SessionId,
    requestId: string,
    answer: { readonly text: string; readonly isError: boolean; readonly at: number },
  ): Promise<'answered' | 'late'>;
  /** Undefined while there is none. */
  answerTo(
    session: SessionId,
    requestId: string,
  ): Promise<{ readonly text: string; readonly isError: boolean } | undefined>;
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

/** Output of a turn's calls while they run: they may never have a result. */
export interface CallOutputs {
  /** Replaces what was kept of this call before. */
  keepOutput(
    session: SessionId,
    output: { readonly key: string; readonly printed: string; readonly at: number },
  ): Promise<void>;
  /** By the keys of the calls; those of which nothing is kept are left out. */
  outputsOf(session: SessionId, keys: readonly string[]): Promise<Readonly<Record<string, string>>>;
}
