/**
 * Workspaces and the sandbox each one has. Every write is conditional on the sandbox's generation, so that
 * whoever speaks of an older sandbox is refused by the table.
 */
import type { SessionId, WorkspaceId } from '../domain/ids.ts';
import type { SandboxRecord, Workspace } from '../domain/sandbox.ts';

export interface WorkspaceStore {
  /** Does nothing when it exists. */
  create(workspace: Workspace): Promise<void>;
  get(id: WorkspaceId): Promise<Workspace | undefined>;
  join(id: WorkspaceId, session: SessionId): Promise<void>;
  /** Who is left after it. */
  leave(id: WorkspaceId, session: SessionId): Promise<Workspace | undefined>;
  /** True for exactly one caller per generation: the one who asks ECS for the task. */
  claimStart(id: WorkspaceId, sandbox: SandboxRecord): Promise<boolean>;
  noteTask(id: WorkspaceId, generation: number, taskArn: string): Promise<boolean>;
  /** The task runs at this address; false when the generation has passed or the sandbox is beyond starting. */
  noteAddress(id: WorkspaceId, generation: number, address: string): Promise<boolean>;
  /** True for exactly one caller: the one who tells the sessions. */
  markReady(id: WorkspaceId, generation: number, at: number): Promise<boolean>;
  /** First phase of a stop; the workspace when this caller began it. */
  markStopping(id: WorkspaceId, generation: number, at: number): Promise<Workspace | undefined>;
  /** Second phase, when ECS says so, or a failed start; the workspace when this caller ended it. */
  markStopped(
    id: WorkspaceId,
    generation: number,
    stop: { readonly reason: string; readonly at: number },
  ): Promise<Workspace | undefined>;
  /** Workspaces whose moment has come: a start or a stop that takes too long. */
  due(now: number, itemsMax: number): Promise<readonly Workspace[]>;
}
