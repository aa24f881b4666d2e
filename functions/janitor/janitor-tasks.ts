/**
 * Runs the use case of a janitor's task. Sandboxes that the task itself marks are saved and stopped at once, without another
 * invocation.
 */

import { sealAudit } from '#shared/application/access/seal-audit.ts';
import type { Deps, ExecutionDeps, ForgetDeps, RegistryDeps, StopDeps } from '#shared/application/deps.ts';
import { tryMcpServer } from '#shared/application/execution/test-mcp-server.ts';
import { drainPool, fillPool } from '#shared/application/janitor/fill-pool.ts';
import { reconcileSlots } from '#shared/application/janitor/reconcile-slots.ts';
import { recoverAfterRestart } from '#shared/application/janitor/recover-after-restart.ts';
import { restartSandboxForApproval } from '#shared/application/janitor/restart-sandbox-for-approval.ts';
import { saveAll } from '#shared/application/janitor/save-all.ts';
import { sweep } from '#shared/application/janitor/sweep-in-rounds.ts';
import { sweepOrphans } from '#shared/application/janitor/sweep-orphans.ts';
import { forgetProject } from '#shared/application/project/forget-project.ts';
import { checkServer } from '#shared/application/registry/check-mcp-server.ts';
import { sweepMcpServers } from '#shared/application/registry/sweep-mcp-servers.ts';
import { forgetWorkspace } from '#shared/application/sandbox/forget-workspace.ts';
import { finishStop } from '#shared/application/sandbox/stop-sandbox.ts';
import type { SessionDefaults } from '#shared/application/session/create-session.ts';
import type { JanitorTask } from '#shared/contracts/background-tasks.ts';
import type { Flavor } from '#shared/domain/flavor.ts';
import type { Lifetimes } from '#shared/domain/idle-time.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { CheckTimes } from '#shared/domain/mcp/health.ts';
import type { McpServer } from '#shared/domain/mcp/server.ts';
import { projectPrincipal } from '#shared/domain/principal.ts';
import type { Invoker } from '#shared/ports/invoker.ts';

export type JanitorPorts = ExecutionDeps &
  RegistryDeps &
  ForgetDeps &
  Deps<'callers' | 'trees' | 'auditSeals' | 'sealKey'>;

export type JanitorSettings = {
  readonly lifetimes: Lifetimes;
  readonly poolSize: number;
  readonly mcpTimes: CheckTimes;
  readonly defaults: SessionDefaults;
  readonly flavors: { readonly execution: Flavor; readonly agent: Flavor };
};

export const performTask = async (
  given: JanitorPorts,
  task: JanitorTask,
  settings: JanitorSettings,
): Promise<object> => {
  const { lifetimes, poolSize, flavors, mcpTimes: times } = settings;
  const pool = { size: poolSize, flavors, template: settings.defaults.template };
  const ports: JanitorPorts = { ...given, invoker: selfServing(given) };
  switch (task.sweep) {
    case 'due':
      return { ...(await sweep(ports, { lifetimes })), pool: await fillPool(ports, pool) };
    case 'slots':
      return reconcileSlots(ports);
    case 'orphans':
      return {
        ...(await sweepOrphans(ports, { poolSize })),
        drained: await drainPool(ports, pool),
      };
    case 'seals':
      return sealAudit(ports);
    case 'start':
      return recoverAfterRestart(ports, { lifetimes, poolSize });
    case 'end':
      return saveAll(ports);
    case 'pool':
      return fillPool(ports, pool);
    case 'stop':
      return stop(ports, task.workspaceId);
    case 'return':
      return restartSandboxForApproval(ports, task.sessionId, { lifetimes });
    case 'workspace':
      return { forgotten: await forgetWorkspace(ports, task.workspaceId) };
    case 'project':
      return { forgotten: await forgetProject(ports, task.project) };
    case 'mcp':
      return sweepMcpServers(ports, { times, forMs: (task.forSeconds ?? 0) * 1000 });
    case 'mcp-server':
      return checkOne(ports, await ports.mcpServers.get(task.project, task.name), settings);
  }
};

/** A server in a sandbox is tried in the name of its project; one on the network is claimed as by a sweep. */
const checkOne = async (
  ports: JanitorPorts,
  server: McpServer | undefined,
  { mcpTimes: times, defaults }: JanitorSettings,
): Promise<object> => {
  if (server === undefined || !server.isEnabled) return { checked: 0 };
  if (server.config.transport !== 'stdio')
    return { checked: (await checkServer(ports, server, times)) === undefined ? 0 : 1 };
  const principal = projectPrincipal(server.project);
  await tryMcpServer(ports, server, { principal, times, defaults });
  return { checked: 1 };
};

const stop = async (ports: StopDeps, workspaceId: WorkspaceId): Promise<object> => {
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
