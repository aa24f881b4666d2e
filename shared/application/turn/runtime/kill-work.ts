/** Kills the work that goes on in a sandbox for a turn that is over: its detached calls, and the program that carried it (RT5). */
import type { SessionId } from '../../../domain/ids.ts';
import type { LiveSandbox } from '../../../domain/sandbox.ts';
import { carriedTurnOf } from '../../../domain/turn/pending-work.ts';
import type { Deps } from '../../deps.ts';
import { liveSandboxOf } from '../../sandbox/sandbox-processes.ts';
import { abortRuntime } from './ask-runtime.ts';

/** Its end is not waited for. */
export const killWork = async (
  ports: Deps<'sessions' | 'workspaces' | 'tools' | 'link'>,
  id: SessionId,
  keys: readonly string[],
): Promise<void> => {
  const session = await ports.sessions.get(id);
  const workspace = session && (await ports.workspaces.get(session.workspace));
  const sandbox: LiveSandbox | undefined = workspace && liveSandboxOf(workspace);
  if (sandbox === undefined) return;
  const kill = (key: string): Promise<void> => {
    const turn = carriedTurnOf(key);
    return turn === undefined ? ports.tools.cancel(sandbox, key) : abortRuntime(ports, sandbox, turn);
  };
  await Promise.all(keys.map(kill));
};
