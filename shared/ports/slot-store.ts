/** Slots: taken and given back with their sessions (`SessionStore`); read and audited here. */

import type { SessionId } from '../domain/ids.ts';
import type { Slot, SlotHolder } from '../domain/quota.ts';

export type TakenSlots = {
  readonly holder: SlotHolder;
  /** What the counter says; the slots themselves are the truth. */
  readonly counted: number;
  /** Moves with every change: guards a correction. */
  readonly version: number;
  readonly taken: readonly Slot[];
};

export interface SlotStore {
  read(holder: SlotHolder): Promise<TakenSlots>;
  /** Gives back a slot whose session is gone; false when it was given back meanwhile. */
  release(holder: SlotHolder, session: SessionId, at: number): Promise<boolean>;
  /** Sets the counter to the slots read, unless one changed since; then nothing is due until the next change. */
  settle(slots: TakenSlots): Promise<boolean>;
  /** Holders with changes since their last audit. */
  due(now: number, itemsMax: number): Promise<readonly SlotHolder[]>;
}
