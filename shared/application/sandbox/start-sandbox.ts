/**
 * Starts the next sandbox of a workspace: a warm one if the pool has one of the size, else a new task.
 *
 * A start without capacity is retried with growing pauses under the same token; then with a smaller size if the
 * session allows it; then the generation ends and every waiting caller gets the error.
 */

import { isSameNetwork } from '../../domain/egress-policy.ts';
import { smallerFlavor } from '../../domain/flavor.ts';
import { nextGeneration } from '../../domain/generation.ts';
import type { ProjectId, WorkspaceId } from '../../domain/ids.ts';
import { capacityTriesMax } from '../../domain/limits.ts';
import { type SandboxRecord, startToken, taskGroup, type Workspace } from '../../domain/sandbox.ts';
import { AppError, isAppError } from '../../errors.ts';
import type { SandboxDeps } from '../deps.ts';
import { claimWarm, readPool } from './claim-warm-sandbox.ts';
import { newRecord, nextSandbox, slotClaimOf } from './next-sandbox.ts';
import { notifySandboxEnd } from './notify-sandbox-end.ts';
import { publishSandboxFailure } from './publish-sandbox-failure.ts';
import { recordStartFailure } from './record-start-failure.ts';
import type { SandboxRequest } from './sandbox-request.ts';
import { sliceUsedUp } from './slice-used-up.ts';

export const noCapacity = {
  reason: 'no capacity',
  error: (cause?: unknown): AppError =>
    new AppError('sandbox_unavailable', 'there is no capacity for a sandbox of this size at the moment', {
      cause,
      suggestions: ['Try again in a minute, or use a smaller flavor.'],
      recoveryActions: ['wait_and_retry', 'retry_with_smaller_flavor'],
    }),
} as const;

const noSecondsLeft = (ports: SandboxDeps, { sessionId }: SandboxRequest): AppError =>
  sliceUsedUp(ports, {
    ...{ measure: 'sandboxMs', sessionId },
    message: 'the sandbox seconds of this session are used up',
    suggestions: ['Continue without a sandbox: answer with what you have.'],
  });

const capacityPauseMs = 500;

/** `requested`, by this caller or by another; `full` when no slot is free for it; or the record of a warm one that was claimed. */
export const startSandbox = async (
  ports: SandboxDeps,
  workspace: Workspace,
  request: SandboxRequest,
): Promise<'requested' | 'full' | SandboxRecord> => {
  await notifySandboxEnd(ports, workspace);
  const generation = nextGeneration(workspace);
  const [now, entries] = await Promise.all([ports.sessions.get(request.sessionId), readPool(ports, request)]);
  // As they are now: they may have changed since the caller read the session (EG1).
  const { lifetimeMs } = now ?? request;
  const next = nextSandbox(generation, workspace, { ...request, lifetimeMs, network: now?.network });
  const warm = await claimWarm(ports, entries, { ...request, next });
  if (typeof warm === 'object') return warm;
  if (warm === 'full') return 'full';
  if (warm === 'spent') throw noSecondsLeft(ports, request);
  const sandbox = newRecord(ports, { flavor: request.flavor, template: request.template, ...next });
  const claimed = await ports.workspaces.claimStart(workspace.id, sandbox, slotClaimOf(ports, request));
  if (claimed === 'spent') throw noSecondsLeft(ports, request);
  if (claimed !== 'claimed') return claimed === 'full' ? 'full' : 'requested';
  const named = { workspaceId: workspace.id, project: workspace.project, sandbox };
  const [started] = await Promise.all([
    requestTaskWithRetry(ports, named),
    settleNetwork(ports, request, sandbox),
  ]);
  if (started === 'started') return 'requested';
  const smaller = request.allowSmallerFlavor ? smallerFlavor(request.flavor) : undefined;
  if (smaller === undefined) throw noCapacity.error();
  ports.telemetry.info('a smaller sandbox is tried', { workspaceId: workspace.id, flavor: smaller });
  const over = { ...workspace, sandbox: { ...sandbox, state: 'stopped' as const } };
  return startSandbox(ports, over, { ...request, flavor: smaller });
};

