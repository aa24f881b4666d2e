/**
 * Cancels what a session works on: its running turn, or the oldest message that waits, gets its completion.
 *
 * Whoever runs the turn sees within a second or so that it moved, closes its model call and has its tools
 * killed; what it still learns of them is not written.
 */
import type { SessionId, TurnId } from '../domain/ids.ts';
import { isEnded } from '../domain/session.ts';
import { reduce } from '../domain/turn/reduce.ts';
import type { TurnRecord, TurnStep } from '../domain/turn/turn.ts';
import type { Invoker } from '../ports/invoker.ts';
import type { InboxMessage, SessionStore } from '../ports/session-store.ts';
import type { AudiencePorts } from './audience.ts';
import { commitUnleased } from './commit-unleased.ts';

export type CancelPorts = AudiencePorts & { readonly sessions: SessionStore };

/** A cancellation asks for nothing, so no limit can be met. */
const limits = {
  stepsMax: Number.MAX_SAFE_INTEGER,
  callsMax: Number.MAX_SAFE_INTEGER,
  usdMax: Number.POSITIVE_INFINITY,
};
const racesMax = 20;

/** What a client asks for; nothing to cancel is no error. */
export const cancelTurn = async (
  ports: CancelPorts & { readonly invoker: Invoker },
  id: SessionId,
  correlationId: string,
): Promise<void> => {
  for (let race = 0; race < racesMax; race += 1) {
    const cancelled = await cancelNext(ports, id);
    if (cancelled === 'moved') continue;
    if (cancelled === 'more') await ports.invoker.runTurn(id, correlationId);
    return;
  }
};

/** `more`: done, and other messages wait. `moved`: the turn moved meanwhile, try again. */
export const cancelNext = async (
  ports: CancelPorts,
  id: SessionId,
): Promise<'nothing' | 'done' | 'more' | 'moved'> => {
  const session = await ports.sessions.get(id);
  if (session === undefined || isEnded(session.status)) return 'nothing';
  const { turn, inbox } = await ports.sessions.loadWork(id);
  const { state } = turn;
  const isRunning = 'messageId' in state;
  const completed = isRunning ? inbox.find(({ messageId }) => messageId === state.messageId) : inbox[0];
  if (!isRunning && completed === undefined) return 'nothing';
  const at = ports.world.now();
  const step = isRunning
    ? reduce(state, { type: 'cancelled', at }, limits)
    : startedAndCancelled(turn, {
        spentUsd: session.costUsd,
        message: completed as InboxMessage,
        at,
        turnId: ports.world.uuid() as TurnId,
      });
  const hasMore = inbox.some((message) => message !== completed);
  const patch = { lastActiveAt: at, ...(hasMore ? {} : { status: 'idle' as const }) };
  const isCommitted = await commitUnleased(ports, {
    session,
    turn,
    step,
    at,
    completed,
    patch,
    wakes: hasMore,
  });
  if (!isCommitted) return 'moved';
  return hasMore ? 'more' : 'done';
};

const startedAndCancelled = (
  { state }: TurnRecord,
  { message, at, turnId, spentUsd }: { message: InboxMessage; at: number; turnId: TurnId; spentUsd: number },
): TurnStep => {
  const { messageId, text } = message;
  const policy = { mode: 'ask' as const, rememberedTools: [] };
  const started = reduce(
    state,
    { type: 'started', at, turnId, message: { messageId, text }, policy, spentUsd },
    limits,
  );
  const cancelled = reduce(started.state, { type: 'cancelled', at }, limits);
  return {
    state: cancelled.state,
    log: [...started.log, ...cancelled.log],
    history: [...started.history, ...cancelled.history],
  };
};
