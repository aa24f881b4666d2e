/**
 * Makes a sandbox whose task runs ready for its workspace: a warm one gets the workspace's own bearer, exactly
 * one caller restores the last checkpoint and the owner's shared volume, and exactly one caller learns that it is
 * ready (L2). The losses of its start are kept in the same write, for every session of the workspace (L15).
 */

import {
  type Restored,
  type RestoredShared,
  type SandboxStart,
  startNotice,
} from '../../contracts/sandbox-start.ts';
import { refOf } from '../../domain/checkpoint.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { restoreHoldMs, restoreMsMax, restoreRenewMs } from '../../domain/limits.ts';
import { type Losses, lossesAfter } from '../../domain/losses.ts';
import { lostWith } from '../../domain/process.ts';
import { type LiveSandbox, meterLookMs, type SandboxRecord, type Workspace } from '../../domain/sandbox.ts';
import { isAppError } from '../../errors.ts';
import type { SandboxLink } from '../../ports/sandbox.ts';
import type { RestoreOutcome } from '../../ports/workspace-archive.ts';
import type { SandboxDeps } from '../deps.ts';
import { renewUntilStopped } from '../renew-until-stopped.ts';
import { configureSandbox } from './configure-sandbox.ts';

export type ReadySandbox = {
  readonly start: SandboxStart;
  /** Absent: it lost nothing. */
  readonly losses?: Losses;
  /** Ends once the sandbox's log has its start, and never rejects: its caller continues, and awaits it before it ends. */
  readonly logged: Promise<void>;
};

/** Undefined when it is not ready yet, or another caller makes it ready. */
export const readySandbox = async (
  ports: SandboxDeps,
  workspace: Workspace,
  sandbox: LiveSandbox,
): Promise<ReadySandbox | undefined> => {
  const { sandbox: record } = workspace;
  if (record === undefined || !(await opens(ports, record, sandbox))) return undefined;
  return readyOpened(ports, workspace, sandbox);
};

/** As `readySandbox`, of one whose server accepts the workspace's own bearer. */
export const readyOpened = async (
  ports: SandboxDeps,
  workspace: Workspace,
  sandbox: LiveSandbox,
): Promise<ReadySandbox | undefined> => {
  const { sandbox: record, checkpoint } = workspace;
  if (record === undefined) return undefined;
  const needsRestore = checkpoint !== undefined || ports.archive.keepsShared;
  const filled = needsRestore ? await restore(ports, workspace, sandbox) : {};
  if (filled === 'not-mine') return undefined;
  if (!(await isConfigured(ports, record, sandbox))) return undefined;
  const { workspaceId, generation } = sandbox;
  const { claim, ...contents } = filled;
  const { source, flavor, lost } = record;
  const processes = await lostProcesses(ports, workspaceId, record);
  const now = ports.world.now();
  const startMs = now - record.requestedAt;
  const ended = lost === undefined ? {} : { lost };
  const start = { startMs, source, generation, ...contents, ...ended, ...processes };
  const losses = lossesAfter(workspace, { generation, notice: startNotice(start) });
  const ready = { at: now, claim, lookMs: meterLookMs(record), losses };
  if (!(await ports.workspaces.markReady(workspaceId, generation, ready))) return undefined;
  const { project } = workspace;
  ports.telemetry.duration(source === 'pool' ? 'SandboxWarmStartMs' : 'SandboxColdStartMs', startMs);
  const started = { event: 'sandbox_started', workspaceId, project, generation, source, flavor, startMs };
  ports.telemetry.info('a sandbox is ready', started);
  const logged = logStart(ports, workspaceId, lifecycle(record, { now, startMs, ...contents }));
  return { start, logged, ...(losses === undefined ? {} : { losses }) };
};

/** The sandbox is ready, and only its log lacks the lines of a start that could not be written. */
const logStart = async (
  { sandboxLog, telemetry }: SandboxDeps,
  workspaceId: WorkspaceId,
  lines: ReturnType<typeof lifecycle>,
): Promise<void> => {
  try {
    await sandboxLog.append(workspaceId, lines);
  } catch (error) {
    telemetry.warn('the start of a sandbox was not logged', { workspaceId, error });
  }
};

/** Those that ran in the background of an earlier sandbox; only one that ever had any is looked up. */
const lostProcesses = async (
  { processes, telemetry }: SandboxDeps,
  workspaceId: WorkspaceId,
  { processesOf }: SandboxRecord,
): Promise<Pick<SandboxStart, 'lostProcesses'>> => {
  if (processesOf === undefined) return {};
  try {
    return { lostProcesses: lostWith(await processes.list(workspaceId), processesOf) };
  } catch (error) {
    telemetry.warn('lost processes were not looked up', { workspaceId, error });
    return {};
  }
};

/** The restored contents; empty where there was nothing to restore. */
type Filled = { readonly restored?: Restored; readonly shared?: RestoredShared; readonly claim?: number };

const lifecycle = (
  { generation, flavor, template, source, requestedAt }: SandboxRecord,
  { now, startMs, restored, shared }: Filled & { readonly now: number; readonly startMs: number },
) => {
  const asked = `sandbox ${generation} requested: ${template}, ${flavor}, ${source === 'pool' ? 'from the warm pool' : 'new'}`;
  const files =
    restored === undefined ? '' : `; ${restored.files} files restored, ${restored.missing.length} missing`;
  const sharedFiles =
    shared === undefined ? '' : `; ${shared.files} shared files, ${shared.missing.length} missing`;
  return [
    { at: requestedAt, stream: 'lifecycle' as const, text: asked },
    {
      at: now,
      stream: 'lifecycle' as const,
      text: `sandbox ${generation} ready after ${startMs} ms${files}${sharedFiles}`,
    },
  ];
};

