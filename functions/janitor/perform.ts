/** Which use case a task of the janitor is. What it marks itself it saves and stops at once, without waking another. */
import { type AuditPorts, auditPlaces } from '#shared/application/audit-places.ts';
import { drainPool, type FillPoolPorts, fillPool } from '#shared/application/fill-pool.ts';
import { finishStop } from '#shared/application/stop-sandbox.ts';
import { type SweepPorts, sweep } from '#shared/application/sweep.ts';
import { type OrphanPorts, sweepOrphans } from '#shared/application/sweep-orphans.ts';
import type { JanitorTask } from '#shared/contracts/janitor-task.ts';
import type { Flavor } from '#shared/domain/flavor.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { Lifetimes } from '#shared/domain/session-lifetime.ts';
import type { Invoker } from '#shared/ports/invoker.ts';

export type JanitorPorts = SweepPorts & OrphanPorts & AuditPorts & FillPoolPorts;

export type JanitorSettings = {
  readonly lifetimes: Lifetimes;
  readonly poolSize: number;
  readonly flavors: { readonly execution: Flavor; readonly agent: Flavor };
  readonly correlationId: string;
};

export const perform = async (
  given: JanitorPorts,
  task: JanitorTask,
  settings: JanitorSettings,
): Promise<object> => {
  const { lifetimes, correlationId, poolSize, flavors } = settings;
  const pool = { size: poolSize, flavors, correlationId };
  const ports: JanitorPorts = { ...given, invoker: selfServing(given) };
  switch (task.sweep) {
    case 'due':
      return { ...(await sweep(ports, { lifetimes, correlationId })), pool: await fillPool(ports, pool) };
    case 'places':
      return auditPlaces(ports);
    case 'orphans':
      return {
        ...(await sweepOrphans(ports, { correlationId, poolSize })),
        drained: await drainPool(ports, pool),
      };
    case 'pool':
      return fillPool(ports, pool);
    case 'stop':
      return stop(ports, task.workspaceId);
  }
};

const stop = async (ports: SweepPorts, workspaceId: WorkspaceId): Promise<object> => {
  const workspace = await ports.workspaces.get(workspaceId);
  if (workspace !== undefined) await finishStop(ports, workspace);
  return { workspaceId };
};

const selfServing = (ports: JanitorPorts): Invoker => ({
  ...ports.invoker,
  stopSandbox: async (workspaceId) => {
    await stop(ports, workspaceId);
  },
  fillPool: () => Promise.resolve(),
});
