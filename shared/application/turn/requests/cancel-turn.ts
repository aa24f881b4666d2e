/**
 * Cancels what a session works on: its running turn, or the oldest message that waits, gets its completion.
 *
 * The holder of the turn reads within a second or so that it moved, closes its model call and has its tools killed; results that it
 * still gets of them are not written.
 */

import type { SessionId, TurnId } from '../../../domain/ids.ts';
import { isEnded, type Session, treeOf } from '../../../domain/session.ts';
import { generationsOf } from '../../../domain/session-tree.ts';
import { completedMessage } from '../../../domain/turn/after-step.ts';
import { reduce } from '../../../domain/turn/reduce.ts';
import type { TurnRecord, TurnState, TurnStep } from '../../../domain/turn/turn.ts';
import { AppError } from '../../../errors.ts';
import type { InboxMessage } from '../../../ports/inbox.ts';
import type { Deps, TurnDeps } from '../../deps.ts';
import { commitStep } from '../commit/apply-event.ts';
import { notifyParent } from '../commit/notify-parent.ts';

/** A cancellation asks for nothing, so no limit can be met. */
const limits = {
  stepsMax: Number.MAX_SAFE_INTEGER,
  callsMax: Number.MAX_SAFE_INTEGER,
  usdMax: Number.POSITIVE_INFINITY,
};
const racesMax = 20;

/** The request of a client; nothing to cancel is no error. */
export const cancelTurn = async (ports: TurnDeps, id: SessionId, correlationId: string): Promise<void> => {
  for (let race = 0; race < racesMax; race += 1) {
    const found = await readCancelable(ports, id);
    if (found === undefined) return;
    const cancelled = await cancelNext(ports, found);
    if (cancelled.status === 'moved') continue;
    if (cancelled.status === 'more') await ports.invoker.runTurn(id, correlationId);
    if (cancelled.status !== 'nothing') await notifyParent(ports, found.session, correlationId);
    return;
  }
  throw new AppError('conflict', 'the turn moved each time it was to be cancelled', {
    suggestions: ['Cancel it again.'],
    recoveryActions: ['retry_operation'],
  });
};

/** Cancels the work of a session, and the work that all sessions under it do for it. */
export const cancelTree = async (ports: TurnDeps, id: SessionId, correlationId: string): Promise<void> => {
  await cancelTurn(ports, id, correlationId);
  const session = await ports.sessions.get(id);
  if (session !== undefined && treeOf(session) !== undefined)
    await cancelChildren(ports, session, correlationId);
};

/** An idle child may have a message that has not been taken up yet. */
export const cancelChildren = async (
  ports: TurnDeps,
  { id, tree: membership }: Session,
  correlationId: string,
): Promise<void> => {
  const tree = await ports.sessions.descendants(membership?.root ?? id);
  for (const generation of generationsOf(tree, id)) {
    const living = generation.filter(({ status }) => !isEnded(status));
    await Promise.all(living.map((child) => cancelTurn(ports, child.id, correlationId)));
  }
};

export type Cancelable = {
  readonly session: Session;
  readonly turn: TurnRecord;
  readonly inbox: readonly InboxMessage[];
};

/** The session is read first: a message that comes after that moves it. Undefined when it has ended or does not exist. */
export const readCancelable = async (
  { sessions, turns }: Deps<'sessions' | 'turns'>,
  id: SessionId,
): Promise<Cancelable | undefined> => {
  const session = await sessions.get(id);
  if (session === undefined || isEnded(session.status)) return undefined;
  const { turn, inbox } = await turns.loadWork(id);
  return { session, turn, inbox };
};

export type Cancelled =
  /** `more`: other messages wait. With the session as it stands after it. */
  | { readonly status: 'done' | 'more'; readonly session: Session }
  /** The turn moved since it was read. */
  | { readonly status: 'moved' }
  | { readonly status: 'nothing' };

export const cancelNext = async (
  ports: TurnDeps,
  { session, turn, inbox }: Cancelable,
): Promise<Cancelled> => {
  const { state } = turn;
  const [next] = inbox;
  const at = ports.world.now();
  const step =
    'messageId' in state
      ? reduce(state, { type: 'cancelled', at }, limits)
      : next && beginAndCancel(ports, state, { message: next, at, spentUsd: session.costUsd });
  if (step === undefined) return { status: 'nothing' };
  const completed = completedMessage(state, step, inbox);
  const hasMore = inbox.some((message) => message !== completed);
  const patch = { lastActiveAt: at, ...(hasMore ? {} : { status: 'idle' as const }) };
  const commit = { session, turn, step, at, completed, patch, wakes: hasMore };
  const committed = await commitStep(ports, commit);
  if (committed === undefined) return { status: 'moved' };
  return { status: hasMore ? 'more' : 'done', session: committed };
};

type Unstarted = { readonly message: InboxMessage; readonly at: number; readonly spentUsd: number };

const beginAndCancel = (
  { world }: TurnDeps,
  state: TurnState,
  { message: { messageId, text }, at, spentUsd }: Unstarted,
): TurnStep => {
  const turnId = world.uuid() as TurnId;
  const policy = { mode: 'ask' as const, grants: [] };
  const begin = { type: 'started' as const, at, turnId, message: { messageId, text }, policy, spentUsd };
  const started = reduce(state, begin, limits);
  const cancelled = reduce(started.state, { type: 'cancelled', at }, limits);
  return {
    state: cancelled.state,
    log: [...started.log, ...cancelled.log],
    history: [...started.history, ...cancelled.history],
  };
};
