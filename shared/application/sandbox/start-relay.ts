/**
 * Has the relay of a sandbox held: while a session uses it, if it has a network (RL5); and when a program of it wants the relay (RL7).
 * A failure to start a holder fails nothing else: the sandbox is told, and its programs do not wait for one (RL4).
 */
import type { SessionId } from '../../domain/ids.ts';
import type { LiveSandbox, Workspace } from '../../domain/sandbox.ts';
import type { RelayStarter } from '../../ports/invoker.ts';
import type { Deps } from '../deps.ts';

export type RelayUse = { readonly sessionId: SessionId };

type Starting = RelayUse & Partial<Deps<'telemetry'>> & Deps<'link'>;

export const startRelay = async (
  relayStarter: RelayStarter,
  { sandbox, workspace }: { readonly sandbox: LiveSandbox; readonly workspace: Workspace },
  starting: Starting,
): Promise<void> => {
  if (workspace.sandbox?.network === undefined) return;
  await hold(relayStarter, sandbox, starting);
};

/** Gives back what a sign of the sandbox calls: one sign is enough for a while, since the sandbox repeats it. */
export const onRelayWanted = (
  relayStarter: RelayStarter | undefined,
  sandbox: LiveSandbox,
  { world, ...starting }: Starting & Deps<'world'>,
): (() => void) => {
  let nextAt = 0;
  return () => {
    if (world.now() < nextAt) return;
    nextAt = world.now() + signPauseMs;
    if (relayStarter === undefined) void dismiss(sandbox, starting);
    else void hold(relayStarter, sandbox, starting);
  };
};

const signPauseMs = 5000;

const hold = async (relayStarter: RelayStarter, sandbox: LiveSandbox, starting: Starting): Promise<void> => {
  const { workspaceId, generation } = sandbox;
  const { sessionId, telemetry } = starting;
  try {
    await relayStarter.holdRelay({ workspaceId, generation, sessionId });
  } catch (error) {
    telemetry?.warn('the relay of a sandbox was not started', { workspaceId, error });
    await dismiss(sandbox, starting);
  }
};

/** Its programs are told that no holder comes; one that does not hear it lets them wait. */
const dismiss = async (sandbox: LiveSandbox, { link, telemetry }: Starting): Promise<void> => {
  try {
    const response = await link.fetch(sandbox, { method: 'POST', path: '/relay/dismiss' });
    await response.body?.cancel();
  } catch (error) {
    telemetry?.warn('a sandbox was not told that its relay is not held', {
      workspaceId: sandbox.workspaceId,
      error,
    });
  }
};
