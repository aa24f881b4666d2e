/**
 * The resources that the sandboxes of execution sessions use, beside their limits, and the state of the warm pool: those of the
 * caller and, to a scope of the deployment, those of the deployment and of its projects. Each owner has slots of its own.
 */

import { mayUse } from '../../domain/access.ts';
import { flavors } from '../../domain/flavor.ts';
import type { OwnerId } from '../../domain/ids.ts';
import { previewPortCount } from '../../domain/limits.ts';
import { poolEntries } from '../../domain/pool.ts';
import { deploymentOwner, type Principal } from '../../domain/principal.ts';
import type { Project } from '../../domain/project.ts';
import { executionSlots } from '../../domain/slot-holder.ts';
import type { Deps } from '../deps.ts';

export type StatsSettings = {
  readonly executionMax: number;
  readonly poolSize: number;
  readonly limits: 'enforced' | 'best effort';
};

/** Of one owner. Without a project: the caller, or the deployment. */
export type ExecutionSlots = {
  readonly project?: Project['id'];
  readonly name: string;
  readonly used: number;
  readonly max: number;
};

/** Utilizations are percentages. Each sandbox has its own ports. */
export type ResourceStats = {
  /** Slots that are held. */
  readonly activeSessions: number;
  /** Of each owner. */
  readonly maxSessions: number;
  readonly totalMemoryMb: number;
  readonly totalCpus: number;
  readonly flavorCounts: Readonly<Record<string, number>>;
  /** Of the owner that holds most. */
  readonly sessionUtilization: number;
  readonly allocatedPorts: number;
  readonly availablePorts: number;
  readonly portUtilization: number;
  readonly pool: { readonly ready: number; readonly target: number };
  readonly limits: 'enforced' | 'best effort';
  readonly executionSlots: readonly ExecutionSlots[];
};

/** `projects`: those that the caller may see, of which the application counts some. */
type Seen = { readonly principal: Principal; readonly projects: readonly Project[] };

export const resourceStats = async (
  ports: Deps<'slots' | 'workspaces'>,
  seen: Seen,
  { executionMax, poolSize, limits }: StatsSettings,
): Promise<ResourceStats> => {
  const held = await Promise.all(
    ownersFor(seen).map(async ({ owner, ...named }) => {
      const { taken } = await ports.slots.read(executionSlots(owner));
      const sandboxes = taken.flatMap(({ sandbox }) => (sandbox === undefined ? [] : [sandbox]));
      return { slots: { ...named, used: sandboxes.length, max: executionMax }, sandboxes };
    }),
  );
  const active = held.flatMap(({ sandboxes: ofOwner }) => ofOwner);
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
    sessionUtilization: percentOf(Math.max(...held.map(({ slots }) => slots.used)), executionMax),
    allocatedPorts,
    availablePorts: portsMax - allocatedPorts,
    portUtilization: percentOf(allocatedPorts, portsMax),
    pool: { ready, target: poolSize },
    limits,
    executionSlots: held.map(({ slots }) => slots),
  };
};

type Owner = Pick<ExecutionSlots, 'project' | 'name'> & { readonly owner: OwnerId };

/** The caller first. Persons have slots of their own, of which there is no list. */
const ownersFor = ({ principal, projects }: Seen): readonly Owner[] => {
  const projectOwners = projects.map(({ id, name }) => ({
    owner: id as string as OwnerId,
    project: id,
    name,
  }));
  const deployment = { owner: deploymentOwner, name: 'deployment' };
  const all = mayUse(principal, 'admin:read') ? [deployment, ...projectOwners] : projectOwners;
  const own = all.find(({ owner }) => owner === principal.owner) ?? {
    owner: principal.owner,
    name: principal.name ?? 'yours',
  };
  return mayUse(principal, 'admin:read') ? [own, ...all.filter((one) => one !== own)] : [own];
};

/** With two digits after the point. */
const percentOf = (used: number, max: number): number => Math.round((used / max) * 10_000) / 100;
