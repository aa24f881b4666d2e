/**
 * Workspaces and their sandboxes. Every write is conditional on the sandbox's generation, so that the table
 * refuses writes of older sandboxes.
 */
import type { Checkpoint } from '../domain/checkpoint.ts';
import type { ProjectId, SessionId, WorkspaceId } from '../domain/ids.ts';
import type { SandboxRecord, Workspace } from '../domain/sandbox.ts';
import type { Session } from '../domain/session.ts';

/** The public name of a sandbox: its workspace, and its generation there. */
export type SandboxName = { readonly workspaceId: WorkspaceId; readonly generation: number };

export interface WorkspaceStore {
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
   * named.
   */
  markDeleted(workspace: Workspace, at: number): Promise<Workspace | undefined>;
  get(id: WorkspaceId): Promise<Workspace | undefined>;
  /** Many at once; those that do not exist are left out. */
  getMany(ids: readonly WorkspaceId[]): Promise<readonly Workspace[]>;
  /** The workspace after the session left. */
  leave(id: WorkspaceId, session: SessionId): Promise<Workspace | undefined>;
  /** Deletes it, unless it has users or a sandbox, or is named and not marked as deleted. */
  remove(id: WorkspaceId): Promise<boolean>;
  /** True for exactly one caller per generation, which then calls ECS; false where no session uses it. */
  claimStart(id: WorkspaceId, sandbox: SandboxRecord): Promise<boolean>;
  /** Moves the ready sandbox of a pool entry to the workspace, as its `generation`; false when either has changed. */
  claimWarm(
    id: WorkspaceId,
    entry: Workspace,
    claim: { readonly generation: number; readonly at: number; readonly sandbox: SandboxRecord },
  ): Promise<boolean>;
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
  /** True for the one caller that may restore the workspace now, until then. */
  claimRestore(
    id: WorkspaceId,
    generation: number,
    claim: { readonly at: number; readonly until: number },
  ): Promise<boolean>;
  /** Releases the claim: another caller may restore. */
  unclaimRestore(id: WorkspaceId, generation: number): Promise<void>;
  /** True for exactly one caller: that one informs the sessions. */
  markReady(id: WorkspaceId, generation: number, at: number): Promise<boolean>;
  /** First phase of a stop; the workspace when it was not stopped yet. */
  markStopping(
    id: WorkspaceId,
    generation: number,
    stop: {
      readonly reason: string;
      readonly at: number;
      readonly dueAt: number;
      /** Only one that is still starting and not being restored, or that no session uses: undefined for any other. */
      readonly only?: 'starting' | 'unused';
    },
  ): Promise<Workspace | undefined>;
  /** True for the one caller that may make the last save now, until then; false once the stop was requested. */
  claimLastSave(
    id: WorkspaceId,
    generation: number,
    claim: { readonly at: number; readonly until: number },
  ): Promise<boolean>;
  /** Releases the claim: another caller may save. */
  unclaimLastSave(id: WorkspaceId, generation: number): Promise<void>;
  /** Records that ECS has accepted the stop. */
  recordStopRequest(id: WorkspaceId, generation: number, at: number): Promise<void>;
  /** As `markStopping`, if none of its sessions changed since they were read, and none entered: undefined otherwise. */
  markIdle(
    workspace: Workspace,
    sessions: readonly Session[],
    stop: { readonly reason: string; readonly at: number; readonly dueAt: number },
  ): Promise<Workspace | undefined>;
  /** Second phase, when ECS confirms it, or a failed start; the workspace when this caller ended it. */
  markStopped(
    id: WorkspaceId,
    generation: number,
    stop: { readonly reason: string; readonly at: number },
  ): Promise<Workspace | undefined>;
  /**
   * Records the checkpoint that follows `base`; false when another was recorded concurrently, or the sandbox has
   * passed.
   */
  recordCheckpoint(
    id: WorkspaceId,
    checkpoint: Checkpoint,
    base: { readonly id?: string | undefined; readonly logsSeen?: number | undefined },
  ): Promise<boolean>;
  /** Records the number of the sandbox's own log lines that are stored. */
  recordLogsSeen(id: WorkspaceId, generation: number, logsSeen: number): Promise<void>;
  /** Leases a preview port; returns the leased ports, undefined when the sandbox is not ready. */
  leasePort(id: WorkspaceId, generation: number, port: number): Promise<readonly number[] | undefined>;
  /** Workspaces that are due: a start or a stop that takes too long. As `due` of sessions. */
  due(now: number, itemsMax: number, onUnreadable?: (error: unknown) => void): Promise<readonly Workspace[]>;
  /** Moves the next check; false when the sandbox changed concurrently. */
  postpone(workspace: Workspace, dueAt: number): Promise<boolean>;
  /** Every workspace that has a sandbox and can be decoded, page by page. */
  live(onUnreadable?: (error: unknown) => void): AsyncIterable<readonly Workspace[]>;
}
