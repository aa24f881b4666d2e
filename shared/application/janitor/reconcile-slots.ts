/**
 * The audit of slots: each counter with changes is compared with the slots taken, and those with what holds them, page after
 * page until all that was due is audited or its time is over. A holder that changes concurrently stays due and is audited
 * next time.
 */

import { auditMsMax } from '../../domain/limits.ts';
import { projectOfSlots, type SlotHolder } from '../../domain/slot-holder.ts';
import type { Deps } from '../deps.ts';
import { compareSlots } from '../sandbox/compare-slots.ts';

export type AuditReport = { readonly audited: number; readonly corrected: number };

type AuditDeps = Deps<'slots' | 'sessions' | 'workspaces' | 'telemetry' | 'world'>;

/** Audited at once. */
const holdersMax = 100;

export const reconcileSlots = async (ports: AuditDeps): Promise<AuditReport> => {
  const { slots, telemetry, world } = ports;
  const from = world.now();
  let [audited, corrected] = [0, 0];
  for await (const holders of slots.due(from, holdersMax)) {
    const results = await Promise.allSettled(holders.map((holder) => auditHolder(ports, holder)));
    for (const result of results)
      if (result.status === 'rejected') telemetry.error('slots were not audited', { error: result.reason });
    audited += holders.length;
    corrected += results.filter((result) => result.status === 'fulfilled' && result.value).length;
    if (world.now() >= from + auditMsMax) break;
  }
  if (corrected > 0) telemetry.count('SlotsCorrected', corrected);
  return { audited, corrected };
};

const auditHolder = async (ports: AuditDeps, holder: SlotHolder): Promise<boolean> => {
  const { before, now, corrected, isSettled } = await compareSlots(ports, holder);
  const { telemetry } = ports;
  const taken = now.taken.length;
  const counted = { holder, project: projectOfSlots(holder), taken };
  telemetry.info('slots are counted', { event: 'slots_counted', ...counted });
  // A slot of an earlier version is settled, not corrected.
  const old = before.taken.filter(({ isOld }) => isOld).length;
  const isCorrected = corrected > old || (isSettled && now.counted !== taken);
  if (!isCorrected) return false;
  telemetry.warn('slots were corrected', {
    event: 'slots_corrected',
    ...{ holder, counted: before.counted, taken, released: corrected, isSettled },
  });
  return true;
};
