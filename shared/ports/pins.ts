/**
 * Pins of workspaces: objects that snapshots and forks need, wherever the workspace itself is by now. A pin is made in
 * the write that makes its holder, and ends in the write that ends it.
 */
import type { WorkspaceId } from '../domain/ids.ts';
import type { Pin, ReleasedPin } from '../domain/pins.ts';
import type { Workspace } from '../domain/sandbox.ts';

/** The pins of a workspace that had not ended at one moment, and the version of the set. */
export type PinSet = {
  readonly pins: readonly Pin[];
  /** Undefined: there are none. */
  readonly version?: string;
};

export interface PinStore {
  /**
   * The pins at a moment when the workspace had this checkpoint, or did not exist (`undefined`). Nothing
   * can later need an object that neither of them needed then. Undefined while this cannot be known: a pin was made in the last seconds, or
   * the workspace has moved.
   */
  settledPins(
    id: WorkspaceId,
    asRead: { readonly workspace: Workspace | undefined; readonly at: number },
  ): Promise<PinSet | undefined>;
  /** Ended pins, as `due` of sessions. */
  duePins(
    now: number,
    itemsMax: number,
    onUnreadable?: (error: unknown) => void,
  ): Promise<readonly ReleasedPin[]>;
  postponePin(pin: ReleasedPin, dueAt: number): Promise<void>;
  /** Deletes an ended pin, and the set when it had no other: the workspace is no longer pinned then. */
  removePin(pin: ReleasedPin, set: PinSet): Promise<void>;
  /** Ends the pins of a workspace on these others, unless its checkpoint has moved. */
  releaseSources(workspace: Workspace, sources: readonly WorkspaceId[], at: number): Promise<boolean>;
}
