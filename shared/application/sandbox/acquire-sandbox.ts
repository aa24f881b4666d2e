/**
 * Acquires the sandbox of a workspace: one start for any number of callers, and every caller gets the same one.
 *
 * The table decides which caller starts it (a claim is true once per generation); the rest wait for readiness up
 * to a bound, and then get `sandbox_starting`. A start whose caller died is repeated under the same token.
 */

import type { SandboxStart } from '../../contracts/sandbox-start.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { sandboxTrustMs, sandboxWaitMsMax } from '../../domain/limits.ts';
import { type Losses, lossesFor } from '../../domain/losses.ts';
import {
  acquireStep,
  type LiveSandbox,
  lastSeen,
  type SandboxRecord,
  type Workspace,
} from '../../domain/sandbox.ts';
import { slotsMax } from '../../domain/slot-holder.ts';
import { AppError } from '../../errors.ts';
import { noFreeSlot } from '../access/find-session.ts';
import type { SandboxDeps } from '../deps.ts';
import { unlessAborted } from '../wait-unless-aborted.ts';
import { makeRoom } from './make-room.ts';
import { opens, type ReadySandbox, readyOpened, readySandbox } from './make-sandbox-ready.ts';
import { publishSandboxFailure } from './publish-sandbox-failure.ts';
import { recordStartFailure } from './record-start-failure.ts';
import { type Locator, openLocator } from './record-task-event.ts';
import type { SandboxRequest } from './sandbox-request.ts';
import { startRelay } from './start-relay.ts';
import { noCapacity, reissueStart, settleNetwork, startSandbox } from './start-sandbox.ts';
import { requestStop } from './stop-sandbox.ts';
import { verifySandbox } from './verify-sandbox.ts';

export type AcquiredSandbox = {
  readonly sandbox: LiveSandbox;
  /** As it was read when the sandbox was found ready. */
  readonly workspace: Workspace;
  /** Returned to exactly one caller: the one that publishes the sandbox's start. */
  readonly start?: SandboxStart;
  /** Of its start or of an earlier one: the session of the caller has not been told. */
  readonly losses?: Losses;
  /** Comes with the start: the caller awaits it before it ends. */
  readonly logged?: Promise<void>;
};

const pollMsMin = 20;
const pollMsMax = 1000;
/** The number of starts for a sandbox that dies while it starts. */
const startsMax = 3;
const reasonCharactersMax = 500;

export const acquireSandbox = async (
  ports: SandboxDeps,
  request: SandboxRequest,
): Promise<AcquiredSandbox> => {
  const beganAt = ports.world.now();
  const deadline = beganAt + sandboxWaitMsMax;
  const locate = openLocator(ports);
  let starts = 0;
  let overBefore: number | undefined;
  for (let pause = pollMsMin; ports.world.now() < deadline; pause = Math.min(pollMsMax, pause * 1.5)) {
    const workspace = await find(ports, request.workspaceId);
    overBefore ??= lastOver(workspace);
    refuseWithoutCapacity(workspace, overBefore);
    const trying = tryOnce(ports, workspace, { ...request, locate, mayStart: starts < startsMax });
    // A restore may last longer than its caller has.
    const attempt = await (request.signal === undefined ? trying : unlessAborted(request.signal, trying));
    if (attempt === undefined) throw request.signal?.reason;
    if (typeof attempt === 'object') return handOver(ports, request, attempt);
    if (attempt === 'full') await waitForSlot(ports, request, beganAt);
    else request.onPhase?.('starting the sandbox');
    if (attempt === 'started' || attempt === 'claimed') starts += 1;
    // One that was claimed and has moved since is read again at once.
    if (attempt !== 'claimed') await ports.world.sleep(pause, request.signal);
    request.signal?.throwIfAborted();
  }
  throw stillStarting();
};

/** With its relay, and the losses of which the session has not heard. */
const handOver = async (
  { invoker, link, telemetry }: SandboxDeps,
  { sessionId }: SandboxRequest,
  acquired: AcquiredSandbox,
): Promise<AcquiredSandbox> => {
  await startRelay(invoker, acquired, { sessionId, link, telemetry });
  const losses = acquired.losses ?? lossesFor(acquired.workspace, sessionId);
  return losses === undefined ? acquired : { ...acquired, losses };
};

const stillStarting = (): AppError =>
  new AppError('sandbox_starting', 'the sandbox is still starting', {
    suggestions: ['Try again in a few seconds.'],
    recoveryActions: ['wait_and_retry'],
  });

/** For a caller that must answer sooner than a start may take: whatever is waited for then, the start goes on. */
export const acquireWithin = async (
  ports: SandboxDeps,
  request: SandboxRequest,
  waitMs: number | undefined,
): Promise<AcquiredSandbox> => {
  if (waitMs === undefined) return acquireSandbox(ports, request);
  const [late, done] = [new AbortController(), new AbortController()];
  void ports.world.sleep(waitMs, done.signal).then(() => late.abort(stillStarting()));
  const signal = request.signal === undefined ? late.signal : AbortSignal.any([request.signal, late.signal]);
  try {
    return await acquireSandbox(ports, { ...request, signal });
  } finally {
    done.abort();
  }
};

type Attempt = AcquiredSandbox | 'started' | 'claimed' | 'not-yet' | 'full';

/** Throws when all slots are busy and the caller waits no longer. */
const waitForSlot = async (ports: SandboxDeps, request: SandboxRequest, beganAt: number): Promise<void> => {
  const { slot, slotWaitSeconds = 0, evictsIdle, onPhase } = request;
  if (await makeRoom(ports, { holder: slot.holder, evictsIdle })) return;
  if (ports.world.now() - beganAt >= slotWaitSeconds * 1000)
    throw noFreeSlot(slot.kind, slotsMax(slot.kind, ports.slotLimits));
  onPhase?.('waiting for a slot');
};

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