/** True when its server accepts the workspace's own bearer; a warm one is given it first, and refuses a repeat of that. */
export const opens = async (
  ports: SandboxDeps,
  record: SandboxRecord,
  sandbox: LiveSandbox,
): Promise<boolean> => {
  if (record.warm !== undefined) {
    const status = await claim(ports, record.warm, sandbox);
    if (status !== 401) return status === 204;
  }
  return (await statusOf(ports.link, sandbox, { method: 'GET', path: '/health' })) === 200;
};

/** The status of the answer. */
const claim = (
  ports: SandboxDeps,
  { entry, generation }: NonNullable<SandboxRecord['warm']>,
  sandbox: LiveSandbox,
): Promise<number | undefined> => {
  const body = JSON.stringify({ bearerSha256: ports.bearerHash(sandbox.workspaceId, sandbox.generation) });
  const asEntry = { ...sandbox, workspaceId: entry, generation };
  return statusOf(ports.link, asEntry, { method: 'POST', path: '/claim', body });
};

type Ask = { readonly method: string; readonly path: string; readonly body?: string };

/** Gives its programs the variables and the folder of the session that started it; a repeat has no effect. */
const isConfigured = async (
  ports: SandboxDeps,
  record: SandboxRecord,
  sandbox: LiveSandbox,
): Promise<boolean> => {
  const { environment, cwd, network, isTrial } = record;
  if (environment === undefined && cwd === undefined && network === undefined && !isTrial) return true;
  try {
    return await configureSandbox(ports, record, sandbox);
  } catch (error) {
    if (isAppError(error) && error.code === 'sandbox_unavailable') return false;
    throw error;
  }
};

/** Undefined when it does not answer. */
const statusOf = async (link: SandboxLink, sandbox: LiveSandbox, ask: Ask): Promise<number | undefined> => {
  try {
    const headers: Record<string, string> =
      ask.body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await link.fetch(sandbox, { ...ask, headers });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    if (isAppError(error) && error.code === 'sandbox_unavailable') return undefined;
    throw error;
  }
};

const restore = async (
  ports: SandboxDeps,
  { checkpoint, owner, sandbox: record }: Workspace,
  sandbox: LiveSandbox,
): Promise<Filled | 'not-mine'> => {
  const { workspaceId, generation } = sandbox;
  const at = ports.world.now();
  const until = at + restoreHoldMs;
  const claim = await ports.workspaces.claimRestore(workspaceId, generation, { at, until });
  if (claim === undefined) return 'not-mine';
  try {
    const manifest = checkpoint && refOf(checkpoint);
    const options = {
      ...(record?.isTrial ? {} : { owner }),
      claim,
      ...(manifest === undefined ? {} : { manifest }),
    };
    const outcome = await whileHeld(ports, { workspaceId, generation, claim }, () =>
      ports.archive.restore(sandbox, options),
    );
    ports.telemetry.duration('WorkspaceRestoreMs', ports.world.now() - at);
    const filled = filledBy(outcome, checkpoint?.savedAt);
    if (!isComplete(filled)) ports.telemetry.count('WorkspaceRestoresIncomplete');
    return { ...filled, claim };
  } catch (error) {
    await ports.workspaces.unclaimRestore(workspaceId, generation, claim);
    if (isAppError(error) && error.code === 'sandbox_unavailable') return 'not-mine';
    throw error;
  }
};

const filledBy = (outcome: RestoreOutcome, savedAt: number | undefined): Filled => {
  const { shared, sharedFailed } = outcome;
  const { files, missing } = shared ?? { files: 0, missing: [] };
  return {
    ...(savedAt === undefined ? {} : { restored: restoredBy(outcome, savedAt) }),
    ...(shared === undefined && sharedFailed === undefined
      ? {}
      : { shared: { files, missing, ...(sharedFailed === undefined ? {} : { failed: sharedFailed }) } }),
  };
};

const restoredBy = (outcome: RestoreOutcome, savedAt: number): Restored =>
  outcome.status === 'refused'
    ? { files: 0, savedAt, missing: [], refused: outcome.reason }
    : { files: outcome.files, savedAt, missing: outcome.missing };

const isComplete = ({ restored, shared }: Filled): boolean =>
  restored?.refused === undefined &&
  shared?.failed === undefined &&
  (restored?.missing.length ?? 0) + (shared?.missing.length ?? 0) === 0;

type Held = { readonly workspaceId: WorkspaceId; readonly generation: number; readonly claim: number };

/**
 * A claim to restore is renewed in short steps while the restore runs, so that the claim of a function that died is free for those
 * who wait long before they give up. A restore whose claim has passed to another is ended by the sandbox itself, and makes nothing ready (L2).
 */
export const whileHeld = async <T>(
  ports: Pick<SandboxDeps, 'workspaces' | 'world' | 'telemetry'>,
  { workspaceId, generation, claim }: Held,
  restore: () => Promise<T>,
): Promise<T> => {
  const { workspaces, world } = ports;
  const endsAt = world.now() + restoreMsMax;
  const held = renewUntilStopped(ports, {
    name: 'a claim to restore',
    everyMs: restoreRenewMs,
    renew: async () => {
      const until = Math.min(world.now() + restoreHoldMs, endsAt);
      return world.now() < endsAt && workspaces.renewRestore(workspaceId, generation, { claim, until });
    },
  });
  try {
    return await restore();
  } finally {
    // The caller changes the claim next: no renewal may come after that.
    await held.stop();
  }
};
