/**
 * Saves a workspace out of its sandbox: changed files go to the bucket, then the table names the new checkpoint.
 *
 * The table settles concurrent saves: the loser saves again on the winner's base, so that the caller's files are
 * in the checkpoint it learns of. A save that fails is reported and changes nothing. A shared volume that was not
 * saved is reported besides: the workspace is saved without it.
 */

import { type Checkpoint, checkpointEveryMs, type LeftOut } from '../../domain/checkpoint.ts';
import type { LiveSandbox, Workspace } from '../../domain/sandbox.ts';
import { isAppError } from '../../errors.ts';
import type { CheckpointNote } from '../../ports/turn-store.ts';
import type { SandboxLogLine, SaveOutcome } from '../../ports/workspace-archive.ts';
import type { StopDeps } from '../deps.ts';

/** `sharedFailed`: the reason for which the shared volume was not saved. */
export type SaveReport = { readonly sharedFailed?: string } & WorkspaceReport;
type WorkspaceReport =
  | { readonly status: 'saved'; readonly leftOut: readonly LeftOut[] }
  | { readonly status: 'failed'; readonly code: string; readonly message: string; readonly savedAt?: number };

const racesMax = 5;
const retryPauseMs = 1000;

type Taken = SaveReport & { readonly note?: CheckpointNote };

/** Takes a checkpoint over the one that `workspace` names; the caller's own write records it. */
export const takeCheckpoint = async (
  ports: StopDeps,
  sandbox: LiveSandbox,
  workspace: Workspace,
): Promise<Taken> => counted(ports, await tryCheckpoint(ports, sandbox, workspace));

const tryCheckpoint = async (ports: StopDeps, sandbox: LiveSandbox, workspace: Workspace): Promise<Taken> => {
  const startedAt = ports.world.now();
  const outcome = await trySave(ports, workspace, sandbox);
  const ofShared = sharedReport(ports, outcome);
  const savedAt = workspace.checkpoint?.savedAt;
  if (outcome.status === 'refused') return { ...failed({ ...outcome, savedAt }), ...ofShared };
  ports.telemetry.duration('WorkspaceSaveMs', ports.world.now() - startedAt);
  const logsSeen = await keepLines(ports, workspace.id, outcome.logs);
  if (outcome.status === 'unchanged') {
    if (logsSeen !== undefined)
      await ports.workspaces.recordLogsSeen(workspace.id, sandbox.generation, logsSeen);
    return { status: 'saved', leftOut: [], ...ofShared };
  }
  const checkpoint = checkpointOf(ports, outcome, sandbox.generation);
  const note = { workspaceId: workspace.id, checkpoint, base: { id: workspace.checkpoint?.id, logsSeen } };
  return { status: 'saved', leftOut: outcome.leftOut, note, ...ofShared };
};

const checkpointOf = (
  { world }: StopDeps,
  { manifest, files, bytes }: Extract<SaveOutcome, { status: 'saved' }>,
  generation: number,
): Checkpoint => ({ ...manifest, savedAt: world.now(), generation, files, bytes });

export type SaveRequest = {
  /** As it was read a moment ago; if another checkpoint was recorded since, it is read again. */
  readonly workspace?: Workspace;
  /** The number of attempts at a sandbox that cannot be reached. */
  readonly triesMax?: number;
};

export const saveWorkspace = async (
  ports: StopDeps,
  sandbox: LiveSandbox,
  { workspace, triesMax = 1 }: SaveRequest = {},
): Promise<SaveReport> => {
  let report = await saveBesideOthers(ports, sandbox, workspace);
  for (let tries = 1; tries < triesMax && isUnreachable(report); tries += 1) {
    await ports.world.sleep(retryPauseMs);
    report = await saveBesideOthers(ports, sandbox);
  }
  return counted(ports, report);
};

const isUnreachable = (report: SaveReport): boolean =>
  report.status === 'failed' && report.code === 'sandbox_unavailable';

const saveBesideOthers = async (
  ports: StopDeps,
  sandbox: LiveSandbox,
  known?: Workspace,
): Promise<SaveReport> => {
  let workspace = known;
  let savedAt: number | undefined;
  for (let race = 0; race < racesMax; race += 1) {
    workspace ??= await ports.workspaces.get(sandbox.workspaceId);
    savedAt = workspace?.checkpoint?.savedAt;
    if (workspace?.sandbox?.generation !== sandbox.generation)
      return failed({ code: 'sandbox_unavailable', message: 'the sandbox no longer exists', savedAt });
    const { note, ...report } = await tryCheckpoint(ports, sandbox, workspace);
    if (note === undefined || (await isNoted(ports, note))) return report;
    workspace = undefined;
  }
  return failed({ code: 'conflict', message: 'others saved at the same time', savedAt });
};

/** False when another checkpoint was recorded concurrently. */
const isNoted = ({ workspaces }: StopDeps, { workspaceId, checkpoint, base }: CheckpointNote) =>
  workspaces.recordCheckpoint(workspaceId, checkpoint, base);

const sharedReport = (
  { telemetry }: StopDeps,
  { sharedFailed }: SaveOutcome,
): { readonly sharedFailed?: string } => {
  if (sharedFailed === undefined) return {};
  telemetry.count('WorkspaceSavesFailed');
  telemetry.warn('a shared volume was not saved', { reason: sharedFailed });
  return { sharedFailed };
};

type Failure = { readonly code: string; readonly message: string; readonly savedAt?: number | undefined };

const failed = ({ code, message, savedAt }: Failure): WorkspaceReport => ({
  status: 'failed',
  code,
  message,
  ...(savedAt === undefined ? {} : { savedAt }),
});

/** A save that was tried several times counts as one failure. */
const counted = <T extends SaveReport>({ telemetry }: StopDeps, report: T): T => {
  if (report.status === 'failed') {
    telemetry.count('WorkspaceSavesFailed');
    telemetry.warn('a workspace was not saved', { code: report.code, reason: report.message });
  }
  return report;
};

const trySave = async (
  { archive, world }: StopDeps,
  { checkpoint, owner, sandbox: record }: Workspace,
  sandbox: LiveSandbox,
): Promise<SaveOutcome> => {
  const base = checkpoint && { id: checkpoint.id, sha256: checkpoint.sha256 };
  try {
    return await archive.save(sandbox, {
      id: world.uuid(),
      logsAfter: record?.logsSeen ?? 0,
      owner,
      ...(base === undefined ? {} : { base }),
    });
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { status: 'refused', code: error.code, message: error.message };
  }
};

/** The number of the last stored line; undefined when there was none. */
const keepLines = async (
  { sandboxLog }: StopDeps,
  id: Workspace['id'],
  lines: readonly SandboxLogLine[],
): Promise<number | undefined> => {
  if (lines.length === 0) return undefined;
  await sandboxLog.append(
    id,
    lines.map(({ at, stream, text }) => ({ at, stream, text })),
  );
  return lines.at(-1)?.number;
};

/** Saves periodically while something long runs in the sandbox; `stop` waits for a save under way. */
export const keepSaving = (ports: StopDeps, sandbox: LiveSandbox): { readonly stop: () => Promise<void> } => {
  const stopped = new AbortController();
  const saving = (async () => {
    for (;;) {
      await ports.world.sleep(checkpointEveryMs, stopped.signal);
      if (stopped.signal.aborted) return;
      await saveWorkspace(ports, sandbox);
    }
  })().catch((error: unknown) => ports.telemetry.warn('periodic saving ended', { error }));
  return {
    stop: () => {
      stopped.abort();
      return saving;
    },
  };
};
