/**
 * The audit of slots: each counter with changes is compared with the slots taken and those with their sessions.
 * Costs one query and one batch of reads per holder with changes. A holder that changes concurrently stays due
 * and is audited next time.
 */

import { holdsSlot } from '../../domain/session.ts';
import { projectOfSlots, type SlotHolder } from '../../domain/slots.ts';
import type { Deps } from '../deps.ts';

export type AuditReport = { readonly audited: number; readonly corrected: number };

const holdersMax = 100;

export const reconcileSlots = async (
  ports: Deps<'slots' | 'sessions' | 'telemetry' | 'world'>,
): Promise<AuditReport> => {
  const holders = await ports.slots.due(ports.world.now(), holdersMax);
  const results = await Promise.allSettled(holders.map((holder) => auditHolder(ports, holder)));
  for (const result of results)
    if (result.status === 'rejected')
      ports.telemetry.error('slots were not audited', { error: result.reason });
  const corrected = results.filter((result) => result.status === 'fulfilled' && result.value).length;
  if (corrected > 0) ports.telemetry.count('SlotsCorrected', corrected);
  return { audited: holders.length, corrected };
};

const auditHolder = async (
  { slots, sessions, telemetry, world }: Deps<'slots' | 'sessions' | 'telemetry' | 'world'>,
  holder: SlotHolder,
): Promise<boolean> => {
  const { taken } = await slots.read(holder);
  const found = new Map((await sessions.getMany(taken.map(({ session }) => session))).map((s) => [s.id, s]));
  const gone = taken.filter(({ session }) => {
    const holding = found.get(session);
    return holding === undefined || !holdsSlot(holding);
  });
  let released = 0;
  for (const { session } of gone) if (await slots.release(holder, session, world.now())) released += 1;
  const now = await slots.read(holder);
  const isWrong = now.counted !== now.taken.length;
  // Reads of several items are no snapshot: only a holder that did not change since was wrong.
  const isSettled = await slots.settle(now);
  const counted = { holder, project: projectOfSlots(holder), taken: now.taken.length };
  telemetry.info('slots are counted', { event: 'slots_counted', ...counted });
  const isCorrected = released > 0 || (isSettled && isWrong);
  if (!isCorrected) return false;
  telemetry.warn('slots were corrected', {
    event: 'slots_corrected',
    holder,
    counted: now.counted,
    taken: now.taken.length,
    released,
    isSettled,
  });
  return true;
};
