/**
 * Workspaces and their sandboxes. Every write is conditional on the sandbox's generation, so that the table
 * refuses writes of older sandboxes.
 */
import type { AuditRow } from '../domain/audit.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import type { Network } from '../domain/egress-policy.ts';
import type { ProjectId, SessionId, WorkspaceId } from '../domain/ids.ts';
import type { KeptCheckpoints } from '../domain/kept-checkpoints.ts';
import type { Losses } from '../domain/losses.ts';
import type { SandboxRecord, Workspace } from '../domain/sandbox.ts';
import type { Payers } from '../domain/sandbox-meter.ts';
import type { Session } from '../domain/session.ts';
import type { Slot } from '../domain/slot.ts';
import type { FilesSource } from '../domain/snapshot.ts';
import type { PinStore } from './pins.ts';
import type { RemainsStore } from './remains.ts';

/** The public name of a sandbox: its workspace, and its generation there. */
export type SandboxName = { readonly workspaceId: WorkspaceId; readonly generation: number };

/** The slot of the session that starts it, as its caller knows it, and the limit of its counter; and the slices that pay for its time. */
export type SlotClaim = {
  readonly known: Slot;
  readonly slotsMax: number;
  readonly payers?: Payers | undefined;
};
/** `spent`: a slice that pays has no time of sandboxes left. */
export type Claimed = 'claimed' | 'lost' | 'full' | 'spent';

/** The checkpoint before, and what the write of the next one records besides. */
export type CheckpointBase = {
  readonly id?: string | undefined;
  readonly logsSeen?: number | undefined;
  /** The earlier checkpoints that are kept from then on; absent: as before. */
  readonly kept?: KeptCheckpoints | undefined;
};

