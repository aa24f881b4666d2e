/**
 * Compares the slots of one holder with the sessions and the sandboxes that hold them, and its counter with its slots, and corrects
 * what differs. One query and two batches of reads; a holder that changes concurrently is left for the next comparison, and so is a
 * slot whose session or sandbox cannot be read.
 */

import type { Workspace } from '../../domain/sandbox.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import { type HeldSlot, isHeld, type Slot } from '../../domain/slot.ts';
import type { SlotHolder } from '../../domain/slot-holder.ts';
import type { TakenSlots } from '../../ports/slots.ts';
import type { Deps } from '../deps.ts';

export type SlotComparison = {
  /** The slots as they are after it. */
  readonly now: TakenSlots;
  readonly before: TakenSlots;
  readonly corrected: number;
  /** True when the counter was set, or was right, and nothing changed concurrently. */
  readonly isSettled: boolean;
};

export const compareSlots = async (
  ports: Deps<'slots' | 'sessions' | 'workspaces' | 'telemetry' | 'world'>,
  holder: SlotHolder,
): Promise<SlotComparison> => {
  const { slots, sessions, workspaces, telemetry, world } = ports;
  const before = await slots.read(holder);
  const workspaceIds = before.taken.flatMap(({ sandbox }) =>
    sandbox === undefined ? [] : [sandbox.workspace],
  );
  const unread = new Set<string>();
  const onUnreadable = (error: unknown, id: string): void => {
    telemetry.error('the holder of a slot cannot be read, and keeps it', { error });
    unread.add(id);
  };
  const [foundSessions, foundWorkspaces] = await Promise.all([
    sessions.getMany(
      before.taken.map(({ session }) => session),
      onUnreadable,
    ),
    workspaces.getMany(workspaceIds, onUnreadable),
  ]);
  let corrected = 0;
  for (const held of before.taken) {
    if (unread.has(held.session) || unread.has(held.sandbox?.workspace ?? '')) continue;
    const session = foundSessions.find(({ id }) => id === held.session);
    const workspace = foundWorkspaces.find(({ id }) => id === held.sandbox?.workspace);
    const slot = trueSlot(held, session, workspace);
    if (isSame(held, slot)) continue;
    if (await slots.correct(holder, held, { slot, at: world.now() })) corrected += 1;
  }
  const now = corrected === 0 ? before : await slots.read(holder);
  return { before, now, corrected, isSettled: await slots.settle(now, world.now()) };
};

/** The parts of a slot that are held; of an earlier version's none is. */
const trueSlot = (
  { session: id, sandbox }: HeldSlot,
  session: Session | undefined,
  workspace: Workspace | undefined,
): Slot => {
  const works = session !== undefined && !isEnded(session.status) && session.slot?.turn === true;
  const record = workspace?.sandbox;
  const lives = record?.generation === sandbox?.generation && record?.slot?.session === id;
  return { ...(works ? { turn: true } : {}), ...(sandbox !== undefined && lives ? { sandbox } : {}) };
};

const isSame = (held: HeldSlot, slot: Slot): boolean =>
  isHeld(slot) && held.turn === slot.turn && (held.sandbox === undefined) === (slot.sandbox === undefined);
