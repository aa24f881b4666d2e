/**
 * Cancels what a session works on: its running turn, or the oldest message that waits, gets its completion.
 *
 * The holder of a turn whose model answers cancels it itself, with the text that has come. Any other reads within a second or
 * so that its turn moved and has its tools killed; results that it still gets of them are not written.
 */

import type { cancelledWork } from '../../../contracts/rest/conversation-view.ts';
import type { MessageId, SessionId, TurnId } from '../../../domain/ids.ts';
import { isEnded, type Session } from '../../../domain/session.ts';
import { generationsOf } from '../../../domain/session-tree.ts';
import { startedBy } from '../../../domain/turn/begin-turn.ts';
import { killsOf } from '../../../domain/turn/pending-work.ts';
import { reduce } from '../../../domain/turn/reduce.ts';
import { activityAt, completedMessage, messagesBehind } from '../../../domain/turn/session-after-step.ts';
import type { TurnRecord, TurnState, TurnStep } from '../../../domain/turn/turn.ts';
import { AppError } from '../../../errors.ts';
import type { InboxMessage } from '../../../ports/inbox.ts';
import type { Deps, TurnDeps } from '../../deps.ts';
import { changesTooOften, raceLost, untilWon } from '../../write-race.ts';
import { commitStep } from '../commit/apply-event.ts';
import type { FoundTurn } from '../commit/commit-without-lease.ts';
import { notifyParent } from '../commit/notify-parent.ts';
import { printedIn } from '../commit/printed-output.ts';

/** A cancellation asks for nothing, so no limit can be met. */
const limits = {
  stepsMax: Number.MAX_SAFE_INTEGER,
  callsMax: Number.MAX_SAFE_INTEGER,
  usdMax: Number.POSITIVE_INFINITY,
};

/** The request of a client; nothing to cancel is no error. The work of a message that comes next is left alone. */
export const cancelTurn = async (ports: TurnDeps, id: SessionId): Promise<boolean> =>
  (await cancelWork(ports, id, async () => [])).hadWork;

export type CancelledTree = (typeof cancelledWork)[number];

/**
 * Cancels the work of a session, and the work that all sessions under it do for it. Programs of an execution session are the work of requests:
 * a client that wants them cancelled is told so, and not that nothing runs.
 */
export const cancelTree = async (ports: TurnDeps, id: SessionId): Promise<CancelledTree> => {
  const { hadWork, children, session } = await cancelWork(ports, id, childrenOf);
  const hadWorkBelow = await cancelAll(ports, children);
  if (hadWork) return 'turn';
  if (hadWorkBelow) return 'below';
  if (session !== undefined && runsProgram(session, ports.world.now())) throw runsByRequest();
  return 'nothing';
};

const runsProgram = ({ kind, runningCalls }: Session, now: number): boolean =>
  kind === 'execution' && Object.values(runningCalls).some((until) => until > now);

const runsByRequest = (): AppError =>
  new AppError(
    'invalid_session_state',
    'an execution session has no turn to cancel; its program keeps running',
    {
      suggestions: ['Cancel the request that runs the program, or end the session.'],
    },
  );

/** The living, nearest first. */
type Generations = readonly (readonly Session[])[];

/** With the session as it was read, if it lives. */
type CancelledWork = {
  readonly hadWork: boolean;
  readonly children: Generations;
  readonly session?: Session;
};

/**
 * The children are listed before the cancel is written: those of the next message are not among them. One that the turn asks after
 * the list moves the turn.
 */
const cancelWork = (
  ports: TurnDeps,
  id: SessionId,
  list: (ports: TurnDeps, session: Session) => Promise<Generations>,
): Promise<CancelledWork> => {
  let asked: MessageId | undefined;
  let children: Generations = [];
  return untilWon(async () => {
    const found = await readCancelable(ports, id);
    if (found === undefined) return { hadWork: false, children };
    const { session } = found;
    const message = messageOf(found);
    asked ??= message;
    if (message !== asked) return { hadWork: false, children, session };
    children = await list(ports, session);
    if (await askHolderToCancel(ports, found)) return { hadWork: true, children, session };
    const cancelled = await cancelNext(ports, found);
    if (cancelled.status === 'moved') return raceLost;
    if (cancelled.status === 'nothing') return { hadWork: false, children, session };
    await killDetached(ports, cancelled);
    if (cancelled.status === 'more') await ports.invoker.runTurn(id);
    await notifyParent(ports, session);
    return { hadWork: true, children, session };
  }, changesTooOften('the turn'));
};

