/** Places: taken and given back with their sessions (`SessionStore`); read and audited here. */

import type { SessionId } from '../domain/ids.ts';
import type { Place, PlaceHolder } from '../domain/quota.ts';

export type Places = {
  readonly holder: PlaceHolder;
  /** What the counter says; the places themselves are the truth. */
  readonly counted: number;
  /** Moves with every change: guards a correction. */
  readonly version: number;
  readonly taken: readonly Place[];
};

export interface PlaceStore {
  read(holder: PlaceHolder): Promise<Places>;
  /** Gives back a place whose session is gone; false when it was given back meanwhile. */
  release(holder: PlaceHolder, session: SessionId, at: number): Promise<boolean>;
  /** Sets the counter to the places read, unless one changed since; then nothing is due until the next change. */
  settle(places: Places): Promise<boolean>;
  /** Holders with changes since their last audit. */
  due(now: number, itemsMax: number): Promise<readonly PlaceHolder[]>;
}
