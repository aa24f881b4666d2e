/** Slots: moved with turns and sandboxes, in their own writes; read and audited here. */
import type { HeldSlot, Slot } from '../domain/slot.ts';
import type { SlotHolder } from '../domain/slot-holder.ts';

export type TakenSlots = {
  readonly holder: SlotHolder;
  /** The counter's value; the slots themselves are the truth. */
  readonly counted: number;
  /** Changes with every write: guards a correction. */
  readonly version: number;
  readonly taken: readonly HeldSlot[];
  /** When the counter was first seen to differ from them, with no change since. */
  readonly miscountedAt?: number | undefined;
};

export interface SlotStore {
  read(holder: SlotHolder): Promise<TakenSlots>;
  /** Replaces a slot that is not as its session and sandbox are; false when it moved since it was read. */
  correct(
    holder: SlotHolder,
    slot: HeldSlot,
    correction: { readonly slot: Slot; readonly at: number },
  ): Promise<boolean>;
  /**
   * Ends an audit, unless a slot changed since: nothing is due until the next change. A counter that differs from the
   * slots is set to them once that has lasted; until then it is false, and the holder stays due.
   */
  settle(slots: TakenSlots, at: number): Promise<boolean>;
  /** Holders with changes since their last audit, page by page. */
  due(now: number, pageMax: number): AsyncIterable<readonly SlotHolder[]>;
}