/** With the reason of the last one, which its session shows too. */
const eachTime = ({ sandbox }: Workspace): string => {
  const reason = sandbox?.stoppedReason?.slice(0, reasonCharactersMax);
  return `it stopped each time before it answered${reason === undefined ? '' : ` (${reason})`}`;
};

const startFailed = (why: string): AppError =>
  new AppError('sandbox_start_failed', `the sandbox could not be started: ${why}`, {
    suggestions: ['Try again in a minute.'],
    recoveryActions: ['wait_and_retry'],
  });

/** All its sessions ended while one of them still waited for a sandbox. */
const deserted = (): AppError =>
  new AppError('invalid_session_state', 'no session uses the workspace now', {
    suggestions: ['Create a new session.'],
    recoveryActions: ['create_new_session'],
  });

const tryOnce = async (
  ports: SandboxDeps,
  workspace: Workspace,
  { locate, mayStart, ...request }: SandboxRequest & { readonly locate: Locator; readonly mayStart: boolean },
): Promise<Attempt> => {
  const { id: workspaceId, sandbox } = workspace;
  const now = ports.world.now();
  const next = acquireStep(sandbox, now);
  switch (next.step) {
    case 'use':
      return use(ports, workspace, liveSandbox(workspace, next.address));
    case 'start':
      if (!mayStart) throw startFailed(eachTime(workspace));
      return startAnother(ports, workspace, request);
    case 'reissue':
      if (sandbox !== undefined) await reissueStart(ports, { workspaceId, sandbox });
      return 'not-yet';
    case 'probe': {
      const live = liveSandbox(workspace, next.address);
      const ready = await readySandbox(ports, workspace, live);
      if (ready !== undefined) return { sandbox: live, workspace, ...ready };
      if (next.lateTask !== undefined) await locate(next.lateTask);
      return 'not-yet';
    }
    case 'locate':
      await locate(next.taskArn);
      return 'not-yet';
    case 'give-up': {
      const reason = 'it did not become ready in time';
      const stop = { reason, only: 'starting' } as const;
      if (sandbox !== undefined)
        await publishSandboxFailure(ports, {
          workspaceId,
          generation: sandbox.generation,
          only: 'starting',
        });
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

const startAnother = async (
  ports: SandboxDeps,
  workspace: Workspace,
  request: SandboxRequest,
): Promise<Attempt> => {
  if (workspace.users.length === 0) throw deserted();
  await request.beforeStart?.();
  const outcome = await startSandbox(ports, workspace, request);
  if (typeof outcome === 'string') return outcome === 'full' ? 'full' : 'started';
  const opened = await openClaimedWarm(ports, { workspace, record: outcome }, request);
  if (typeof opened === 'object') return opened;
  return opened === 'moved' ? 'claimed' : 'started';
};

/**
 * One that was seen a moment ago is used at once; another is probed first. The sign of life of the caller's session is
 * written before this: the janitor that checks the sessions sees it, or finds its mark removed.
 */
const use = async (ports: SandboxDeps, workspace: Workspace, sandbox: LiveSandbox): Promise<Attempt> => {
  const isChecked = workspace.sandbox?.idleCheck !== undefined;
  if (isChecked && !(await ports.workspaces.endIdleCheck(workspace.id, sandbox.generation))) return 'not-yet';
  const isTrusted = ports.world.now() - lastSeen(workspace) < sandboxTrustMs;
  if (isTrusted || (await verifySandbox(ports, workspace, sandbox)) === 'lives')
    return { sandbox, workspace };
  return 'not-yet';
};

/**
 * The requests after the claim of a warm sandbox go side by side: for its network as it is by now, for the next entry of the pool, for
 * the workspace as it is once the claim is made, and with the workspace's own bearer to its server. None depends on another.
 * `moved`: to be read again at once. `silent`: its server does not answer yet.
 */
const openClaimedWarm = async (
  ports: SandboxDeps,
  claimed: { readonly workspace: Workspace; readonly record: SandboxRecord },
  request: SandboxRequest,
): Promise<
  (ReadySandbox & { readonly sandbox: LiveSandbox; readonly workspace: Workspace }) | 'moved' | 'silent'
> => {
  const { record } = claimed;
  const sandbox = liveSandbox({ ...claimed.workspace, sandbox: record }, record.address ?? '');
  const [isSettled, workspace, isOpen] = await Promise.all([
    settleNetwork(ports, request, record),
    ports.workspaces.get(request.workspaceId),
    opens(ports, record, sandbox),
    ports.invoker.fillPool(),
  ]);
  if (!isOpen) return 'silent';
  if (!isSettled || workspace === undefined || !isUnready(workspace, record, ports.world.now()))
    return 'moved';
  const ready = await readyOpened(ports, workspace, sandbox);
  return ready === undefined ? 'moved' : { ...ready, sandbox, workspace };
};

/** No other caller has made it ready, restores it or ended it. */
const isUnready = ({ sandbox }: Workspace, { generation }: SandboxRecord, now: number): boolean =>
  sandbox?.generation === generation && acquireStep(sandbox, now).step === 'probe';

const liveSandbox = ({ id, sandbox }: Workspace, address: string): LiveSandbox => ({
  workspaceId: id,
  generation: sandbox?.generation ?? 0,
  address,
  flavor: sandbox?.flavor ?? 'micro',
});
