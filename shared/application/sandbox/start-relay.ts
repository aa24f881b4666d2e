/**
 * Has the relay of a sandbox held: while a session uses it, if it has a network (RL5); and when a program of it wants the relay (RL7).
 * Without a holder programs are told so: a failure to start one fails nothing else.
 */
import type { SessionId } from '../../domain/ids.ts';
import type { LiveSandbox, Workspace } from '../../domain/sandbox.ts';
import type { RelayStarter } from '../../ports/invoker.ts';
import type { Deps } from '../deps.ts';

export type RelayUse = { readonly sessionId: SessionId; readonly correlationId: string };

type Starting = RelayUse & Partial<Deps<'telemetry'>>;

export const startRelay = async (
  relayStarter: RelayStarter,
  { id: workspaceId, sandbox }: Workspace,
  starting: Starting,
): Promise<void> => {
  if (sandbox?.network === undefined) return;
  await hold(relayStarter, { workspaceId, generation: sandbox.generation }, starting);
};

type Sandbox = Pick<LiveSandbox, 'workspaceId' | 'generation'>;

/** Gives back what a sign of the sandbox calls: one sign is enough for a while, since the sandbox repeats it. */
export const onRelayWanted = (
  relayStarter: RelayStarter | undefined,
  sandbox: Sandbox,
  { world, ...starting }: Starting & Deps<'world'>,
): (() => void) => {
  let nextAt = 0;
  return () => {
    if (relayStarter === undefined || world.now() < nextAt) return;
    nextAt = world.now() + signPauseMs;
    void hold(relayStarter, sandbox, starting);
  };
};

const signPauseMs = 5000;

const hold = async (
  relayStarter: RelayStarter,
  { workspaceId, generation }: Sandbox,
  { sessionId, correlationId, telemetry }: Starting,
): Promise<void> => {
  try {
    await relayStarter.holdRelay({ workspaceId, generation, sessionId, correlationId });
  } catch (error) {
    telemetry?.warn('the relay of a sandbox was not started', { workspaceId, error });
  }
};
