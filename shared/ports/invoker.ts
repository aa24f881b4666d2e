/** Asynchronous invocations of other functions: at least once, possibly late, possibly twice. */
import type { FeaturesSeen } from '../domain/features.ts';
import type { ConnectionId, ProjectId, SessionId, WorkspaceId } from '../domain/ids.ts';

export interface Invoker {
  /** `hops`: the number of hand-overs of the work so far. `seen`: the features of the deployment, read a moment ago. */
  runTurn(
    sessionId: SessionId,
    correlationId: string,
    work?: { readonly hops?: number; readonly seen?: FeaturesSeen | undefined },
  ): Promise<void>;
  /** Saves and stops a sandbox that is marked as stopping. */
  stopSandbox(workspace: WorkspaceId, correlationId: string): Promise<void>;
  /** Fills empty pool entries. */
  fillPool(correlationId: string): Promise<void>;
  /** Checks a registered MCP server now. */
  checkMcpServer(project: ProjectId, name: string, correlationId: string): Promise<void>;
  connected(connection: ConnectionId, correlationId: string): Promise<void>;
}

/** Invokes the sender of webhooks; as above. */
export interface NoticeSender {
  /** Sends written notices to their webhooks. */
  sendNotices(notices: readonly string[]): Promise<void>;
}

/** Invokes the janitor to delete, which other functions may not; as above. */
export interface Forgetter {
  /** Deletes the remains of a workspace that was marked as deleted, or that no longer exists. */
  forgetWorkspace(workspace: WorkspaceId, correlationId: string): Promise<void>;
  /** Deletes everything that belongs to a project that was marked as deleted. */
  forgetProject(project: ProjectId, correlationId: string): Promise<void>;
}
