/** MCP servers on the network, as the functions reach them: listed and called, never trusted. */
import type { JsonObject } from '../domain/json.ts';
import type { McpTool } from '../domain/mcp/server.ts';
import type { ToolOutcome, ToolProgress } from './sandbox-tools.ts';

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

export interface RemoteMcp {
  /** Throws `mcp_server_unavailable` when it cannot be reached in time, `invalid_request` when its address is refused. */
  listTools(target: RemoteTarget, signal?: AbortSignal): Promise<readonly McpTool[]>;
  /** `lost`: the request was sent and no answer came, so that it may have run. Never rejects. */
  call(call: RemoteCall): Promise<ToolOutcome>;
}
