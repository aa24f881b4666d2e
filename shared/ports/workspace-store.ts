/**
 * Workspaces and the sandbox each one has. Every write is conditional on the sandbox's generation, so that
 * whoever speaks of an older sandbox is refused by the table.
 */
import type { Checkpoint } from '../domain/checkpoint.ts';
import type { ProjectId, SessionId, WorkspaceId } from '../domain/ids.ts';
import type { SandboxRecord, Workspace } from '../domain/sandbox.ts';
import type { Session } from '../domain/session.ts';

/** A sandbox as it is named from outside: of which workspace, and which of its generations. */
export type SandboxName = { readonly workspaceId: WorkspaceId; readonly generation: number };

export interface WorkspaceStore {
  /** Does nothing when it exists. */
  create(workspace: Workspace): Promise<void>;
  /** Makes a named one and lists it with its project; false when the id is taken. */
  makeNamed(workspace: Workspace): Promise<boolean>;
  /** The named ones of a project, oldest first. `after` is what the previous page gave as `next`. */
  listNamed(
    project: ProjectId,
    page: { readonly after?: string; readonly itemsMax: number },
  ): Promise<{ readonly workspaces: readonly Workspace[]; readonly next?: string }>;
  /** Takes a named one off its list and closes it to everybody; undefined while it has users, or when it is not named. */
  markDeleted(workspace: Workspace, at: number): Promise<Workspace | undefined>;
  get(id: WorkspaceId): Promise<Workspace | undefined>;
  /** Many at once; those that do not exist are left out. */
  getMany(ids: readonly WorkspaceId[]): Promise<readonly Workspace[]>;
  /** Who is left after it. */
  leave(id: WorkspaceId, session: SessionId): Promise<Workspace | undefined>;
  /** Deletes it, unless it has users or a sandbox, or is named and not marked as deleted. */
  remove(id: WorkspaceId): Promise<boolean>;
  /** True for exactly one caller per generation, the one who asks ECS for the task; false where no session uses it. */
  claimStart(id: WorkspaceId, sandbox: SandboxRecord): Promise<boolean>;
  /** Moves the ready sandbox of a pool entry to the workspace, as its `generation`; false when either has moved on. */
  claimWarm(
    id: WorkspaceId,
    entry: Workspace,
    claim: { readonly generation: number; readonly at: number; readonly sandbox: SandboxRecord },
  ): Promise<boolean>;
  /** Who claimed a pool entry's generation. */
  claimantOf(warm: SandboxName): Promise<SandboxName | undefined>;
  /** False when it has another task, or is over. */
  recordTask(id: WorkspaceId, generation: number, taskArn: string): Promise<boolean>;
  /** Its task runs at this address; false when it has another task, has passed or is beyond starting. */
  recordAddress(
    id: WorkspaceId,
    generation: number,
    task: { readonly taskArn: string; readonly address: string },
  ): Promise<boolean>;
  /** True for the one caller who may restore the workspace now, until then. */
  claimRestore(
    id: WorkspaceId,
    generation: number,
    claim: { readonly at: number; readonly until: number },
  ): Promise<boolean>;
  /** Gives the claim back: somebody else may restore. */
  unclaimRestore(id: WorkspaceId, generation: number): Promise<void>;
  /** True for exactly one caller: the one who tells the sessions. */
  markReady(id: WorkspaceId, generation: number, at: number): Promise<boolean>;
  /** First phase of a stop; the workspace when it was not stopped yet. */
  markStopping(
    id: WorkspaceId,
    generation: number,
    stop: {
      readonly reason: string;
      readonly at: number;
      readonly dueAt: number;
      /** One that still starts and into which nobody restores now: undefined for any other. */
      readonly only?: 'starting';
    },
  ): Promise<Workspace | undefined>;
  /** True for the one caller who may save it for the last time now, until then; false once the stop was asked. */
  claimLastSave(
    id: WorkspaceId,
    generation: number,
    claim: { readonly at: number; readonly until: number },
  ): Promise<boolean>;
  /** Gives the claim back: somebody else may save. */
  unclaimLastSave(id: WorkspaceId, generation: number): Promise<void>;
  /** ECS has taken the stop. */
  recordStopRequest(id: WorkspaceId, generation: number, at: number): Promise<void>;
  /** As `markStopping`, if none of its sessions moved since they were read: undefined when one did. */
  markIdle(
    workspace: Workspace,
    sessions: readonly Session[],
    stop: { readonly reason: string; readonly at: number; readonly dueAt: number },
  ): Promise<Workspace | undefined>;
  /** Second phase, when ECS says so, or a failed start; the workspace when this caller ended it. */
  markStopped(
    id: WorkspaceId,
    generation: number,
    stop: { readonly reason: string; readonly at: number },
  ): Promise<Workspace | undefined>;
  /** The checkpoint that follows `base`; false when another was noted meanwhile, or the sandbox has passed. */
  recordCheckpoint(
    id: WorkspaceId,
    checkpoint: Checkpoint,
    base: { readonly id?: string | undefined; readonly logsSeen?: number | undefined },
  ): Promise<boolean>;
  /** That many lines of the sandbox's own log are kept. */
  recordLogsSeen(id: WorkspaceId, generation: number, logsSeen: number): Promise<void>;
  /** Leases a preview port; the ports that are leased then, undefined when the sandbox is not ready. */
  leasePort(id: WorkspaceId, generation: number, port: number): Promise<readonly number[] | undefined>;
  /** Workspaces whose moment has come: a start or a stop that takes too long. */
  due(now: number, itemsMax: number): Promise<readonly Workspace[]>;
  /** Moves the next look; false when the sandbox changed meanwhile. */
  postpone(workspace: Workspace, dueAt: number): Promise<boolean>;
  /** Every workspace that has a sandbox, page by page. */
  live(): AsyncIterable<readonly Workspace[]>;
}
