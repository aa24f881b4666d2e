/** The MCP servers of projects: stored, and reached from the functions. They are never trusted. */
import type { ProjectId } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import type { McpServer, McpTool } from '../domain/mcp/server.ts';
import type { ToolOutcome, ToolProgress } from './sandbox.ts';

/**
 * The MCP servers of projects. Every write is conditional; each says what it returns when it loses.
 *
 * The conformance suite is tests/conformance/mcp-server-store.test.ts.
 */
export interface McpServerStore {
  /** `exists` when the project has a server of that name, `full` when it has as many as it may have, `gone` when it is deleted. */
  add(
    server: McpServer,
    request: { readonly serversMax: number; readonly dueAt?: number },
  ): Promise<'added' | 'exists' | 'full' | 'gone'>;
  get(project: ProjectId, name: string): Promise<McpServer | undefined>;
  /** All servers of a project, by name: one query. */
  list(project: ProjectId): Promise<readonly McpServer[]>;
  /** Writes over the version that was read, as the next one; undefined after a concurrent write or a deletion. */
  replace(
    server: McpServer,
    request: { readonly version: number; readonly dueAt?: number },
  ): Promise<McpServer | undefined>;
  /** The removed server; undefined when there was none. */
  remove(project: ProjectId, name: string): Promise<McpServer | undefined>;
  /** Enabled servers whose next check is due. As `due` of sessions. */
  due(now: number, itemsMax: number, onUnreadable?: (error: unknown) => void): Promise<readonly McpServer[]>;
}

export type RemoteTarget = {
  readonly name: string;
  readonly transport: 'http' | 'sse';
  readonly url: string;
  /** With secrets filled in. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
};

export type RemoteCall = {
  readonly target: RemoteTarget;
  readonly tool: string;
  readonly args: JsonObject;
  readonly onProgress: (progress: ToolProgress) => void;
  readonly signal?: AbortSignal;
};

/** MCP servers on the network, as the functions reach them: listed and called, never trusted. */
export interface RemoteMcp {
  /** Loads what connects: no time of a server. */
  ready(): Promise<void>;
  /**
   * Throws `mcp_server_unavailable` when it cannot be reached in time, with the fact `httpStatus` when it refused; `invalid_request` when
   * its address is refused.
   */
  listTools(target: RemoteTarget, signal?: AbortSignal): Promise<readonly McpTool[]>;
  /** `lost`: the request was sent and no answer came, so that it may have run. Never rejects. */
  call(call: RemoteCall): Promise<RemoteOutcome>;
}

/** `httpStatus`: that of the answer with which the server refused. */
export type RemoteOutcome = ToolOutcome & { readonly httpStatus?: number };

/** The check of an address that a user registers: whether the functions may connect to it. */
export interface AddressGuard {
  /** Throws `invalid_request` for one that is private, loopback or link-local; a name without an address passes. */
  check(url: string): Promise<void>;
}
