/**
 * Tells the active agent sessions of a project how one of its MCP servers is: in their log, and at once to who watches.
 *
 * Those are the holders of the project's slots (docs/adr/0008-places-and-slots.md), few and read in one query. The
 * change itself has been made: what cannot be told is logged, and never undoes it.
 */
import type { ProjectId } from '../../domain/ids.ts';
import type { shownStatus } from '../../domain/mcp/health.ts';
import { agentSessionsMax, agentSlots } from '../../domain/quota.ts';
import type { SlotStore } from '../../ports/slot-store.ts';
import { type SayPorts, say } from './say.ts';

export type TellPorts = SayPorts & { readonly slots: Pick<SlotStore, 'read'> };

export type ToldStatus = ReturnType<typeof shownStatus> | 'removed';

export const tellMcpStatus = async (
  ports: TellPorts,
  project: ProjectId,
  { name, status }: { readonly name: string; readonly status: ToldStatus },
): Promise<void> => {
  const entry = { type: 'system', data: { kind: 'mcp_status', name, status } } as const;
  try {
    const { taken } = await ports.slots.read(agentSlots(project));
    const sessions = taken.slice(0, agentSessionsMax);
    await Promise.all(sessions.map(({ session }) => say(ports, session, [entry])));
  } catch (error) {
    ports.telemetry.warn('sessions were not told of an MCP server', { error, project, name, status });
  }
};
