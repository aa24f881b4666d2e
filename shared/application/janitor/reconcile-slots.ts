/**
 * The audit of slots: each counter with changes is compared with the slots taken, and those with what holds them. A holder
 * that changes concurrently stays due and is audited next time.
 */

import { projectOfSlots, type SlotHolder } from '../../domain/slot-holder.ts';
import type { Deps } from '../deps.ts';
import { auditSlots } from '../sandbox/audit-slots.ts';

export type AuditReport = { readonly audited: number; readonly corrected: number };

type AuditDeps = Deps<'slots' | 'sessions' | 'workspaces' | 'telemetry' | 'world'>;

const holdersMax = 100;

export const reconcileSlots = async (ports: AuditDeps): Promise<AuditReport> => {
  const holders = await ports.slots.due(ports.world.now(), holdersMax);
  const results = await Promise.allSettled(holders.map((holder) => auditHolder(ports, holder)));
  for (const result of results)
    if (result.status === 'rejected')
      ports.telemetry.error('slots were not audited', { error: result.reason });
  const corrected = results.filter((result) => result.status === 'fulfilled' && result.value).length;
  if (corrected > 0) ports.telemetry.count('SlotsCorrected', corrected);
  return { audited: holders.length, corrected };
};

const auditHolder = async (ports: AuditDeps, holder: SlotHolder): Promise<boolean> => {
  const { before, now, corrected, isSettled } = await auditSlots(ports, holder);
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
