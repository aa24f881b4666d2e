/**
 * Saves a workspace from its sandbox: changed files go to the bucket, then the table names the new checkpoint.
 *
 * The table settles concurrent saves: the loser saves again on top of the winner's checkpoint, so that the caller's files are
 * in the checkpoint that it learns of. A failed save is reported and changes nothing. If a shared volume was not saved, that is
 * reported too, and the workspace is saved without it.
 */

import {
  type Checkpoint,
  checkpointEveryMs,
  filesIdOf,
  type LeftOut,
  refOf,
} from '../../domain/checkpoint.ts';
import type { TurnId } from '../../domain/ids.ts';
import { keptAfter } from '../../domain/kept-checkpoints.ts';
import type { LiveSandbox, Workspace } from '../../domain/sandbox.ts';
import { isAppError } from '../../errors.ts';
import type { CheckpointNote } from '../../ports/turn-store.ts';
import type { SandboxLogLine, SaveOutcome } from '../../ports/workspace-archive.ts';
import type { Deps, StopDeps } from '../deps.ts';
import { renewUntilStopped } from '../renew-until-stopped.ts';
import { raceLost, untilWon } from '../write-race.ts';
import { obsoleteObjects } from './held-objects.ts';
import { logLineOf } from './log-line.ts';

/** `sharedFailed`: the reason for which the shared volume was not saved. */
export type SaveReport = { readonly sharedFailed?: string } & WorkspaceReport;
type WorkspaceReport =
  | { readonly status: 'saved'; readonly leftOut: readonly LeftOut[] }
  | {
      readonly status: 'failed';
      readonly code: string;
      readonly message: string;
      readonly savedAt?: number;
      /** Its users brought it about and are told; an operator can do nothing. */
      readonly isUsers?: true;
    };

const retryPauseMs = 1000;

type Taken = SaveReport & { readonly note?: CheckpointNote };

/** Takes a checkpoint over the one that `workspace` names; the caller's own write records it. */
export const takeCheckpoint = async (ports: StopDeps, sandbox: LiveSandbox, base: Base): Promise<Taken> =>
  counted(ports, await tryCheckpoint(ports, sandbox, base));

/** The workspace as it was read, and the turn that saves it. */
type Base = { readonly workspace: Workspace; readonly turn?: TurnId | undefined };

const tryCheckpoint = async (
  ports: StopDeps,
  sandbox: LiveSandbox,
  { workspace, turn }: Base,
): Promise<Taken> => {
  const startedAt = ports.world.now();
  const outcome = await trySave(ports, workspace, sandbox);
  const ofShared = sharedReport(ports, outcome);
  const savedAt = workspace.checkpoint?.savedAt;
  if (outcome.status === 'refused') {
    const isUsers = outcome.code === 'resource_limit_exceeded';
    return { ...failed({ ...outcome, savedAt, isUsers }), ...ofShared };
  }
  ports.telemetry.duration('WorkspaceSaveMs', ports.world.now() - startedAt);
  const logsSeen = await keepLines(ports, sandbox, outcome.logs);
  if (outcome.status === 'unchanged') {
    if (logsSeen !== undefined)
      await ports.workspaces.recordLogsSeen(workspace.id, sandbox.generation, logsSeen);
    return { status: 'saved', leftOut: outcome.leftOut, ...ofShared };
  }
  const checkpoint = {
    ...checkpointOf(outcome, { generation: sandbox.generation, savedAt: startedAt }),
    ...(turn === undefined ? {} : { turn }),
    ...(outcome.hasSameFiles && workspace.checkpoint ? { sameAs: filesIdOf(workspace.checkpoint) } : {}),
  };
  const kept = keptAfter(workspace, { turn, at: checkpoint.savedAt });
  const base = { id: workspace.checkpoint?.id, logsSeen, kept };
  const note = { workspaceId: workspace.id, checkpoint, base };
  return { status: 'saved', leftOut: outcome.leftOut, note, ...ofShared };
};

/** A write during a save may not be in it: its time is that at which it began. */
const checkpointOf = (
  { manifest, files, bytes, packs }: Extract<SaveOutcome, { status: 'saved' }>,
  taken: Pick<Checkpoint, 'generation' | 'savedAt'>,
): Checkpoint => ({ ...manifest, ...taken, files, bytes, packs });

export type SaveRequest = {
  /** As it was read a moment ago; if another checkpoint was recorded since, it is read again. */
  readonly workspace?: Workspace;
  /** The number of attempts at a sandbox that cannot be reached. */
  readonly triesMax?: number;
  readonly turn?: TurnId | undefined;
};

/** As a caller read it before its work; after long work the checkpoint may have been replaced. */
const readBefore = (
  { world }: Deps<'world'>,
  workspace: Workspace,
  readAt: number,
): Pick<SaveRequest, 'workspace'> => (world.now() - readAt < checkpointEveryMs ? { workspace } : {});

export const saveWorkspace = async (
  ports: StopDeps,
  sandbox: LiveSandbox,
  { workspace, turn, triesMax = 1 }: SaveRequest = {},
): Promise<SaveReport> => {
  let report = await saveBesideOthers(ports, sandbox, { workspace, turn });
  for (let tries = 1; tries < triesMax && isUnreachable(report); tries += 1) {
    await ports.world.sleep(retryPauseMs);
    report = await saveBesideOthers(ports, sandbox, { turn });
  }
  return counted(ports, report);
};

