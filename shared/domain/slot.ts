/**
 * The slot of a session: held by its turn while that works, and by its sandbox while that starts or lives.
 *
 * Both together hold one slot, so that a turn's tool never waits for a second one. This module decides how a change moves a
 * slot; the table counts the ones that are held (L3, L4). State table: docs/spec/lifecycle.md.
 */
import type { Flavor } from './flavor.ts';
import type { SessionId, WorkspaceId } from './ids.ts';
import { miscountMsMin } from './limits.ts';

export type SlotSandbox = {
  readonly workspace: WorkspaceId;
  readonly generation: number;
  readonly flavor: Flavor;
};

export type Slot = {
  readonly turn?: true;
  readonly sandbox?: SlotSandbox;
  /** Held by the session itself, as an earlier version counted: the next change ends that. */
  readonly isOld?: true;
};

/** A slot as its holder's list has it. */
export type HeldSlot = Slot & { readonly session: SessionId; readonly movedAt?: number };

export type SlotChange =
  | { readonly type: 'turn-began' | 'turn-rested' }
  | { readonly type: 'sandbox-started'; readonly sandbox: SlotSandbox }
  | { readonly type: 'sandbox-stopped'; readonly workspace: WorkspaceId; readonly generation: number };

export const changeSlot = ({ turn, sandbox }: Slot, change: SlotChange): Slot => {
  switch (change.type) {
    case 'turn-began':
      return { turn: true, ...(sandbox === undefined ? {} : { sandbox }) };
    case 'turn-rested':
      return sandbox === undefined ? {} : { sandbox };
    case 'sandbox-started':
      return { ...(turn === undefined ? {} : { turn }), sandbox: change.sandbox };
    case 'sandbox-stopped': {
      const isIt = sandbox?.workspace === change.workspace && sandbox.generation === change.generation;
      return {
        ...(turn === undefined ? {} : { turn }),
        ...(sandbox === undefined || isIt ? {} : { sandbox }),
      };
    }
  }
};

export const isHeld = ({ turn, sandbox, isOld }: Slot): boolean =>
  turn !== undefined || sandbox !== undefined || isOld !== undefined;

export type SlotCount = {
  /** The counter's value. */
  readonly counted: number;
  /** The number of slots that were read beside it. */
  readonly held: number;
  /** When they were first seen to differ, with no change since. */
  readonly miscountedAt?: number | undefined;
};

/**
 * A counter and its slots change together, but a read may meet half of such a change: a difference is believed when it
 * lasts.
 */
export const countIs = (
  { counted, held, miscountedAt }: SlotCount,
  at: number,
): 'right' | 'suspect' | 'doubted' | 'wrong' => {
  if (counted === held) return 'right';
  if (miscountedAt === undefined) return 'suspect';
  return at - miscountedAt < miscountMsMin ? 'doubted' : 'wrong';
};

/** The number of slots that a change takes: 1, 0, or -1 for one that becomes free. */
export const slotStep = (before: Slot, after: Slot): number => Number(isHeld(after)) - Number(isHeld(before));
