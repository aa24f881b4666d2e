/**
 * Verifies that a sandbox recorded as ready still lives: asks it, and ECS when it does not answer. A lost one is
 * recorded as stopped and published to its sessions, so that the next one can start.
 */

import type { LiveSandbox, Workspace } from '../../domain/sandbox.ts';
import { isAppError } from '../../errors.ts';
import type { SandboxLink } from '../../ports/sandbox.ts';
import type { SandboxDeps } from '../deps.ts';
import { lostReason, recordStopped } from './record-stopped.ts';

/** `gone`: recorded and published. `silent`: its task runs, but it does not answer now. */
export const verifySandbox = async (
  ports: SandboxDeps,
  { sandbox: record }: Workspace,
  sandbox: LiveSandbox,
): Promise<'lives' | 'gone' | 'silent'> => {
  if (await answersHealth(ports.link, sandbox)) return 'lives';
  const taskArn = record?.taskArn;
  const [task] = taskArn === undefined ? [] : await ports.host.describe([taskArn]);
  if (task !== undefined && task.lastStatus !== 'STOPPED') return 'silent';
  const { workspaceId, generation } = sandbox;
  await recordStopped(ports, { workspaceId, generation }, task?.stoppedReason ?? lostReason);
  return 'gone';
};

const answersHealth = async (link: SandboxLink, sandbox: LiveSandbox): Promise<boolean> => {
  try {
    const response = await link.fetch(sandbox, { method: 'GET', path: '/health' });
    await response.body?.cancel();
    return response.status === 200;
  } catch (error) {
    if (isAppError(error) && error.code === 'sandbox_unavailable') return false;
    throw error;
  }
};
