/**
 * Cancels what a session works on: its running turn, or the oldest message that waits, gets its completion.
 *
 * Whoever runs the turn sees within a second or so that it moved, closes its model call and has its tools
 * killed; what it still learns of them is not written.
 */
import type { SessionId, TurnId } from '../../domain/ids.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import { reduce } from '../../domain/turn/reduce.ts';
import type { TurnRecord, TurnStep } from '../../domain/turn/turn.ts';
import { AppError } from '../../errors.ts';
import type { Invoker } from '../../ports/invoker.ts';
import type { InboxMessage, SessionStore } from '../../ports/session-store.ts';
import { type CommitPorts, commitUnleased } from './commit-unleased.ts';
import { wakeParent } from './wake-parent.ts';

export type CancelPorts = CommitPorts;
export type CancelTurnPorts = CancelPorts & { readonly invoker: Invoker };

/** A cancellation asks for nothing, so no limit can be met. */
const limits = {
  stepsMax: Number.MAX_SAFE_INTEGER,
  callsMax: Number.MAX_SAFE_INTEGER,
  usdMax: Number.POSITIVE_INFINITY,
};
const racesMax = 20;

/** What a client asks for; nothing to cancel is no error. */
export const cancelTurn = async (
  ports: CancelTurnPorts,
  id: SessionId,
  correlationId: string,
): Promise<void> => {
  for (let race = 0; race < racesMax; race += 1) {
    const found = await readCancelable(ports.sessions, id);
    if (found === undefined) return;
    const cancelled = await cancelNext(ports, found);
    if (cancelled.status === 'moved') continue;
    if (cancelled.status === 'more') await ports.invoker.runTurn(id, correlationId);
    if (cancelled.status !== 'nothing') await wakeParent(ports, found.session, correlationId);
    return;
  }
  throw new AppError('conflict', 'the turn moved each time it was to be cancelled', {
    suggestions: ['Cancel it again.'],
    recoveryActions: ['retry_operation'],
  });
};

export type Cancelable = {
  readonly session: Session;
  readonly turn: TurnRecord;
  readonly inbox: readonly InboxMessage[];
};

/** The session is read first: what comes after it moves it. Undefined when it has ended or does not exist. */
export const readCancelable = async (
  sessions: Pick<SessionStore, 'get' | 'loadWork'>,
  id: SessionId,
): Promise<Cancelable | undefined> => {
  const session = await sessions.get(id);
  if (session === undefined || isEnded(session.status)) return undefined;
  const { turn, inbox } = await sessions.loadWork(id);
  return { session, turn, inbox };
};

export type Cancelled =
  /** `more`: other messages wait. With the session as it stands after it. */
  | { readonly status: 'done' | 'more'; readonly session: Session }
  /** The turn moved since it was read. */
  | { readonly status: 'moved' }
  | { readonly status: 'nothing' };

export const cancelNext = async (
  ports: CancelPorts,
  { session, turn, inbox }: Cancelable,
): Promise<Cancelled> => {
  const { state } = turn;
  const isRunning = 'messageId' in state;
  const completed = isRunning ? inbox.find(({ messageId }) => messageId === state.messageId) : inbox[0];
  if (!isRunning && completed === undefined) return { status: 'nothing' };
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
  const commit = { session, turn, step, at, completed, patch, wakes: hasMore };
  const committed = await commitUnleased(ports, commit);
  if (committed === undefined) return { status: 'moved' };
  return { status: hasMore ? 'more' : 'done', session: committed };
};

const startedAndCancelled = (
  { state }: TurnRecord,
  { message, at, turnId, spentUsd }: { message: InboxMessage; at: number; turnId: TurnId; spentUsd: number },
): TurnStep => {
  const { messageId, text } = message;
  const policy = { mode: 'ask' as const, grants: [] };
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
