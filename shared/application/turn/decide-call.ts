/**
 * Decides one waiting call. The decision is a transition of the turn under its version: made twice, or by
 * two people at once, it counts once.
 */
import type { CallId } from '../../domain/ids.ts';
import type { TurnLimits } from '../../domain/turn/turn.ts';
import { type Found, type MovePorts, moveTurn } from './move-turn.ts';
import { noteApproval } from './note-approval.ts';
import { noPendingCall } from './settle-call.ts';

export type Decision = {
  readonly callId: string;
  readonly approved: boolean;
  readonly remember: boolean;
  readonly correlationId: string;
  /** A rejection may be the turn's last step. */
  readonly limits: TurnLimits;
};

export type DecidePorts = MovePorts;

export const decideCall = async (
  ports: DecidePorts,
  found: Found,
  { callId, approved, remember, correlationId, limits }: Decision,
): Promise<void> => {
  const moved = await moveTurn(ports, found, {
    eventFor: (_, at) => ({ type: 'call-decided', at, callId: callId as CallId, approved, remember }),
    correlationId,
    limits,
  });
  if (moved === 'late') throw noPendingCall(callId, 'Approve the call that was offered last.');
  const decided = { callId: callId as CallId, approved, at: ports.world.now() };
  noteApproval(ports.telemetry, found.session, decided);
};
