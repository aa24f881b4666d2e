/** The resources that the sandboxes of an owner's execution sessions use, beside their limits, and the state of the warm pool. */

import { flavors } from '../../domain/flavor.ts';
import { previewPortCount } from '../../domain/limits.ts';
import { poolEntries } from '../../domain/pool.ts';
import type { Principal } from '../../domain/principal.ts';
import { executionSlots } from '../../domain/slot-holder.ts';
import type { Deps } from '../deps.ts';

export type StatsSettings = {
  readonly executionMax: number;
  readonly poolSize: number;
  readonly limits: 'enforced' | 'best effort';
};

/** Utilizations are percentages. Each sandbox has its own ports. */
export type ResourceStats = {
  /** Slots that are held. */
  readonly activeSessions: number;
  readonly maxSessions: number;
  readonly totalMemoryMb: number;
  readonly totalCpus: number;
  readonly flavorCounts: Readonly<Record<string, number>>;
  readonly sessionUtilization: number;
  readonly allocatedPorts: number;
  readonly availablePorts: number;
  readonly portUtilization: number;
  readonly pool: { readonly ready: number; readonly target: number };
  readonly limits: 'enforced' | 'best effort';
};

export const resourceStats = async (
  ports: Deps<'slots' | 'workspaces'>,
  principal: Principal,
  { executionMax, poolSize, limits }: StatsSettings,
): Promise<ResourceStats> => {
  const { taken } = await ports.slots.read(executionSlots(principal.owner));
  const active = taken.flatMap(({ sandbox }) => (sandbox === undefined ? [] : [sandbox]));
  const entries = poolEntries(poolSize);
  const records = await ports.workspaces.getMany([...active.map(({ workspace }) => workspace), ...entries]);
  const flavorCounts: Record<string, number> = {};
  for (const { flavor } of active) flavorCounts[flavor] = (flavorCounts[flavor] ?? 0) + 1;
  const allocatedPorts = records.reduce((sum, { sandbox }) => sum + (sandbox?.ports?.length ?? 0), 0);
  const sandboxes = records.filter(({ sandbox }) => (sandbox?.ports?.length ?? 0) > 0).length;
  const portsMax = previewPortCount * Math.max(1, sandboxes);
  const ready = records.filter(
    ({ id, sandbox }) => entries.includes(id) && sandbox?.state === 'ready',
  ).length;
  return {
    activeSessions: active.length,
    maxSessions: executionMax,
    totalMemoryMb: active.reduce((sum, { flavor }) => sum + flavors[flavor].memoryMb, 0),
    totalCpus: active.reduce((sum, { flavor }) => sum + flavors[flavor].cpus, 0),
    flavorCounts,
    sessionUtilization: percentOf(active.length, executionMax),
    allocatedPorts,
    availablePorts: portsMax - allocatedPorts,
    portUtilization: percentOf(allocatedPorts, portsMax),
    pool: { ready, target: poolSize },
    limits,
  };
};

/** With two digits after the point. */
const percentOf = (used: number, max: number): number => Math.round((used / max) * 10_000) / 100;
