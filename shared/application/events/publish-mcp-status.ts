/**
 * Publishes the status of an MCP server to the active agent sessions of its project, in their logs and to their subscribers.
 *
 * Those are the holders of the project's slots (docs/adr/0008-slots-and-pool-entries.md), few and read in one query. The
 * change itself has been made: a status that cannot be published is logged, and never undoes it.
 */

import type { ProjectId } from '../../domain/ids.ts';
import type { shownStatus } from '../../domain/mcp/health.ts';
import { agentSessionsMax, agentSlots } from '../../domain/slots.ts';
import type { Deps, PublishDeps } from '../deps.ts';
import { appendAndPublish } from './publisher.ts';

export type McpStatus = ReturnType<typeof shownStatus> | 'removed';

export const publishMcpStatus = async (
  ports: PublishDeps & Deps<'slots'>,
  project: ProjectId,
  { name, status }: { readonly name: string; readonly status: McpStatus },
): Promise<void> => {
  const entry = { type: 'system', data: { kind: 'mcp_status', name, status } } as const;
  try {
    const { taken } = await ports.slots.read(agentSlots(project));
    const sessions = taken.slice(0, agentSessionsMax);
    await Promise.all(sessions.map(({ session }) => appendAndPublish(ports, session, [entry])));
  } catch (error) {
    ports.telemetry.warn('the status of an MCP server was not published', { error, project, name, status });
  }
};
