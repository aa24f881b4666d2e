/**
 * Starts the next sandbox of a workspace: a warm one if the pool has one of the size, else a new task.
 *
 * A start without capacity is retried with growing pauses under the same token; then with a smaller size if the
 * session allows it; then the generation ends and every waiting caller gets the error.
 */

import { type Flavor, smallerFlavor, type Template } from '../../domain/flavor.ts';
import type { ProjectId, WorkspaceId } from '../../domain/ids.ts';
import { capacityTriesMax } from '../../domain/limits.ts';
import { claimableEntries, poolEntries } from '../../domain/pool.ts';
import { lossOf, type SandboxRecord, startToken, taskGroup, type Workspace } from '../../domain/sandbox.ts';
import { AppError, isAppError } from '../../errors.ts';
import type { SandboxDeps } from '../deps.ts';
import { publishSandboxFailure } from './publish-sandbox-failure.ts';
import { recordStartFailure } from './record-start-failure.ts';

export type SandboxRequest = {
  readonly workspaceId: WorkspaceId;
  readonly flavor: Flavor;
  readonly template: Template;
  /** True when the next smaller flavor suffices when there is no capacity. */
  readonly allowSmallerFlavor: boolean;
  readonly correlationId: string;
  /** Aborts the wait for it: the signal's reason is thrown. */
  readonly signal?: AbortSignal;
  /** Receives the phases while the caller waits for it. */
  readonly onPhase?: (phase: string) => void;
};

export const noCapacity = {
  reason: 'no capacity',
  error: (cause?: unknown): AppError =>
    new AppError('sandbox_unavailable', 'there is no capacity for a sandbox of this size at the moment', {
      cause,
      suggestions: ['Try again in a minute, or use a smaller flavor.'],
      recoveryActions: ['wait_and_retry', 'retry_with_smaller_flavor'],
    }),
} as const;

const capacityPauseMs = 500;

/** Returns when a sandbox was requested, by this caller or by another. */
export const startSandbox = async (
  ports: SandboxDeps,
  workspace: Workspace,
  request: SandboxRequest,
): Promise<void> => {
  const generation = (workspace.sandbox?.generation ?? 0) + 1;
  const lost = lossOf(workspace.sandbox);
  const next = { generation, ...(lost === undefined ? {} : { lost }) };
  if (await claimWarm(ports, request, next)) return;
  const sandbox = newRecord(ports, { flavor: request.flavor, template: request.template, ...next });
  if (!(await ports.workspaces.claimStart(workspace.id, sandbox))) return;
  const started = await requestTaskWithRetry(ports, {
    workspaceId: workspace.id,
    project: workspace.project,
    sandbox,
  });
  if (started === 'started') return;
  const smaller = request.allowSmallerFlavor ? smallerFlavor(request.flavor) : undefined;
  if (smaller === undefined) throw noCapacity.error();
  ports.telemetry.info('a smaller sandbox is tried', { workspaceId: workspace.id, flavor: smaller });
  const over = { ...workspace, sandbox: { ...sandbox, state: 'stopped' as const } };
  await startSandbox(ports, over, { ...request, flavor: smaller });
};

type Next = { readonly generation: number; readonly lost?: string };

const newRecord = (
  { world }: SandboxDeps,
  fields: Next & Pick<SandboxRecord, 'flavor' | 'template'>,
): SandboxRecord => ({ state: 'starting', source: 'cold', requestedAt: world.now(), ...fields });

/** A claim that loses tries the next pool entry; true when one was won. */
const claimWarm = async (
  ports: SandboxDeps,
  { workspaceId, flavor, template, correlationId }: SandboxRequest,
  next: Next,
): Promise<boolean> => {
  if (ports.poolSize === 0) return false;
  const entries = await ports.workspaces.getMany(poolEntries(ports.poolSize));
  const at = ports.world.now();
  for (const entry of claimableEntries(entries, flavor, at)) {
    const { taskArn, address, generation } = entry.sandbox ?? { generation: 0 };
    if (taskArn === undefined || address === undefined) continue;
    const sandbox: SandboxRecord = {
      ...newRecord(ports, { flavor, template, ...next }),
      source: 'pool',
      warm: { entry: entry.id, generation },
      taskArn,
      address,
    };
    const claim = { generation: next.generation, at, sandbox };
    if (await ports.workspaces.claimWarm(workspaceId, entry, claim)) {
      await ports.invoker.fillPool(correlationId);
      return true;
    }
  }
  return false;
};

type Named = {
  readonly workspaceId: WorkspaceId;
  readonly project?: ProjectId;
  readonly sandbox: SandboxRecord;
};

/** `no-capacity`: the generation has ended. Any other failure ends it, too, and is thrown. */
const requestTaskWithRetry = async (ports: SandboxDeps, named: Named): Promise<'started' | 'no-capacity'> => {
  for (let attempt = 1; attempt <= capacityTriesMax; attempt += 1) {
    if (attempt > 1) await ports.world.sleep(capacityPauseMs * 2 ** (attempt - 2));
    if (await isTaskPlaced(ports, named)) return 'started';
  }
  await giveUp(ports, named, noCapacity.reason);
  return 'no-capacity';
};

/** False for lack of capacity. */
const isTaskPlaced = async (ports: SandboxDeps, named: Named): Promise<boolean> => {
  try {
    await startTask(ports, named);
    return true;
  } catch (error) {
    if (isAppError(error) && error.code === 'sandbox_unavailable') return false;
    await giveUp(ports, named, 'the start was refused');
    throw error;
  }
};

const giveUp = async (
  ports: SandboxDeps,
  { workspaceId, project, sandbox }: Named,
  reason: string,
): Promise<void> => {
  const { workspaces, telemetry, world } = ports;
  const { generation } = sandbox;
  await publishSandboxFailure(ports, { workspaceId, generation });
  recordStartFailure(telemetry, { workspaceId, project, sandbox }, reason);
  await workspaces.markStopped(workspaceId, generation, { reason, at: world.now() });
};

/** The claimant died before ECS answered: calls again under the same token. */
export const reissueStart = async (ports: SandboxDeps, named: Named): Promise<void> => {
  if ((await requestTaskWithRetry(ports, named)) === 'no-capacity') throw noCapacity.error();
};

/** Starts the unclaimed sandbox of one pool entry. */
export const startEntry = async (ports: SandboxDeps, entry: Workspace, flavor: Flavor): Promise<boolean> => {
  const generation = (entry.sandbox?.generation ?? 0) + 1;
  const sandbox = newRecord(ports, { flavor, template: 'python', generation });
  if (!(await ports.workspaces.claimStart(entry.id, sandbox))) return false;
  try {
    await startTask(ports, { workspaceId: entry.id, sandbox });
    return true;
  } catch (error) {
    await giveUp(ports, { workspaceId: entry.id, sandbox }, 'the start was refused');
    throw error;
  }
};

const startTask = async (ports: SandboxDeps, { workspaceId, sandbox }: Named): Promise<void> => {
  const { generation, flavor, template } = sandbox;
  const taskArn = await ports.host.start({
    token: startToken(workspaceId, generation),
    group: taskGroup(workspaceId, generation),
    flavor,
    template,
    bearerHash: ports.bearerHash(workspaceId, generation),
  });
  await ports.workspaces.recordTask(workspaceId, generation, taskArn);
};