const isUnreachable = (report: SaveReport): boolean =>
  report.status === 'failed' && report.code === 'sandbox_unavailable';

/** The checkpoint to ask a sandbox about with a call: absent where a save has more to do than to look at the workspace. */
export const savedAs = (
  { archive }: Pick<StopDeps, 'archive'>,
  { checkpoint }: Workspace,
): { readonly savedAs?: string } =>
  checkpoint === undefined || archive.keepsShared ? {} : { savedAs: checkpoint.id };

type Called = {
  readonly sandbox: LiveSandbox;
  /** As it was read before the call. */
  readonly workspace: Workspace;
  readonly startedAt: number;
  /** As the sandbox said with its answer to `savedAs`: the number of its newest line. */
  readonly asSaved?: number | undefined;
};

/** Saves after a call, unless nothing has changed and no line is new. */
export const saveAfter = async (
  ports: StopDeps,
  { sandbox, workspace, startedAt, asSaved }: Called,
): Promise<SaveReport> => {
  const read = readBefore(ports, workspace, startedAt);
  const isSaved = asSaved !== undefined && asSaved <= (workspace.sandbox?.logsSeen ?? 0);
  return isSaved && read.workspace !== undefined
    ? { status: 'saved', leftOut: [] }
    : saveWorkspace(ports, sandbox, read);
};

const saveBesideOthers = async (
  ports: StopDeps,
  sandbox: LiveSandbox,
  { workspace: known, turn }: { readonly workspace?: Workspace | undefined; readonly turn: Base['turn'] },
): Promise<SaveReport> => {
  let savedAt: number | undefined;
  return untilWon<SaveReport>(
    async (race) => {
      const workspace = (race === 0 ? known : undefined) ?? (await ports.workspaces.get(sandbox.workspaceId));
      savedAt = workspace?.checkpoint?.savedAt;
      if (workspace?.sandbox?.generation !== sandbox.generation)
        return failed({
          code: 'sandbox_unavailable',
          message: 'the sandbox no longer exists',
          savedAt,
          isUsers: true,
        });
      if (workspace.sandbox.isDiscarded)
        return failed({
          code: 'conflict',
          message: 'a snapshot was restored into the workspace',
          savedAt,
          isUsers: true,
        });
      const { note, ...report } = await tryCheckpoint(ports, sandbox, { workspace, turn });
      return note === undefined || (await isNoted(ports, note)) ? report : raceLost;
    },
    () => failed({ code: 'conflict', message: 'other saves ran at the same time', savedAt }),
  );
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

type Failure = {
  readonly code: string;
  readonly message: string;
  readonly savedAt?: number | undefined;
  readonly isUsers?: boolean;
};

const failed = ({ code, message, savedAt, isUsers = false }: Failure): WorkspaceReport => ({
  status: 'failed',
  code,
  message,
  ...(savedAt === undefined ? {} : { savedAt }),
  ...(isUsers ? { isUsers } : {}),
});

/** A save that was tried several times counts as one failure, and one that its users brought about as none. */
const counted = <T extends SaveReport>({ telemetry }: StopDeps, report: T): T => {
  if (report.status === 'failed') {
    if (report.isUsers !== true) telemetry.count('WorkspaceSavesFailed');
    telemetry.warn('a workspace was not saved', { code: report.code, reason: report.message });
  }
  return report;
};

const trySave = async (ports: StopDeps, workspace: Workspace, sandbox: LiveSandbox): Promise<SaveOutcome> => {
  const { archive, world } = ports;
  const { checkpoint, owner, sandbox: record } = workspace;
  const obsolete = await obsoleteObjects(ports, workspace);
  const base = checkpoint && refOf(checkpoint);
  try {
    return await archive.save(sandbox, {
      id: world.uuid(),
      logsAfter: record?.logsSeen ?? 0,
      ...(record?.isTrial ? {} : { owner }),
      ...(base === undefined ? {} : { base }),
      ...(obsolete === undefined ? {} : { obsolete }),
    });
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { status: 'refused', code: error.code, message: error.message };
  }
};

/** The number of the last stored line; undefined when there was none. */
const keepLines = async (
  { sandboxLog }: StopDeps,
  { workspaceId, generation }: LiveSandbox,
  lines: readonly SandboxLogLine[],
): Promise<number | undefined> => {
  if (lines.length === 0) return undefined;
  await sandboxLog.append(
    workspaceId,
    lines.map((line) => logLineOf(generation, line)),
  );
  return lines.at(-1)?.number;
};

/** Saves periodically while something long runs in the sandbox; `stop` waits for a save under way. */
export const keepSaving = (
  ports: StopDeps,
  sandbox: LiveSandbox,
  turn?: TurnId,
): { readonly stop: () => Promise<void> } =>
  renewUntilStopped(ports, {
    name: 'a checkpoint',
    everyMs: checkpointEveryMs,
    renew: async () => {
      await saveWorkspace(ports, sandbox, { turn });
      return true;
    },
  });
