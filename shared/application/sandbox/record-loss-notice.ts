/**
 * Records that a session was told what a start of its sandbox lost, after it was told. One whose record fails is told once more
 * with its next call.
 */
import type { Losses } from '../../domain/losses.ts';
import type { Session } from '../../domain/session.ts';
import type { Deps } from '../deps.ts';
import type { AcquiredSandbox } from './acquire-sandbox.ts';

export const recordLossNotice = async (
  { workspaces, telemetry }: Deps<'workspaces' | 'telemetry'>,
  { id, workspace }: Pick<Session, 'id' | 'workspace'>,
  losses: Losses | undefined,
): Promise<void> => {
  if (losses === undefined) return;
  try {
    await workspaces.recordLossNotice(workspace, id, losses.generation);
  } catch (error) {
    telemetry.warn('a delivered loss notice was not recorded', { sessionId: id, error });
  }
};

/** The losses of which a call outside a turn tells its client. In an agent's session it stands in for no agent, which is told as well. */
export const lossesForClient = (
  { kind }: Pick<Session, 'kind'>,
  { start, losses }: Pick<AcquiredSandbox, 'start' | 'losses'>,
): Losses | undefined => (kind === 'agent' && start === undefined ? undefined : losses);

/** As `recordLossNotice`, of a client that was told: in a session of executions it is the one to be told. */
export const recordClientLossNotice = async (
  ports: Deps<'workspaces' | 'telemetry'>,
  session: Pick<Session, 'id' | 'workspace' | 'kind'>,
  losses: Losses | undefined,
): Promise<void> => {
  if (session.kind !== 'agent') await recordLossNotice(ports, session, losses);
};
