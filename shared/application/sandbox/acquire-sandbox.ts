/**
 * Acquires the sandbox of a workspace: one start for any number of callers, and every caller gets the same one.
 *
 * The table decides which caller starts it (a claim is true once per generation); the rest wait for readiness up
 * to a bound, and then get `sandbox_starting`. A start whose caller died is repeated under the same token.
 */

import type { SandboxStart } from '../../contracts/sandbox-start.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { sandboxTrustMs, sandboxWaitMsMax } from '../../domain/limits.ts';
import { acquireStep, type LiveSandbox, lastSeen, type Workspace } from '../../domain/sandbox.ts';
import { AppError } from '../../errors.ts';
import type { SandboxDeps } from '../deps.ts';
import { publishSandboxFailure } from './publish-sandbox-failure.ts';
import { readySandbox } from './ready-sandbox.ts';
import { recordStartFailure } from './record-start-failure.ts';
import { type Locator, openLocator } from './record-task-event.ts';
import { noCapacity, reissueStart, type SandboxRequest, startSandbox } from './start-sandbox.ts';
import { requestStop } from './stop-sandbox.ts';
import { verifySandbox } from './verify-sandbox.ts';

export type AcquiredSandbox = {
  readonly sandbox: LiveSandbox;
  /** As it was read when the sandbox was found ready. */
  readonly workspace: Workspace;
  /** Returned to exactly one caller: the one that publishes the sandbox's start. */
  readonly start?: SandboxStart;
};

const pollMsMin = 20;
const pollMsMax = 1000;
/** The number of starts for a sandbox that dies while it starts. */
const startsMax = 3;

export const acquireSandbox = async (
  ports: SandboxDeps,
  request: SandboxRequest,
): Promise<AcquiredSandbox> => {
  const deadline = ports.world.now() + sandboxWaitMsMax;
  const locate = openLocator(ports, request.correlationId);
  let starts = 0;
  let overBefore: number | undefined;
  for (let pause = pollMsMin; ports.world.now() < deadline; pause = Math.min(pollMsMax, pause * 1.5)) {
    const workspace = await find(ports, request.workspaceId);
    overBefore ??= lastOver(workspace);
    refuseWithoutCapacity(workspace, overBefore);
    const attempt = await tryOnce(ports, workspace, { ...request, locate });
    if (typeof attempt === 'object') return attempt;
    request.onPhase?.('starting the sandbox');
    if (attempt === 'started') starts += 1;
    if (starts > startsMax) throw startFailed('it stopped each time before it answered');
    await ports.world.sleep(pause, request.signal);
    request.signal?.throwIfAborted();
  }
  throw new AppError('sandbox_starting', 'the sandbox is still starting', {
    suggestions: ['Try again in a few seconds.'],
    recoveryActions: ['wait_and_retry'],
  });
};

type Attempt = AcquiredSandbox | 'started' | 'not-yet';

const find = async ({ workspaces }: SandboxDeps, id: WorkspaceId): Promise<Workspace> => {
  const workspace = await workspaces.get(id);
  if (workspace !== undefined) return workspace;
  throw new AppError('workspace_not_found', `workspace ${id} not found`);
};

/** The last generation that had ended when it was read. */
const lastOver = ({ sandbox }: Workspace): number => {
  if (sandbox === undefined) return 0;
  return sandbox.state === 'stopped' ? sandbox.generation : sandbox.generation - 1;
};

/** A caller that waited for a start without capacity does not start another one. */
const refuseWithoutCapacity = ({ sandbox }: Workspace, overBefore: number): void => {
  if (sandbox?.state !== 'stopped' || sandbox.generation <= overBefore) return;
  if (sandbox.stoppedReason === noCapacity.reason) throw noCapacity.error();
};

const startFailed = (why: string): AppError =>
  new AppError('sandbox_start_failed', `the sandbox could not be started: ${why}`, {
    suggestions: ['Try again in a minute.'],
    recoveryActions: ['wait_and_retry'],
  });

/** All its sessions ended while one of them still waited for a sandbox. */
const deserted = (): AppError =>
  new AppError('invalid_session_state', 'no session uses the workspace any more', {
    suggestions: ['Create a new session.'],
    recoveryActions: ['create_new_session'],
  });

const tryOnce = async (
  ports: SandboxDeps,
  workspace: Workspace,
  { locate, ...request }: SandboxRequest & { readonly locate: Locator },
): Promise<Attempt> => {
  const { id: workspaceId, sandbox } = workspace;
  const now = ports.world.now();
  const next = acquireStep(sandbox, now);
  switch (next.step) {
    case 'use':
      return use(ports, workspace, liveSandbox(workspace, next.address));
    case 'start':
      if (workspace.users.length === 0) throw deserted();
      await startSandbox(ports, workspace, request);
      return 'started';
    case 'reissue':
      if (sandbox !== undefined) await reissueStart(ports, { workspaceId, sandbox });
      return 'not-yet';
    case 'probe': {
      const start = await readySandbox(ports, workspace, liveSandbox(workspace, next.address));
      return start === undefined
        ? 'not-yet'
        : { sandbox: liveSandbox(workspace, next.address), workspace, start };
    }
    case 'locate':
      await locate(next.taskArn);
      return 'not-yet';
    case 'give-up': {
      const reason = 'it did not become ready in time';
      const stop = { reason, correlationId: request.correlationId, only: 'starting' } as const;
      if (sandbox !== undefined)
        await publishSandboxFailure(ports, { workspaceId, generation: sandbox.generation });
      // One that changed since it was read is read again.
      if (!(await requestStop(ports, workspace, stop))) return 'not-yet';
      if (sandbox !== undefined)
        recordStartFailure(ports.telemetry, { workspaceId, project: workspace.project, sandbox }, reason);
      throw startFailed(reason);
    }
    case 'wait':
      return 'not-yet';
  }
};

/** One that was seen a moment ago is used at once; another is probed first. */
const use = async (ports: SandboxDeps, workspace: Workspace, sandbox: LiveSandbox): Promise<Attempt> => {
  const isTrusted = ports.world.now() - lastSeen(workspace) < sandboxTrustMs;
  if (isTrusted || (await verifySandbox(ports, workspace, sandbox)) === 'lives')
    return { sandbox, workspace };
  return 'not-yet';
};

const liveSandbox = ({ id, sandbox }: Workspace, address: string): LiveSandbox => ({
  workspaceId: id,
  generation: sandbox?.generation ?? 0,
  address,
  flavor: sandbox?.flavor ?? 'micro',
});
