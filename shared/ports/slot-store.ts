/** Slots: acquired and released with their sessions (`SessionStore`); read and audited here. */

import type { SessionId } from '../domain/ids.ts';
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