export interface WorkspaceStore extends PinStore, RemainsStore {
  /** No effect when it exists. */
  create(workspace: Workspace): Promise<void>;
  /** Creates a named one and lists it with its project; false when the id is taken. */
  makeNamed(workspace: Workspace): Promise<boolean>;
  /** The named workspaces of a project, oldest first. `after` is the previous page's `next`. */
  listNamed(
    project: ProjectId,
    page: { readonly after?: string; readonly itemsMax: number },
  ): Promise<{ readonly workspaces: readonly Workspace[]; readonly next?: string }>;
  /**
   * Takes a named one off its list and closes it to sessions; undefined while it has users, or when it is not
   * named. Its remains are due soon after, for what the caller leaves of the deletion.
   */
  markDeleted(workspace: Workspace, at: number, audits: readonly AuditRow[]): Promise<Workspace | undefined>;
  get(id: WorkspaceId): Promise<Workspace | undefined>;
  /** As `SessionStore.getMany`. */
  getMany(
    ids: readonly WorkspaceId[],
    onUnreadable?: (error: unknown, id: WorkspaceId) => void,
  ): Promise<readonly Workspace[]>;
  /** The workspace after the session left; undefined when it does not exist, or the session has not ended. */
  leave(id: WorkspaceId, session: SessionId): Promise<Workspace | undefined>;
  /**
   * `claimed` for exactly one caller per generation, which then calls ECS; `lost` also where no session uses it. With the
   * slot that the record names: `full` when none is free.
   */
  claimStart(id: WorkspaceId, sandbox: SandboxRecord, slot?: SlotClaim): Promise<Claimed>;
  /** Moves the ready sandbox of a pool entry to the workspace, as its `generation`; `lost` when either has changed. */
  claimWarm(
    id: WorkspaceId,
    entry: Workspace,
    claim: {
      readonly generation: number;
      readonly at: number;
      readonly sandbox: SandboxRecord;
      readonly slot?: SlotClaim | undefined;
    },
  ): Promise<Claimed>;
  /** The workspace that claimed a pool entry's generation. */
  claimantOf(warm: SandboxName): Promise<SandboxName | undefined>;
  /** False when it has another task, or has ended. */
  recordTask(id: WorkspaceId, generation: number, taskArn: string): Promise<boolean>;
  /** Records the address of its running task; false when it has another task, has passed or is beyond starting. */
  recordAddress(
    id: WorkspaceId,
    generation: number,
    task: { readonly taskArn: string; readonly address: string },
  ): Promise<boolean>;
  /** The number of the claim, from 1, for the one caller that may restore the workspace now, until then. */
  claimRestore(
    id: WorkspaceId,
    generation: number,
    claim: { readonly at: number; readonly until: number },
  ): Promise<number | undefined>;
  /** Extends the claim until then; false when a later one replaced it, or the sandbox is beyond starting. */
  renewRestore(
    id: WorkspaceId,
    generation: number,
    renewed: { readonly claim: number; readonly until: number },
  ): Promise<boolean>;
  /** Releases the claim, if it is the last: another caller may restore. */
  unclaimRestore(id: WorkspaceId, generation: number, claim: number): Promise<void>;
  /** True for exactly one caller: that one informs the sessions. After a restore, only for the one with the last claim. */
  markReady(
    id: WorkspaceId,
    generation: number,
    ready: {
      readonly at: number;
      readonly claim?: number | undefined;
      /** It is due so long after that; absent: at the end of its lifetime, or for a look. */
      readonly lookMs?: number | undefined;
      /** The losses of its start, kept for all who use the workspace now. */
      readonly losses?: Losses | undefined;
    },
  ): Promise<boolean>;
  /** The session was told what the start of that generation lost; it stays untold of what a later one lost. */
  recordLossNotice(id: WorkspaceId, session: SessionId, generation: number): Promise<void>;
  /** First phase of a stop, which releases its slot; the workspace when it was not stopped yet. */
  markStopping(
    id: WorkspaceId,
    generation: number,
    stop: {
      readonly reason: string;
      readonly at: number;
      readonly dueAt: number;
      /** The slot that it held when it was read; a wrong one costs a further request. */
      readonly slot?: SandboxRecord['slot'];
      /** Only one that is still starting and not being restored, that no session uses, or that has this lifetime: undefined for any other. */
      readonly only?: 'starting' | 'unused' | { readonly lifetimeMs: number };
    },
  ): Promise<Workspace | undefined>;
  /** True for the one caller that may make the last save now, until then; false once the stop is recorded. */
  claimLastSave(
    id: WorkspaceId,
    generation: number,
    claim: { readonly at: number; readonly until: number },
  ): Promise<boolean>;
  /** Releases the claim until then, and no later one: another caller may save. */
  unclaimLastSave(id: WorkspaceId, generation: number, until: number): Promise<void>;
  /** Records that ECS is about to be asked for the stop, and whether the last save failed; repeated, it changes nothing. */
  recordStopRequest(
    id: WorkspaceId,
    generation: number,
    stop: { readonly at: number; readonly isUnsaved?: true },
  ): Promise<void>;
  /** Removes that record of that time, since ECS has refused: its last save can be claimed again. */
  withdrawStopRequest(id: WorkspaceId, generation: number, at: number): Promise<void>;
  /** Marks a ready sandbox as checked for activity, in place of an earlier check; undefined when it is not ready. */
  markIdleCheck(id: WorkspaceId, generation: number, check: string): Promise<Workspace | undefined>;
  /** Removes the mark, for a caller that uses it; false when it is not ready any more. */
  endIdleCheck(id: WorkspaceId, generation: number): Promise<boolean>;
  /**
   * As `markStopping`, if no session entered since and none that was read changed: undefined otherwise. A mark of the workspace
   * that was read must still be there; with more than `idleCheckUsersMax` sessions in place of the second condition, else its
   * execution sessions are paused in the same write.
   */
  markIdle(
    workspace: Workspace,
    sessions: readonly Session[],
    stop: {
      readonly reason: string;
      readonly at: number;
      readonly dueAt: number;
      /** The end of a paused session's time. */
      readonly pausedUntil: (session: Session) => number;
    },
  ): Promise<Workspace | undefined>;
  /**
   * Second phase, when ECS confirms it, or a failed start; the workspace when this caller ended it. The slices that pay for its time count
   * it in the same write.
   */
  markStopped(
    id: WorkspaceId,
    generation: number,
    stop: {
      readonly reason: string;
      readonly at: number;
      /** Its sessions are to be told: at this time by the janitor, if the caller did not. */
      readonly tellAt?: number;
      /** Only one whose task is not recorded, so that there is none to stop: undefined for any other. */
      readonly only?: 'unplaced';
    },
  ): Promise<Workspace | undefined>;
  /** Its sessions were told of its end. */
  recordTold(id: WorkspaceId, generation: number): Promise<void>;
  /**
   * Records the checkpoint that follows `base`; false when another was recorded concurrently, or the sandbox has
   * passed.
   */
  recordCheckpoint(id: WorkspaceId, checkpoint: Checkpoint, base: CheckpointBase): Promise<boolean>;
  /**
   * The workspace has this checkpoint from now on, and its sandbox is marked as stopping: what runs in it is not saved
   * any more. Undefined when a session, the sandbox or the checkpoint changed since it was read, or the source is
   * deleted.
   */
  restoreTo(
    workspace: Workspace,
    sessions: readonly Session[],
    change: {
      readonly checkpoint: Checkpoint;
      readonly source: FilesSource;
      readonly reason: string;
      readonly at: number;
      readonly dueAt: number;
      readonly audits: readonly AuditRow[];
    },
  ): Promise<Workspace | undefined>;
  /** Records the number of the sandbox's own log lines that are stored. */
  recordLogsSeen(id: WorkspaceId, generation: number, logsSeen: number): Promise<void>;
  /** Changes the lifetime of a sandbox that starts or runs; undefined removes it. False when it has passed. */
  setLifetime(
    id: WorkspaceId,
    generation: number,
    lifetime: { readonly lifetimeMs: number | undefined; readonly dueAt: number },
  ): Promise<boolean>;
  /** Changes the network of a sandbox that starts or runs; undefined removes it. False when it has passed. */
  setNetwork(id: WorkspaceId, generation: number, network: Network | undefined): Promise<boolean>;
  /** Records that processes run in it, from then on to its end; false when the sandbox is not ready. */
  recordProcesses(id: WorkspaceId, generation: number): Promise<boolean>;
  /** Leases a preview port; returns the leased ports, undefined when the sandbox is not ready. */
  leasePort(id: WorkspaceId, generation: number, port: number): Promise<readonly number[] | undefined>;
  /** Workspaces that are due: a start or a stop that takes too long. As `due` of sessions. */
  due(now: number, itemsMax: number, onUnreadable?: (error: unknown) => void): Promise<readonly Workspace[]>;
  /** Moves the next check; false when the sandbox changed concurrently. */
  postpone(workspace: Workspace, dueAt: number): Promise<boolean>;
  /** Every workspace that has a sandbox and can be decoded, page by page. */
  live(onUnreadable?: (error: unknown) => void): AsyncIterable<readonly Workspace[]>;
}
