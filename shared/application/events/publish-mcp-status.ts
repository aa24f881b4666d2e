/**
 * Publishes the status of an MCP server to the newest agent sessions of its project, in their logs and to their subscribers.
 *
 * A project may have thousands of idle sessions: older ones learn the status with their next turn, which reads the servers. The
 * change itself has already been made, so a status that cannot be published is logged and undoes nothing.
 */

import type { ProjectId } from '../../domain/ids.ts';
import type { shownStatus } from '../../domain/mcp/health.ts';
import { isConversation } from '../../domain/session.ts';
import type { Deps, PublishDeps } from '../deps.ts';
import { appendAndPublish } from './publisher.ts';

/** Sessions that are told of one change. */
const toldSessionsMax = 20;

export type McpStatus = ReturnType<typeof shownStatus> | 'removed';

export const publishMcpStatus = async (
  ports: PublishDeps & Deps<'sessions'>,
  project: ProjectId,
  { name, status }: { readonly name: string; readonly status: McpStatus },
): Promise<void> => {
  const entry = { type: 'system', data: { kind: 'mcp_status', name, status } } as const;
  try {
    const { sessions } = await ports.sessions.listOfProject(project, { itemsMax: toldSessionsMax });
    const told = sessions.filter(isConversation);
    await Promise.all(told.map(({ id }) => appendAndPublish(ports, id, [entry])));
  } catch (error) {
    ports.telemetry.warn('the status of an MCP server was not published', { error, project, name, status });
  }
};
