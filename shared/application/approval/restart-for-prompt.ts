/**
 * Restarts the sandbox of a waiting turn when an approver opens its prompt, so that the decision does not
 * wait for it. A reader who may not decide starts nothing.
 */
import { mayWrite } from '../../domain/access.ts';
import type { Principal } from '../../domain/principal.ts';
import { isWaitingAlone } from '../../domain/turn/pending-work.ts';
import type { FoundSession } from '../access/find-session.ts';
import type { Deps } from '../deps.ts';

/** The prompt is shown whether this succeeds or not: without it the decision starts the sandbox. */
export const restartForPrompt = async (
  { workspaces, sandboxReturner, telemetry }: Deps<'workspaces' | 'sandboxReturner' | 'telemetry'>,
  { session, turn }: FoundSession,
  principal: Principal,
): Promise<void> => {
  if (!mayWrite(principal, session) || !isWaitingAlone(turn.state)) return;
  try {
    const workspace = await workspaces.get(session.workspace);
    if (workspace?.sandbox?.state !== 'stopped') return;
    await sandboxReturner.returnSandbox(session.id);
  } catch (error) {
    telemetry.warn('a sandbox was not brought back for a prompt', { sessionId: session.id, error });
  }
};
