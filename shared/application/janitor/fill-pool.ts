/**
 * Keeps the warm pool as the settings require: starts empty pool entries, and stops those beyond its size and those of another
 * flavor or template than the settings name now.
 *
 * Safe to run concurrently: one caller claims a pool entry's generation. A start without capacity leaves its pool entry empty
 * until the next sweep.
 */

import type { WorkspaceId } from '../../domain/ids.ts';
import { entryKind, isPoolEntry, type PoolPlan, poolEntries, reasonToDrain } from '../../domain/pool.ts';
import { defaultProject, deploymentOwner } from '../../domain/principal.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import type { SandboxDeps } from '../deps.ts';
import { startEntry } from '../sandbox/start-sandbox.ts';
import { requestStop } from '../sandbox/stop-sandbox.ts';

export type PoolReport = { readonly started: number; readonly ready: number };

export const fillPool = async (ports: SandboxDeps, plan: PoolPlan): Promise<PoolReport> => {
  const request = poolEntries(plan.size);
  const found = new Map((await ports.workspaces.getMany(request)).map((entry) => [entry.id, entry]));
  const results = await Promise.allSettled(request.map((id) => fillEntry(ports, plan, found.get(id) ?? id)));
  for (const result of results)
    if (result.status === 'rejected')
      ports.telemetry.warn('a pool entry was not filled', { error: result.reason });
  const started = results.filter((result) => result.status === 'fulfilled' && result.value).length;
  const ready = [...found.values()].filter(({ sandbox }) => sandbox?.state === 'ready').length;
  if (plan.size > 0) ports.telemetry.count('PoolReady', ready);
  return { started, ready };
};

const fillEntry = async (
  ports: SandboxDeps,
  plan: PoolPlan,
  entry: Workspace | WorkspaceId,
): Promise<boolean> => {
  const known = typeof entry === 'string' ? await makeEntry(ports, entry) : entry;
  if (known.sandbox !== undefined && known.sandbox.state !== 'stopped') return false;
  return startEntry(ports, known, entryKind(known.id, plan));
};

const makeEntry = async ({ workspaces, world }: SandboxDeps, id: WorkspaceId): Promise<Workspace> => {
  const entry: Workspace = {
    id,
    owner: deploymentOwner,
    project: defaultProject,
    createdAt: world.now(),
    users: [],
  };
  await workspaces.create(entry);
  return (await workspaces.get(id)) ?? entry;
};

/** Stops the pool entries that the pool does not keep. A claim that comes first wins. */
export const drainPool = async (ports: SandboxDeps, plan: PoolPlan): Promise<number> => {
  let drained = 0;
  for await (const workspaces of ports.workspaces.live()) {
    for (const entry of workspaces) {
      const reason = isPoolEntry(entry.id) ? reasonToDrain(entry, plan) : undefined;
      if (reason !== undefined && (await requestStop(ports, entry, { reason }))) drained += 1;
    }
  }
  return drained;
};
