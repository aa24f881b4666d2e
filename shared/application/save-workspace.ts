/**
 * Saves a workspace out of its sandbox: what changed goes to safe keeping, then the table names it.
 *
 * Two savers at once are settled by the table: who loses saves again on the winner's base, so that what the
 * caller has written is in the checkpoint it is told of. A save that fails is said and changes nothing. A
 * shared volume that was not saved is said besides: the workspace is saved without it.
 */
import { type Checkpoint, checkpointEveryMs, type LeftOut } from '../domain/checkpoint.ts';
import type { LiveSandbox, Workspace } from '../domain/sandbox.ts';
import { isAppError } from '../errors.ts';
import type { SandboxLog } from '../ports/sandbox-log.ts';
import type { CheckpointNote } from '../ports/session-store.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { SandboxLogLine, SaveOutcome, WorkspaceArchive } from '../ports/workspace-archive.ts';
import type { WorkspaceStore } from '../ports/workspace-store.ts';
import type { World } from '../ports/world.ts';

export type SavePorts = {
  readonly workspaces: WorkspaceStore;
  readonly archive: WorkspaceArchive;
  readonly sandboxLog: SandboxLog;
  readonly telemetry: Telemetry;
  readonly world: World;
};

/** `sharedFailed`: why the shared volume was not saved. */
export type SaveReport = { readonly sharedFailed?: string } & WorkspaceReport;
type WorkspaceReport =
  | { readonly status: 'saved'; readonly leftOut: readonly LeftOut[] }
  | { readonly status: 'failed'; readonly code: string; readonly message: string; readonly savedAt?: number };

const racesMax = 5;

/** Takes a checkpoint over the one that `workspace` names and leaves it to the caller's own write to note it. */
export const takeCheckpoint = async (
  ports: SavePorts,
  sandbox: LiveSandbox,
  workspace: Workspace,
): Promise<SaveReport & { readonly note?: CheckpointNote }> => {
  const startedAt = ports.world.now();
  const outcome = await trySave(ports, workspace, sandbox);
  const ofShared = sharedReport(ports, outcome);
  const savedAt = workspace.checkpoint?.savedAt;
  if (outcome.status === 'refused') return { ...failed(ports, { ...outcome, savedAt }), ...ofShared };
  ports.telemetry.duration('WorkspaceSaveMs', ports.world.now() - startedAt);
  const logsSeen = await keepLines(ports, workspace.id, outcome.logs);
  if (outcome.status === 'unchanged') {
    if (logsSeen !== undefined)
      await ports.workspaces.noteLogsSeen(workspace.id, sandbox.generation, logsSeen);
    return { status: 'saved', leftOut: [], ...ofShared };
  }
  const checkpoint = checkpointOf(ports, outcome, sandbox.generation);
  const note = { workspaceId: workspace.id, checkpoint, base: { id: workspace.checkpoint?.id, logsSeen } };
  return { status: 'saved', leftOut: outcome.leftOut, note, ...ofShared };
};

const checkpointOf = (
  { world }: SavePorts,
  { manifest, files, bytes }: Extract<SaveOutcome, { status: 'saved' }>,
  generation: number,
): Checkpoint => ({ ...manifest, savedAt: world.now(), generation, files, bytes });

export const saveWorkspace = async (ports: SavePorts, sandbox: LiveSandbox): Promise<SaveReport> => {
  const startedAt = ports.world.now();
  let savedAt: number | undefined;
  for (let race = 0; race < racesMax; race += 1) {
    const workspace = await ports.workspaces.get(sandbox.workspaceId);
    savedAt = workspace?.checkpoint?.savedAt;
    if (workspace?.sandbox?.generation !== sandbox.generation)
      return failed(ports, { code: 'sandbox_unavailable', message: 'the sandbox is gone', savedAt });
    const outcome = await trySave(ports, workspace, sandbox);
    const ofShared = sharedReport(ports, outcome);
    if (outcome.status === 'refused') return { ...failed(ports, { ...outcome, savedAt }), ...ofShared };
    if (await isNoted(ports, workspace, outcome)) {
      ports.telemetry.duration('WorkspaceSaveMs', ports.world.now() - startedAt);
      return { status: 'saved', leftOut: outcome.status === 'saved' ? outcome.leftOut : [], ...ofShared };
    }
  }
  return failed(ports, { code: 'conflict', message: 'others saved at the same time', savedAt });
};

const sharedReport = (
  { telemetry }: SavePorts,
  { sharedFailed }: SaveOutcome,
): { readonly sharedFailed?: string } => {
  if (sharedFailed === undefined) return {};
  telemetry.count('WorkspaceSavesFailed');
  telemetry.warn('a shared volume was not saved', { reason: sharedFailed });
  return { sharedFailed };
};

type Failure = { readonly code: string; readonly message: string; readonly savedAt?: number | undefined };

const failed = ({ telemetry }: SavePorts, { code, message, savedAt }: Failure): SaveReport => {
  telemetry.count('WorkspaceSavesFailed');
  telemetry.warn('a workspace was not saved', { code, reason: message });
  return { status: 'failed', code, message, ...(savedAt === undefined ? {} : { savedAt }) };
};

const trySave = async (
  { archive, world }: SavePorts,
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

/** False when another checkpoint was noted meanwhile. */
const isNoted = async (
  ports: SavePorts,
  { id, checkpoint, sandbox }: Workspace,
  outcome: Exclude<SaveOutcome, { status: 'refused' }>,
): Promise<boolean> => {
  const generation = sandbox?.generation ?? 0;
  const logsSeen = await keepLines(ports, id, outcome.logs);
  if (outcome.status === 'unchanged') {
    if (logsSeen !== undefined) await ports.workspaces.noteLogsSeen(id, generation, logsSeen);
    return true;
  }
  const next = checkpointOf(ports, outcome, generation);
  return ports.workspaces.noteCheckpoint(id, next, { id: checkpoint?.id, logsSeen });
};

/** The number of the last line kept; undefined when there was none. */
const keepLines = async (
  { sandboxLog }: SavePorts,
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

/** Saves now and then while something long runs in the sandbox; `stop` waits for a save under way. */
export const keepSaving = (
  ports: SavePorts,
  sandbox: LiveSandbox,
): { readonly stop: () => Promise<void> } => {
  const stopped = new AbortController();
  const saving = (async () => {
    for (;;) {
      await ports.world.sleep(checkpointEveryMs, stopped.signal);
      if (stopped.signal.aborted) return;
      await saveWorkspace(ports, sandbox);
    }
  })().catch((error: unknown) => ports.telemetry.warn('saving now and then ended', { error }));
  return {
    stop: () => {
      stopped.abort();
      return saving;
    },
  };
};
