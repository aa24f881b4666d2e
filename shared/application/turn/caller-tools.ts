/** What clients of a session do for its agent: offer tools, answer calls, and leave. */
import { contentOfAnswer } from '../../contracts/caller-tools.ts';
import { type Caller, callersPerSessionMax, takenName } from '../../domain/caller-tool.ts';
import type { ConnectionId } from '../../domain/ids.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import { callsWithCallers } from '../../domain/turn/pending-work.ts';
import type { TurnLimits } from '../../domain/turn/turn.ts';
import { AppError } from '../../errors.ts';
import type { CallerStore } from '../../ports/caller-store.ts';
import type { Found, MovePorts } from './move-turn.ts';
import { noPendingCall, type OutsideAnswer, settleCall } from './settle-call.ts';

export type CallerPorts = MovePorts & { readonly callers: CallerStore };

export const declareTools = async (
  { callers }: Pick<CallerPorts, 'callers'>,
  session: Session,
  caller: Caller,
): Promise<void> => {
  if (session.kind !== 'agent' || isEnded(session.status))
    throw new AppError('invalid_session_state', 'only an agent session that lives takes tools');
  const others = (await callers.list(session.id)).filter(({ callerId }) => callerId !== caller.callerId);
  refuseTaken(caller, others);
  if ((await callers.declare(session.id, caller)) === 'full')
    throw new AppError('resource_limit_exceeded', `a session has at most ${callersPerSessionMax} callers`, {
      suggestions: ['Declare the tools under a caller id that is there already.'],
    });
};

/**
 * For whoever is about to make a session for it, too: no other caller is there yet. Tools of registered servers come
 * and go, so a name of theirs is not refused: the caller's tool does without it while it is taken.
 */
export const refuseTaken = (caller: Caller, others: readonly Caller[] = []): void => {
  const taken = takenName(caller, others);
  if (taken === undefined) return;
  throw new AppError('conflict', `the agent has a tool ${taken} already`, {
    suggestions: ['Offer the tool under another name, or under another caller id.'],
  });
};

export type CallerAnswer = {
  readonly requestId: string;
  readonly result?: unknown;
  readonly error?: string | undefined;
  readonly correlationId: string;
  readonly limits: TurnLimits;
};

export const answerCall = async (
  ports: MovePorts,
  found: Found,
  { requestId, result, error, correlationId, limits }: CallerAnswer,
): Promise<void> => {
  const answer: OutsideAnswer =
    error === undefined ? { content: contentOfAnswer(result) } : { code: 'internal_error', message: error };
  const settled = await settleCall(ports, found, { waitId: requestId, answer, correlationId, limits });
  if (settled === 'late') throw noPendingCall(requestId, 'Answer within 60 s, and once.');
};

/** The tools that came by a connection go with it; calls that wait for them fail at once. */
export const withdrawTools = async (
  ports: CallerPorts,
  { session, connectionId, limits }: { session: Session; connectionId: ConnectionId; limits: TurnLimits },
): Promise<void> => {
  const gone = (await ports.callers.list(session.id)).filter(
    (caller) => caller.connectionId === connectionId,
  );
  if (gone.length === 0) return;
  const found = await ports.sessions.getWithTurn(session.id);
  for (const { callerId } of gone) {
    await ports.callers.withdraw(session.id, callerId, connectionId);
    if (found === undefined) continue;
    const answer = { code: 'not_found', message: `the client ${callerId} has left` };
    for (const { route, wait } of callsWithCallers(found.turn.state))
      if (route?.kind === 'caller' && route.caller === callerId)
        await settleCall(ports, found, { waitId: wait.id, answer, correlationId: connectionId, limits });
  }
};