/** The message that is worked on, or that is next. */
const messageOf = ({ turn: { state }, inbox }: Cancelable): MessageId | undefined =>
  'messageId' in state ? state.messageId : inbox[0]?.messageId;

/** Has the calls killed that run in the sandbox while no function waits for them, as between two holders. */
export const killDetached = async (
  { invoker }: Deps<'invoker'>,
  { session, kills }: Pick<Extract<Cancelled, { status: 'done' | 'more' }>, 'session' | 'kills'>,
): Promise<void> => {
  if (kills.length > 0) await invoker.runTurn(session.id, { kills });
};

/** A session that was read before its first child was made does not know of it. */
export const childrenOf = async (
  { sessions }: Deps<'sessions'>,
  { id, tree: membership }: Session,
): Promise<Generations> => {
  const tree = await sessions.descendants(membership?.root ?? id);
  return generationsOf(tree, id).map((generation) => generation.filter(({ status }) => !isEnded(status)));
};

/** True when one of them had work. An idle child may have a message that has not been taken up yet. */
export const cancelAll = async (ports: TurnDeps, generations: Generations): Promise<boolean> => {
  let hadWork = false;
  for (const living of generations) {
    const cancelled = await Promise.all(living.map((child) => cancelTurn(ports, child.id)));
    hadWork ||= cancelled.includes(true);
  }
  return hadWork;
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
  | { readonly status: 'done' | 'more'; readonly session: Session; readonly kills: readonly string[] }
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
      ? reduce(state, { type: 'cancelled', at, printed: await printedIn(ports, session.id, state) }, limits)
      : next && beginAndCancel(ports, state, { message: next, at, spentUsd: session.costUsd });
  if (step === undefined) return { status: 'nothing' };
  const completed = completedMessage(state, step, inbox);
  const hasMore = messagesBehind(inbox, completed).length > 0;
  const patch = activityAt(at, { isIdle: !hasMore });
  const commit = { session, turn, step, at, completed, patch, wakes: hasMore };
  const committed = await commitStep(ports, commit);
  if (committed === undefined) return { status: 'moved' };
  const kills = killsOf(state, session.lease.until > at);
  return { status: hasMore ? 'more' : 'done', session: committed, kills };
};

type Unstarted = { readonly message: InboxMessage; readonly at: number; readonly spentUsd: number };

const beginAndCancel = (
  { world }: TurnDeps,
  state: TurnState,
  { message, at, spentUsd }: Unstarted,
): TurnStep => {
  const turnId = world.uuid() as TurnId;
  const policy = { mode: 'ask' as const, grants: [] };
  const started = reduce(state, startedBy(message, { at, turnId, policy, spentUsd }), limits);
  const cancelled = reduce(started.state, { type: 'cancelled', at }, limits);
  return {
    state: cancelled.state,
    log: [...started.log, ...cancelled.log],
    history: [...started.history, ...cancelled.history],
  };
};

/** Of the two seconds that a cancel may take; the holder reads every half second. */
const heardMsMax = 1500;
const lookMs = 100;

/**
 * Only the holder of a turn whose model answers has the text that has come so far, so it is asked to cancel by a mark beside the version
 * that was read: a step of the turn takes it away. A holder that does not hear it in time is passed over, and the text is lost with it.
 * True when the turn is over: its holder cancelled it, or it ended by itself.
 */

export const askHolderToCancel = async (
  { turns, world }: Deps<'turns' | 'world'>,
  { session: { id, lease }, turn: { state, version } }: FoundTurn,
): Promise<boolean> => {
  if (state.kind !== 'thinking' || lease.until <= world.now()) return false;
  const until = world.now() + heardMsMax;
  let hasMoved = !(await turns.askToCancel(id, version));
  while (!hasMoved && world.now() < until) {
    await world.sleep(lookMs);
    hasMoved = (await turns.readVersion(id)).version !== version;
  }
  if (!hasMoved) return false;
  const now = (await turns.getWithTurn(id))?.turn.state;
  return !(now !== undefined && 'messageId' in now && now.turnId === state.turnId);
};
