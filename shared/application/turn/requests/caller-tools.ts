/** The tools that clients offer to a session's agent: declared, answered, and withdrawn when a client leaves. */

import { answerOf, type ClientAnswer } from '../../../contracts/caller-tools.ts';
import { unnumberedFrame } from '../../../contracts/frames.ts';
import {
  type Caller,
  callerAnswerBytesMax,
  callersPerSessionMax,
  takenName,
  withdraws,
} from '../../../domain/caller-tool.ts';
import type { ConnectionId, SessionId } from '../../../domain/ids.ts';
import { isEnded, type Session } from '../../../domain/session.ts';
import { awaitsGreeting } from '../../../domain/subscriber.ts';
import { utf8Bytes } from '../../../domain/text.ts';
import { callsWithCallers } from '../../../domain/turn/pending-work.ts';
import type { TurnLimits, TurnState } from '../../../domain/turn/turn.ts';
import { AppError } from '../../../errors.ts';
import type { Deps, MessageDeps } from '../../deps.ts';
import type { FoundTurn } from '../commit/commit-without-lease.ts';
import { completeDelegatedCall, noPendingCall } from './complete-delegated-call.ts';

type DeclareDeps = Deps<'callers' | 'connections' | 'sockets' | 'turns' | 'world'>;

export const declareTools = async (ports: DeclareDeps, session: Session, caller: Caller): Promise<void> => {
  if (session.kind !== 'agent' || isEnded(session.status)) throw takesNoTools();
  if (!withdraws(caller)) await refuseWithoutRoom(ports, session, caller);
  const declared = await ports.callers.declare(session.id, caller);
  if (declared === 'ended') throw takesNoTools();
  if (declared === 'full')
    throw new AppError('resource_limit_exceeded', `a session has at most ${callersPerSessionMax} callers`, {
      suggestions: ['Declare the tools under an existing caller id.'],
    });
};

const refuseWithoutRoom = async (ports: DeclareDeps, { id }: Session, caller: Caller): Promise<void> => {
  refuseTaken(caller);
  const others = (await ports.callers.list(id)).filter(({ callerId }) => callerId !== caller.callerId);
  const isRefused = others.length >= callersPerSessionMax || takenName(caller, others) !== undefined;
  refuseTaken(caller, isRefused ? await withoutGone(ports, id, others) : others);
};

/** The requests of a turn that wait for an answer of this caller. */
export const requestsTo = (state: TurnState, callerId: string): readonly string[] =>
  callsWithCallers(state)
    .filter(({ route }) => route?.kind === 'caller' && route.caller === callerId)
    .map(({ wait }) => wait.id);

/**
 * Withdraws those whose connection has closed, which was not reported, and returns the others. One for which a call waits stays: a
 * report that comes late ends that call.
 */
const withoutGone = async (
  ports: DeclareDeps,
  sessionId: SessionId,
  callers: readonly Caller[],
): Promise<readonly Caller[]> => {
  const found = await ports.turns.getWithTurn(sessionId);
  const calls = found === undefined ? [] : callsWithCallers(found.turn.state);
  const awaited = new Set(calls.map(({ route }) => (route?.kind === 'caller' ? route.caller : undefined)));
  const kept = await Promise.all(
    callers.map(async (caller) => {
      const { callerId, connectionId } = caller;
      if (connectionId === undefined || awaited.has(callerId)) return caller;
      if (!(await isGone(ports, sessionId, connectionId))) return caller;
      await ports.connections.remove(connectionId);
      await ports.callers.withdraw(sessionId, callerId, { connectionId });
      return undefined;
    }),
  );
  return kept.filter((caller) => caller !== undefined);
};

/**
 * Only the gateway knows, and says so to a post: of a frame that asks nothing. A post that fails otherwise says nothing. One that was not
 * greeted yet has just come.
 */
const isGone = async (
  { connections, sockets, world }: DeclareDeps,
  sessionId: SessionId,
  id: ConnectionId,
): Promise<boolean> => {
  const subscriber = await connections.subscriber(sessionId, id);
  if (subscriber !== undefined && awaitsGreeting(subscriber, world.now())) return false;
  const frame = unnumberedFrame('pong', { sessionId, at: world.now(), data: {} });
  const posted = await sockets.post(id, JSON.stringify(frame)).catch(() => undefined);
  return posted === 'gone';
};

const takesNoTools = (): AppError =>
  new AppError('invalid_session_state', 'only an active agent session accepts tools');

/**
 * Also called before a session is made for it, when it has no other caller yet. Tools of registered servers come and go, so
 * that a name of theirs is not refused: the caller's tool is not offered while its name is taken.
 */
export const refuseTaken = (caller: Caller, others: readonly Caller[] = []): void => {
  const taken = takenName(caller, others);
  if (taken === undefined) return;
  throw new AppError('conflict', `the agent already has a tool ${taken}`, {
    suggestions: ['Offer the tool under another name, or under another caller id.'],
  });
};

export type CallerAnswer = {
  readonly requestId: string;
  readonly result?: unknown;
  readonly error?: string | undefined;
  readonly limits: TurnLimits;
};

export const answerCall = async (
  ports: MessageDeps & Deps<'callers'>,
  found: FoundTurn,
  { requestId, result, error, limits }: CallerAnswer,
): Promise<void> => {
  const answer = error === undefined ? answerOf(result) : { code: 'internal_error', message: error };
  const completed = await completeDelegatedCall(ports, found, {
    waitId: requestId,
    answer,
    limits,
  });
  if (completed === 'late' && (await answerSandbox(ports, found, { requestId, answer })) === 'late')
    throw noPendingCall(requestId, 'Answer within 60 s, and once.');
};

/** A program of a sandbox asked, outside any turn. */
const answerSandbox = async (
  { callers, world }: Deps<'callers' | 'world'>,
  { session }: FoundTurn,
  { requestId, answer }: { readonly requestId: string; readonly answer: ClientAnswer },
): Promise<'answered' | 'late'> => {
  const isError = 'message' in answer;
  const text = isError ? answer.message : JSON.stringify(answer.content);
  if (utf8Bytes(text) > callerAnswerBytesMax)
    throw new AppError(
      'payload_too_large',
      `an answer to a sandbox has at most ${callerAnswerBytesMax} bytes`,
    );
  return callers.answer(session.id, requestId, { text, isError, at: world.now() });
};

/** The tools that came by a connection go with it; calls that wait for them fail at once. */
export const withdrawTools = async (
  ports: MessageDeps & Deps<'callers'>,
  { session, connectionId, limits }: { session: Session; connectionId: ConnectionId; limits: TurnLimits },
): Promise<void> => {
  const withdrawn = (await ports.callers.list(session.id)).filter(
    (caller) => caller.connectionId === connectionId,
  );
  if (withdrawn.length === 0) return;
  for (const { callerId } of withdrawn) await ports.callers.withdraw(session.id, callerId, { connectionId });
  // Behind that, since a call that was asked just before would wait until its time is over.
  const found = await ports.turns.getWithTurn(session.id);
  if (found === undefined) return;
  for (const { callerId } of withdrawn) {
    const answer = { code: 'not_found', message: `the client ${callerId} has disconnected` };
    for (const waitId of requestsTo(found.turn.state, callerId))
      await completeDelegatedCall(ports, found, { waitId, answer, limits });
  }
};