/** A change that came between the read and the claim found no sandbox to change. True when there was none. */
export const settleNetwork = async (
  ports: SandboxDeps,
  request: SandboxRequest,
  { generation, network: claimed }: Pick<SandboxRecord, 'generation' | 'network'>,
): Promise<boolean> => {
  let given = claimed;
  for (;;) {
    const network = (await ports.sessions.get(request.sessionId))?.network;
    if (isSameNetwork(network, given)) return given === claimed;
    if (!(await ports.workspaces.setNetwork(request.workspaceId, generation, network))) return false;
    given = network;
  }
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
  return (await giveUp(ports, named, noCapacity.reason)) === 'placed' ? 'started' : 'no-capacity';
};

/** False for lack of capacity. */
const isTaskPlaced = async (ports: SandboxDeps, named: Named): Promise<boolean> => {
  let taskArn: string;
  try {
    taskArn = await requestTask(ports, named);
  } catch (error) {
    if (isAppError(error) && error.code === 'sandbox_unavailable') return false;
    await giveUp(ports, named, 'the start was refused');
    throw error;
  }
  await recordTask(ports, named, taskArn);
  return true;
};

/** `placed`: it stays, since another caller's request or an event has named its task. */
const giveUp = async (
  ports: SandboxDeps,
  { workspaceId, project, sandbox }: Named,
  reason: string,
): Promise<'placed' | 'over'> => {
  const { workspaces, telemetry, world } = ports;
  const { generation } = sandbox;
  const current = (await workspaces.get(workspaceId))?.sandbox;
  if (current?.generation === generation && current.taskArn !== undefined) return 'placed';
  await publishSandboxFailure(ports, { workspaceId, generation, only: 'unplaced' });
  const end = { reason, at: world.now(), only: 'unplaced' } as const;
  if ((await workspaces.markStopped(workspaceId, generation, end)) !== undefined)
    recordStartFailure(telemetry, { workspaceId, project, sandbox }, reason);
  return 'over';
};

/** The claimant died before ECS answered: calls again under the same token. */
export const reissueStart = async (ports: SandboxDeps, named: Named): Promise<void> => {
  if ((await requestTaskWithRetry(ports, named)) === 'no-capacity') throw noCapacity.error();
};

/** Starts the unclaimed sandbox of one pool entry. */
export const startEntry = async (
  ports: SandboxDeps,
  entry: Workspace,
  kind: Pick<SandboxRecord, 'flavor' | 'template'>,
): Promise<boolean> => {
  const sandbox = newRecord(ports, { ...kind, generation: nextGeneration(entry) });
  if ((await ports.workspaces.claimStart(entry.id, sandbox)) !== 'claimed') return false;
  const named = { workspaceId: entry.id, sandbox };
  let taskArn: string;
  try {
    taskArn = await requestTask(ports, named);
  } catch (error) {
    await giveUp(ports, named, 'the start was refused');
    throw error;
  }
  await recordTask(ports, named, taskArn);
  return true;
};

const requestTask = (ports: SandboxDeps, { workspaceId, sandbox }: Named): Promise<string> => {
  const { generation, flavor, template, isTrial } = sandbox;
  return ports.host.start({
    token: startToken(workspaceId, generation),
    group: taskGroup(workspaceId, generation),
    flavor,
    template,
    bearerHash: ports.bearerHash(workspaceId, generation),
    ...(isTrial === undefined ? {} : { withoutShared: isTrial }),
  });
};

/** A task that was placed and not recorded is no refused start: its event names it, and so does a repeated request. */
const recordTask = ({ workspaces }: SandboxDeps, { workspaceId, sandbox }: Named, taskArn: string) =>
  workspaces.recordTask(workspaceId, sandbox.generation, taskArn);
