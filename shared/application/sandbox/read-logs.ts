/** The log of a session's sandboxes: its stored lines, and the newer lines of the live sandbox. */

import { sandboxLogPage } from '../../contracts/sandbox-link.ts';
import { logLinesMax } from '../../domain/limits.ts';
import type { SandboxRecord } from '../../domain/sandbox.ts';
import type { Session } from '../../domain/session.ts';
import { isAppError } from '../../errors.ts';
import type { LogLine } from '../../ports/sandbox.ts';
import type { Deps } from '../deps.ts';
import { logLineOf } from './log-line.ts';

/** Oldest first; never starts a sandbox. */
export const readLogs = async (
  ports: Deps<'workspaces' | 'sandboxLog' | 'link'>,
  { workspace: workspaceId }: Session,
): Promise<readonly LogLine[]> => {
  // Read first: a save that comes between stores lines before it says so, and none of them is left out.
  const workspace = await ports.workspaces.get(workspaceId);
  const [kept, living] = await Promise.all([
    ports.sandboxLog.read(workspaceId, logLinesMax),
    livingLines(ports, workspaceId, workspace?.sandbox),
  ]);
  const stored = new Set(kept.map(({ id }) => id));
  return [...kept, ...living.filter(({ id }) => !stored.has(id))]
    .slice(-logLinesMax)
    .map(({ at, stream, text }) => ({ at, stream, text }));
};

const livingLines = async (
  { link }: Deps<'link'>,
  workspaceId: Session['workspace'],
  sandbox: SandboxRecord | undefined,
): Promise<readonly LogLine[]> => {
  if (sandbox?.state !== 'ready' || sandbox.address === undefined) return [];
  const { generation, address, flavor, logsSeen = 0 } = sandbox;
  try {
    const request = { method: 'GET', path: `/logs?after=${logsSeen}` };
    const response = await link.fetch({ workspaceId, generation, address, flavor }, request);
    const page = sandboxLogPage.safeParse(await response.json());
    return page.success ? page.data.lines.map((line) => logLineOf(generation, line)) : [];
  } catch (error) {
    // A sandbox that has just died: its stored lines are the answer.
    if (isAppError(error) && error.code === 'sandbox_unavailable') return [];
    throw error;
  }
};
