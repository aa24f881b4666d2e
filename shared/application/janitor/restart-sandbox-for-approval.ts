/**
 * Restarts the sandbox of a turn that waits for a person, and restores its files. It stops again after the time for waiting. A turn
 * that no longer waits starts its sandbox itself.
 */
import type { Lifetimes } from '../../domain/idle-time.ts';
import type { SessionId } from '../../domain/ids.ts';
import { isWaitingAlone } from '../../domain/turn/pending-work.ts';
import { isAppError } from '../../errors.ts';
import type { Deps, SandboxDeps } from '../deps.ts';
import { acquireWithHeartbeat } from '../sandbox/acquire-with-heartbeat.ts';

type Settings = { readonly lifetimes: Lifetimes };

export const restartSandboxForApproval = async (
  ports: SandboxDeps & Deps<'turns'>,
  id: SessionId,
  settings: Settings,
): Promise<{ readonly isBack: boolean }> => {
  const found = await ports.turns.getWithTurn(id);
  if (found === undefined || !isWaitingAlone(found.turn.state)) return { isBack: false };
  try {
    await acquireWithHeartbeat(ports, found.session, settings);
    return { isBack: true };
  } catch (error) {
    if (!isAppError(error)) throw error;
    ports.telemetry.warn('a sandbox did not come back for a prompt', { sessionId: id, code: error.code });
    return { isBack: false };
  }
};
