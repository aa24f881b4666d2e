/**
 * A registered MCP server: a source of additional tools for a project's agents, its health, and the tools that it last listed.
 *
 * Only vocabulary: `validate.ts` decides what may be registered, `health.ts` what a check means, `naming.ts` the names that a
 * model is offered.
 */
import type { ProjectId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { utf8Bytes } from '../text.ts';
import { mcpToolBytesMax, mcpToolsMax } from './limits.ts';

type Common = {
  readonly description?: string;
  /** The prefix of its tools' names where they are prefixed; the server's name when absent. */
  readonly toolPrefix?: string;
  /** Milliseconds of one call. */
  readonly timeout?: number;
};

/** `auto` prefixes when there is more than one server with tools, or a clash with a built-in tool; `none` only what clashes. */
export const namespacings = ['auto', 'prefix', 'none'] as const;
export type Namespacing = (typeof namespacings)[number];

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
/** Times are epoch milliseconds. */
export type McpHealth = {
  readonly status: (typeof mcpStatuses)[number];
  readonly lastCheck?: number;
  readonly lastSuccess?: number;
  readonly consecutiveFailures: number;
  /** Attempts to reconnect since the breaker opened. */
  readonly attempts: number;
  readonly error?: string;
  /** The status of an answer of HTTP that was the last failure. */
  readonly httpStatus?: number;
};

export type McpServer = {
  readonly project: ProjectId;
  readonly name: string;
  readonly config: McpServerConfig;
  readonly isEnabled: boolean;
  readonly health: McpHealth;
  /** The tools it listed last; absent: never yet. */
  readonly tools?: readonly McpTool[];
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** The number of writes of this record: a write names the one it read. */
  readonly version: number;
};

/** The retained tools of a server: as it lists them, each name once, until their number or their bytes are used up. */
type KeptTools = { readonly tools: readonly McpTool[]; readonly leftOut: number };

export const keepTools = (listed: readonly McpTool[]): KeptTools => {
  const tools: McpTool[] = [];
  const names = new Set<string>();
  // The brackets of the list.
  let bytes = 2;
  for (const tool of listed) {
    // The tool and its comma.
    const toolBytes = utf8Bytes(JSON.stringify(tool)) + 1;
    const hasRoom = tools.length < mcpToolsMax && bytes + toolBytes <= mcpToolBytesMax;
    if (!hasRoom || names.has(tool.name)) continue;
    names.add(tool.name);
    tools.push(tool);
    bytes += toolBytes;
  }
  return { tools, leftOut: listed.length - tools.length };
};

/** A note beside the health of a server that offers more than is retained. */
export const leftOutNote = ({ leftOut }: KeptTools): string | undefined =>
  leftOut === 0
    ? undefined
    : `${leftOut} of its tools are left out: at most ${mcpToolsMax} tools of different names and ${mcpToolBytesMax} bytes are kept`;
