/**
 * Keeps the warm pool at its size: empty slots are started, slots beyond the size are stopped.
 *
 * Any number may run at once: a slot's generation is claimed by one. A start that finds no capacity leaves
 * its slot empty until the next sweep.
 */
import type { Flavor } from '../../domain/flavor.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { isPoolSlot, poolSlots, slotFlavor } from '../../domain/pool.ts';
import { defaultProject, deploymentOwner } from '../../domain/principal.ts';
import type { Workspace } from '../../domain/sandbox.ts';
import { startSlot, type TaskStartPorts } from './start-sandbox.ts';
import { type RequestStopPorts, requestStop } from './stop-sandbox.ts';

export type FillPoolPorts = TaskStartPorts & RequestStopPorts;

export type PoolPlan = {
  readonly size: number;
  readonly flavors: { readonly execution: Flavor; readonly agent: Flavor };
  readonly correlationId: string;
};

export type PoolReport = { readonly started: number; readonly ready: number };

export const fillPool = async (ports: FillPoolPorts, plan: PoolPlan): Promise<PoolReport> => {
  const wanted = poolSlots(plan.size);
  const found = new Map((await ports.workspaces.getMany(wanted)).map((slot) => [slot.id, slot]));
  const results = await Promise.allSettled(wanted.map((id) => fillSlot(ports, plan, found.get(id) ?? id)));
  for (const result of results)
    if (result.status === 'rejected')
      ports.telemetry.warn('a slot of the pool was not filled', { error: result.reason });
  const started = results.filter((result) => result.status === 'fulfilled' && result.value).length;
  const ready = [...found.values()].filter(({ sandbox }) => sandbox?.state === 'ready').length;
  if (plan.size > 0) ports.telemetry.count('PoolReady', ready);
  return { started, ready };
};

const fillSlot = async (
  ports: FillPoolPorts,
  { flavors }: PoolPlan,
  slot: Workspace | WorkspaceId,
): Promise<boolean> => {
  const known = typeof slot === 'string' ? await makeSlot(ports, slot) : slot;
  if (known.sandbox !== undefined && known.sandbox.state !== 'stopped') return false;
  return startSlot(ports, known, slotFlavor(known.id, flavors));
};

const makeSlot = async ({ workspaces, world }: FillPoolPorts, id: WorkspaceId): Promise<Workspace> => {
  const slot: Workspace = {
    id,
    owner: deploymentOwner,
    project: defaultProject,
    createdAt: world.now(),
    users: [],
  };
  await workspaces.create(slot);
  return (await workspaces.get(id)) ?? slot;
};

/** Slots of a pool that has become smaller. */
export const drainPool = async (ports: FillPoolPorts, plan: PoolPlan): Promise<number> => {
  const wanted = new Set(poolSlots(plan.size));
  let drained = 0;
  for await (const workspaces of ports.workspaces.live()) {
    for (const slot of workspaces) {
      if (!isPoolSlot(slot.id) || wanted.has(slot.id)) continue;
      const stop = { reason: 'the pool became smaller', correlationId: plan.correlationId };
      if (await requestStop(ports, slot, stop)) drained += 1;
    }
  }
  return drained;
};
