/** The resources that an owner's execution sessions use, beside their limits, and the state of the warm pool. */

import { flavors } from '../../domain/flavor.ts';
import { previewPortCount } from '../../domain/limits.ts';
import { poolEntries } from '../../domain/pool.ts';
import type { Principal } from '../../domain/principal.ts';
import { holdsSlot } from '../../domain/session.ts';
import { executionSlots } from '../../domain/slots.ts';
import type { Deps } from '../deps.ts';

export type StatsSettings = {
  readonly executionMax: number;
  readonly poolSize: number;
  readonly limits: 'enforced' | 'best effort';
};

/** Ratios are from 0 to 1. */
export type ResourceStats = {
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
  ports: Deps<'slots' | 'sessions' | 'workspaces'>,
  principal: Principal,
  { executionMax, poolSize, limits }: StatsSettings,
): Promise<ResourceStats> => {
  const { taken } = await ports.slots.read(executionSlots(principal.owner));
  const found = await ports.sessions.getMany(taken.map(({ session }) => session));
  const active = found.filter(holdsSlot);
  const entries = poolEntries(poolSize);
  const records = await ports.workspaces.getMany([...active.map(({ workspace }) => workspace), ...entries]);
  const flavorCounts: Record<string, number> = {};
  for (const { flavor } of active) flavorCounts[flavor] = (flavorCounts[flavor] ?? 0) + 1;
  const allocatedPorts = records.reduce((sum, { sandbox }) => sum + (sandbox?.ports?.length ?? 0), 0);
  const ready = records.filter(
    ({ id, sandbox }) => entries.includes(id) && sandbox?.state === 'ready',
  ).length;
  return {
    activeSessions: active.length,
    maxSessions: executionMax,
    totalMemoryMb: active.reduce((sum, { flavor }) => sum + flavors[flavor].memoryMb, 0),
    totalCpus: active.reduce((sum, { flavor }) => sum + flavors[flavor].cpus, 0),
    flavorCounts,
    sessionUtilization: active.length / executionMax,
    allocatedPorts,
    availablePorts: Math.max(0, previewPortCount - allocatedPorts),
    portUtilization: Math.min(1, allocatedPorts / previewPortCount),
    pool: { ready, target: poolSize },
    limits,
  };
};
