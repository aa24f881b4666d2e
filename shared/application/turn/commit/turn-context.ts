/** The context of a turn: all that its holder has read of it, and the outcomes of a commit. */

import type { Caller } from '../../../domain/caller-tool.ts';
import type { FeaturesSeen } from '../../../domain/features.ts';
import type { HistoryLimits, HistoryMessage } from '../../../domain/history.ts';
import type { CallId } from '../../../domain/ids.ts';
import type { LiveSandbox, Workspace } from '../../../domain/sandbox.ts';
import type { Session } from '../../../domain/session.ts';
import type { TreeLimits } from '../../../domain/session-tree.ts';
import type { TurnLimits, TurnRecord } from '../../../domain/turn/turn.ts';
import type { InboxMessage } from '../../../ports/inbox.ts';
import type { Deps, TurnDeps } from '../../deps.ts';
import { openPublisher, type Publisher } from '../../events/publisher.ts';
import { monitorTurn, type TurnMonitor } from './turn-monitor.ts';

export type StepLimits = {
  readonly turn: TurnLimits;
  readonly history: HistoryLimits;
  /** The operator's, of trees of sessions. */
  readonly tree: Required<TreeLimits>;
  /** Milliseconds that an idle session waits for the janitor. */
  readonly idleMs: number;
};

/** A sandbox and its workspace as it was read when the sandbox was found ready. */
export type UsedSandbox = { readonly sandbox: LiveSandbox; readonly workspace: Workspace };

export type TurnContext = {
  readonly session: Session;
  readonly turn: TurnRecord;
  readonly history: readonly HistoryMessage[];
  readonly inbox: readonly InboxMessage[];
  readonly callers: readonly Caller[];
  /** The features of the deployment, as the function that invoked this one read them. */
  readonly seen?: FeaturesSeen | undefined;
  readonly limits: StepLimits;
  readonly publisher: Publisher;
  /** One for as long as the lease is held. */
  readonly monitor: TurnMonitor;
  /** Where tools ran since the workspace was last saved. */
  readonly used?: UsedSandbox;
};

/** The state in which the holder of a turn finds it after a write, a read or a wait. */
export type CommitOutcome =
  /** The context is the turn as it stands; the lease is held. */
  | { readonly status: 'current'; readonly context: TurnContext }
  /** Committed; work came that is not in the context: reload. */
  | { readonly status: 'behind'; readonly context: TurnContext }
  /** Another caller moved the turn; nothing was written: reload. */
  | { readonly status: 'moved'; readonly context: TurnContext }
  /** The checkpoint does not follow the last one; nothing was written. */
  | { readonly status: 'unsaved'; readonly context: TurnContext }
  /** Committed, and the lease was given back: nothing is left to do. */
  | { readonly status: 'released'; readonly context: TurnContext }
  /** Another invocation holds the lease, or the session has ended; nothing was written. */
  | { readonly status: 'lost'; readonly context: TurnContext };

type Hold = {
  readonly limits: StepLimits;
  readonly seen?: FeaturesSeen | undefined;
  /** Epoch milliseconds at which the invocation began, and after which nothing long may run. */
  readonly startedAt: number;
  readonly handoverAt: number;
};

export const loadTurn = async (
  ports: TurnDeps,
  session: Session,
  { limits, seen, ...times }: Hold,
): Promise<TurnContext> => {
  const { subscribers, ...loaded } = await ports.turns.loadWork(session.id);
  const publisher = openPublisher(ports, session, subscribers);
  const { version } = loaded.turn;
  const onSubscribers = publisher.setSubscribers;
  const monitor = monitorTurn(ports, { sessionId: session.id, version, onSubscribers, ...times });
  return { session, ...loaded, seen, limits, publisher, monitor };
};

/** The turn as it stands now, if the lease is still held. */
export const reloadTurn = async (
  { sessions, turns }: Deps<'sessions' | 'turns'>,
  context: TurnContext,
): Promise<CommitOutcome> => {
  const { publisher, monitor } = context;
  const session = await sessions.get(context.session.id);
  if (session === undefined || session.lease.fence !== context.session.lease.fence)
    return { status: 'lost', context };
  const { subscribers, ...loaded } = await turns.loadWork(session.id);
  publisher.setSubscribers(subscribers);
  if (monitor.interruption() !== 'deadline') monitor.restart(loaded.turn.version);
  return { status: 'current', context: { ...context, session, ...loaded } };
};

/** As `reloadTurn`; `moved` when these calls do not run in the turn any more: another caller cancelled it. */
export const reloadRunning = async (
  ports: Deps<'sessions' | 'turns'>,
  { used, ...context }: TurnContext,
  running: readonly CallId[],
): Promise<CommitOutcome> => {
  const reloaded = await reloadTurn(ports, context);
  const { state } = reloaded.context.turn;
  const runs = (callId: CallId): boolean =>
    state.kind === 'acting' &&
    state.calls.some(
      (call) => call.callId === callId && call.status === 'executing' && call.wait === undefined,
    );
  if (reloaded.status !== 'current') return reloaded;
  // Work that came in between stays unseen: a child that answered is collected once these calls have ended.
  const session = { ...reloaded.context.session, workSeq: context.session.workSeq };
  return running.every(runs)
    ? {
        status: 'current',
        context: { ...reloaded.context, session, ...(used === undefined ? {} : { used }) },
      }
    : { status: 'moved', context: reloaded.context };
};

/** The context of a holder that was interrupted. Calls in a sandbox go on: the next holder asks for them by their keys. */
export const interrupted = (context: TurnContext): CommitOutcome => {
  const why = context.monitor.interruption();
  return { status: why === 'lost' || why === 'moved' ? why : 'current', context };
};
