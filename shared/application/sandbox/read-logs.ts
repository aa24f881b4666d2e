/** The log of a session's sandboxes: its stored lines, and the newer lines of the live sandbox. */

import { sandboxLogPage } from '../../contracts/sandbox-link.ts';
import { logLinesMax } from '../../domain/limits.ts';
import type { Session } from '../../domain/session.ts';
import { isAppError } from '../../errors.ts';
import type { LogLine } from '../../ports/sandbox.ts';
import type { Deps } from '../deps.ts';

/** Oldest first; never starts a sandbox. */
export const readLogs = async (
  ports: Deps<'workspaces' | 'sandboxLog' | 'link'>,
  { workspace: workspaceId }: Session,
): Promise<readonly LogLine[]> => {
  const [kept, living] = await Promise.all([
    ports.sandboxLog.read(workspaceId, logLinesMax),
    livingLines(ports, workspaceId),
  ]);
  return [...kept, ...living].slice(-logLinesMax);
};

const livingLines = async (
  { workspaces, link }: Deps<'workspaces' | 'sandboxLog' | 'link'>,
  workspaceId: Session['workspace'],
): Promise<readonly LogLine[]> => {
  const { sandbox } = (await workspaces.get(workspaceId)) ?? {};
  if (sandbox?.state !== 'ready' || sandbox.address === undefined) return [];
  const { generation, address, flavor, logsSeen = 0 } = sandbox;
  try {
    const request = { method: 'GET', path: `/logs?after=${logsSeen}` };
    const response = await link.fetch({ workspaceId, generation, address, flavor }, request);
    const page = sandboxLogPage.safeParse(await response.json());
    return page.success ? page.data.lines.map(({ at, stream, text }) => ({ at, stream, text })) : [];
  } catch (error) {
    // A sandbox that has just died: its stored lines are the answer.
    if (isAppError(error) && error.code === 'sandbox_unavailable') return [];
    throw error;
  }
};
