/**
 * Asynchronous invocations of other functions: at least once, possibly late, possibly twice. Each is made under the
 * caller's correlation id.
 */
import type { Frame } from '../contracts/frames.ts';
import type { FeaturesSeen } from '../domain/features.ts';
import type { ConnectionId, ProjectId, SessionId, WorkspaceId } from '../domain/ids.ts';
import type { SessionMark } from '../domain/turn/session-mark.ts';
import type { TerminalKey } from './terminals.ts';

export interface Invoker extends RelayStarter {
  /**
   * `hops`: the number of hand-overs of the work so far. `seen`: the features of the deployment, read a moment ago.
   * `frames`: of events that were just committed, for the turn's holder to publish, who reads the subscribers anyway.
   * `kills`: keys of calls that still run in the sandbox, of a turn that was cancelled. `mark`: the session as it rested before
   * the message that was just accepted.
   */
  runTurn(
    sessionId: SessionId,
    work?: {
      readonly hops?: number;
      readonly seen?: FeaturesSeen | undefined;
      readonly frames?: readonly Frame[] | undefined;
      readonly kills?: readonly string[] | undefined;
      readonly mark?: SessionMark | undefined;
    },
  ): Promise<void>;
  /** Saves and stops a sandbox that is marked as stopping. */
  stopSandbox(workspace: WorkspaceId): Promise<void>;
  /** Fills empty pool entries. */
  fillPool(): Promise<void>;
  /** Checks a registered MCP server now. */
  checkMcpServer(project: ProjectId, name: string): Promise<void>;
  connected(connection: ConnectionId): Promise<void>;
}

export type RelayWork = {
  readonly workspaceId: WorkspaceId;
  readonly generation: number;
  /** It has the events of the connections. */
  readonly sessionId: SessionId;
  /** The holder that hands over. */
  readonly replaces?: string | undefined;
};

/** Invokes the function that holds the relay of a sandbox; as above. */
export interface RelayStarter {
  /** Without effect while another invocation holds it. */
  holdRelay(work: RelayWork): Promise<void>;
}

/** Invokes the follower of a terminal; as above. */
export interface FollowerStarter {
  /** Sends the output of a process to a connection, under the lease of this run. */
  followTerminal(terminal: TerminalKey, run: string): Promise<void>;
}

/** Invokes the sender of webhooks; as above. */
export interface NoticeSender {
  /** Sends written notices to their webhooks. */
  sendNotices(notices: readonly string[]): Promise<void>;
}

/** Invokes the janitor to start a sandbox for a turn that waits; as above. */
export interface SandboxReturner {
  /** Starts the sandbox of a session and restores its files, if its turn still waits for a person. */
  returnSandbox(session: SessionId): Promise<void>;
}

/** Invokes the janitor to delete, which other functions may not; as above. */
export interface Forgetter {
  /** Deletes the remains of a workspace that was marked as deleted, or that no longer exists. */
  forgetWorkspace(workspace: WorkspaceId): Promise<void>;
  /** Deletes everything that belongs to a project that was marked as deleted. */
  forgetProject(project: ProjectId): Promise<void>;
}
