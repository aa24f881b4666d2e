/** Slots: acquired and released with their sessions (`SessionStore`); read and audited here. */
import type { SessionId } from '../domain/ids.ts';
import type { MoneyAnswer, ReservationRequest, Tree } from '../domain/session-tree.ts';
import type { Slot, SlotHolder } from '../domain/slots.ts';

export type TakenSlots = {
  readonly holder: SlotHolder;
  /** The counter's value; the slots themselves are the truth. */
  readonly counted: number;
  /** Changes with every write: guards a correction. */
  readonly version: number;
  readonly taken: readonly Slot[];
};

export interface SlotStore {
  read(holder: SlotHolder): Promise<TakenSlots>;
  /** Releases a slot whose session does not exist; false when it was released concurrently. */
  release(holder: SlotHolder, session: SessionId, at: number): Promise<boolean>;
  /** Sets the counter to the slots read, unless one changed since; then nothing is due until the next change. */
  settle(slots: TakenSlots): Promise<boolean>;
  /** Holders with changes since their last audit. */
  due(now: number, itemsMax: number): Promise<readonly SlotHolder[]>;
}

/**
 * Trees of sessions: the agents of each, the money they have spent, and the money they have reserved.
 *
 * A tree is made with its first child (`SessionStore.create`), and the cost of a call is recorded with its answer
 * (`TurnStore.commit`). The conformance suite is tests/conformance/tree-store.test.ts.
 */
export interface TreeStore {
  /** Undefined where its root has no child, or is deleted. */
  read(root: SessionId): Promise<Tree | undefined>;
  /** A deleted tree has nothing left. A caller that loses every race gets `busy`. */
  reserve(root: SessionId, request: ReservationRequest): Promise<MoneyAnswer>;
  /** For a call that did not complete; the reservation of a later holder of the session stays. */
  release(root: SessionId, of: { readonly session: SessionId; readonly fence: number }): Promise<void>;
}
