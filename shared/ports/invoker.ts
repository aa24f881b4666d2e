/** Wakes other functions, asynchronously: at least once, possibly late, possibly twice. */
import type { FeaturesSeen } from '../domain/features.ts';
import type { ConnectionId, ProjectId, SessionId, WorkspaceId } from '../domain/ids.ts';

export interface Invoker {
  /** `hops`: how often the work was handed over already. `seen`: the features of the deployment, read a moment ago. */
  runTurn(
    sessionId: SessionId,
    correlationId: string,
    work?: { readonly hops?: number; readonly seen?: FeaturesSeen | undefined },
  ): Promise<void>;
  /** Has a sandbox that is marked as stopping saved and stopped. */
  stopSandbox(workspace: WorkspaceId, correlationId: string): Promise<void>;
  /** Has empty pool entries filled. */
  fillPool(correlationId: string): Promise<void>;
  /** Has a registered MCP server checked now. */
  checkMcpServer(project: ProjectId, name: string, correlationId: string): Promise<void>;
  greet(connection: ConnectionId, correlationId: string): Promise<void>;
}

/** Wakes the sender of webhooks; as above. */
export interface NoticeSender {
  /** Has notices that are written sent to the webhooks that hear of them. */
  sendNotices(notices: readonly string[]): Promise<void>;
}

/** Wakes the janitor to delete, which others may not; as above. */
export interface Forgetter {
  /** Has what is left of a workspace that was marked as deleted, or that is gone, deleted. */
  forgetWorkspace(workspace: WorkspaceId, correlationId: string): Promise<void>;
  /** Has all that belongs to a project that was marked as deleted, deleted. */
  forgetProject(project: ProjectId, correlationId: string): Promise<void>;
}
