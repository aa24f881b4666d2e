/**
 * The MCP servers of projects. Every write is conditional; each says what it returns when it loses.
 *
 * The conformance suite is tests/conformance/mcp-server-store.ts.
 */
import type { ProjectId } from '../domain/ids.ts';
import type { McpServer } from '../domain/mcp/server.ts';

export interface McpServerStore {
  /** `exists` when the project has a server of that name, `full` when it has as many as it may have. */
  add(
    server: McpServer,
    request: { readonly serversMax: number; readonly dueAt?: number },
  ): Promise<'added' | 'exists' | 'full'>;
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
  /** Enabled servers whose next check is due, oldest first. */
  due(now: number, itemsMax: number): Promise<readonly McpServer[]>;
}
