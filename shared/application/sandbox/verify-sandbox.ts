/**
 * Whether a sandbox that is recorded as ready still lives: asked of itself, and of ECS when it does not
 * answer. One that is gone is noted as stopped and told to its sessions, so that the next one can start.
 */
import type { LiveSandbox, Workspace } from '../../domain/sandbox.ts';
import { isAppError } from '../../errors.ts';
import type { SandboxHost } from '../../ports/sandbox-host.ts';
import type { SandboxLink } from '../../ports/sandbox-link.ts';
import { recordStopped, type TaskPorts } from './record-task-event.ts';

export type VerifyPorts = TaskPorts & {
  readonly link: SandboxLink;
  readonly host: Pick<SandboxHost, 'describe'>;
};

/** `gone`: noted and told. `silent`: its task runs, but it does not answer now. */
export const verifySandbox = async (
  ports: VerifyPorts,
  { sandbox: record }: Workspace,
  sandbox: LiveSandbox,
): Promise<'lives' | 'gone' | 'silent'> => {
  if (await answersHealth(ports.link, sandbox)) return 'lives';
  const taskArn = record?.taskArn;
  const [task] = taskArn === undefined ? [] : await ports.host.describe([taskArn]);
  if (task !== undefined && task.lastStatus !== 'STOPPED') return 'silent';
  const { workspaceId, generation } = sandbox;
  await recordStopped(ports, { workspaceId, generation }, task?.stoppedReason ?? 'its task is gone');
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
