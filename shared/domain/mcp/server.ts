/**
 * A registered MCP server: where a project's agents find more tools, how it is doing, and what it offered last.
 *
 * Only vocabulary: `validate.ts` decides what may be registered, `health.ts` what a check means, `naming.ts`
 * under which names a model is offered the tools.
 */
import type { ProjectId } from '../ids.ts';
import type { JsonObject } from '../json.ts';

type Common = {
  readonly description?: string;
  /** Stands before the names of its tools where they are prefixed; the server's name when absent. */
  readonly toolPrefix?: string;
  /** Of one call, in milliseconds. */
  readonly timeout?: number;
};

export type RemoteConfig = Common & {
  readonly transport: 'http' | 'sse';
  readonly url: string;
  /** `${NAME}` stands for a secret of the project. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** Started inside the session's sandbox, as the user. */
export type StdioConfig = Common & {
  readonly transport: 'stdio';
  readonly command: string;
  readonly args?: readonly string[];
  /** `${NAME}` stands for a secret of the project. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
};

export type McpServerConfig = RemoteConfig | StdioConfig;

export const mcpTransports = ['http', 'sse', 'stdio'] as const;

/** A tool as its server describes it. */
export type McpTool = {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
};

export const mcpStatuses = ['healthy', 'unhealthy', 'reconnecting', 'disconnected'] as const;
export type McpStatus = (typeof mcpStatuses)[number];

/** Times are epoch milliseconds. */
export type McpHealth = {
  readonly status: McpStatus;
  readonly lastCheck?: number;
  readonly lastSuccess?: number;
  readonly consecutiveFailures: number;
  /** Attempts to reconnect since the breaker opened. */
  readonly attempts: number;
  readonly error?: string;
};

export type McpServer = {
  readonly project: ProjectId;
  readonly name: string;
  readonly config: McpServerConfig;
  readonly isEnabled: boolean;
  readonly health: McpHealth;
  /** As it listed them last; absent: never yet. */
  readonly tools?: readonly McpTool[];
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Counts the writes of this record: a write names the one it read. */
  readonly version: number;
};
