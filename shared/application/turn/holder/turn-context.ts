/** The context of a turn: everything that its holder has read of it, and the outcomes of a commit. */

import type { ReadAttachment } from '../../../domain/attachment.ts';
import { type Caller, openCallers } from '../../../domain/caller-tool.ts';
import type { FeaturesSeen } from '../../../domain/features.ts';
import type { HistoryLimits, HistoryMessage } from '../../../domain/history.ts';
import type { CallId } from '../../../domain/ids.ts';
import type { LiveSandbox, Workspace } from '../../../domain/sandbox.ts';
import type { Session } from '../../../domain/session.ts';
import { isSlotOf } from '../../../domain/session-slot.ts';
import type { TreeLimits } from '../../../domain/session-tree.ts';
import type { Slot } from '../../../domain/slot.ts';
import { isNextHolder, type SessionMark } from '../../../domain/turn/session-mark.ts';
import { isDelegated } from '../../../domain/turn/tool-call.ts';
import type { TurnLimits, TurnRecord } from '../../../domain/turn/turn.ts';
import type { InboxMessage } from '../../../ports/inbox.ts';
import type { SessionWork, TurnStore } from '../../../ports/turn-store.ts';
import type { Deps, TurnDeps } from '../../deps.ts';
import { openPublisher, type Publisher } from '../../events/publisher.ts';
import { openStreamedText } from '../../events/streamed-text.ts';
import type { KnownTemplates } from '../../sandbox/known-template.ts';
import { monitorTurn, type TurnMonitor } from './turn-monitor.ts';

export type StepLimits = {
  readonly turn: TurnLimits;
  readonly history: HistoryLimits;
  /** The operator's, of trees of sessions. */
  readonly tree: Required<TreeLimits>;
  /** Those a child may be given. Absent: the operator names none. */
  readonly templates?: KnownTemplates;
  /** Milliseconds that an idle session waits for the janitor. */
  readonly idleMs: number;
  /** Milliseconds after which its sandbox stops while only a person can move the turn. */
  readonly waitStopMs: number;
};

/** A sandbox and its workspace as it was read when the sandbox was found ready. */
export type UsedSandbox = { readonly sandbox: LiveSandbox; readonly workspace: Workspace };

export type TurnContext = {
  readonly session: Session;
  readonly turn: TurnRecord;
  readonly history: readonly HistoryMessage[];
  readonly inbox: readonly InboxMessage[];
  readonly callers: readonly Caller[];
  /** The text that its agent reads before every conversation. */
  readonly instructions?: string;
  /** The features of the deployment, as the function that invoked this one read them. */
  readonly seen?: FeaturesSeen | undefined;
  readonly limits: StepLimits;
  readonly publisher: Publisher;
  /** One for as long as the lease is held. */
  readonly monitor: TurnMonitor;
  /** Where tools ran since the workspace was last saved. */
  readonly used?: UsedSandbox;
  /** The attached files that were read for its model, by path. */
  readonly shown: Map<string, ReadAttachment>;
  /** The session's slot as this holder knows it, where it differs from the session's record. */
  readonly slot?: Slot;
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
  /** The turn that begins needs a slot, and none is free; nothing was written. */
  | { readonly status: 'full'; readonly context: TurnContext }
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
  { session: held, work: read }: Acquired,
  { limits, seen, ...times }: Hold,
): Promise<TurnContext> => {
  const readAt = read === undefined ? ports.world.now() : times.startedAt;
  const { subscribers, session, ...loaded } = await loadWork(ports, held, read);
  const publisher = openPublisher(ports, session, { subscribers, readAt, streamed: openStreamedText() });
  const { version } = loaded.turn;
  const onSubscribers = publisher.setSubscribers;
  const monitor = monitorTurn(ports, { sessionId: session.id, version, onSubscribers, ...times });
  return { session, ...loaded, seen, limits, publisher, monitor, shown: new Map() };
};

/** The session is read again where a step of another caller came between it and its turn; not under another's lease. */
const loadWork = async (
  { sessions, turns }: Deps<'sessions' | 'turns'>,
  held: Session,
  read?: Acquired['work'],
) => {
  const { callers, ...rest } = read ?? (await turns.loadWork(held.id));
  const work = { ...rest, callers: openCallers(callers, rest.subscribers) };
  if (isSlotOf(held, work.turn.state)) return { ...work, session: held };
  const now = await sessions.get(held.id);
  return { ...work, session: now?.lease.fence === held.lease.fence ? now : held };
};

/** The turn as it stands now, if the lease is still held. */
export const reloadTurn = async (
  { sessions, turns, world }: Deps<'sessions' | 'turns' | 'world'>,
  context: TurnContext,
): Promise<CommitOutcome> => {
  const { publisher, monitor } = context;
  const held = await sessions.get(context.session.id);
  if (held === undefined || held.lease.fence !== context.session.lease.fence)
    return { status: 'lost', context };
  const readAt = world.now();
  const { subscribers, session, ...loaded } = await loadWork({ sessions, turns }, held);
  publisher.setSubscribers(subscribers, readAt);
  if (monitor.interruption() !== 'deadline') monitor.restart(loaded.turn.version);
  return { status: 'current', context: { ...context, session, ...loaded } };
};

/** As `reloadTurn`; `moved` when these calls do not run in the turn any more: another caller cancelled it. */
export const reloadRunning = async (
  ports: Deps<'sessions' | 'turns' | 'world'>,
  { used, ...context }: TurnContext,
  running: readonly CallId[],
): Promise<CommitOutcome> => {
  const reloaded = await reloadTurn(ports, context);
  const { state } = reloaded.context.turn;
  const runs = (callId: CallId): boolean =>
    state.kind === 'acting' &&
    state.calls.some((call) => call.callId === callId && call.status === 'executing' && !isDelegated(call));
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
  if (why === 'lost') return { status: 'lost', context };
  return { status: why === 'deadline' ? 'current' : 'moved', context };
};

export type Acquired = {
  readonly session: Session;
  /** Absent: it is to be read under the lease. */
  readonly work?: SessionWork;
};

/**
 * Takes the lease, beside a read of the work where the function was invoked for a message that was accepted while the session rested.
 * Such a read counts only where nothing but that message has come since: a message that came after the read would otherwise be left
 * behind by a holder that takes it for seen. Undefined when another holder has the lease.
 */
export const acquireTurn = async (
  { turns }: Deps<'turns'>,
  id: Session['id'],
  {
    lease,
    mark,
  }: { readonly lease: Parameters<TurnStore['takeLease']>[1]; readonly mark?: SessionMark | undefined },
): Promise<Acquired | undefined> => {
  // A read that fails is made again under the lease.
  const reading = mark === undefined ? undefined : turns.loadWork(id).catch(() => undefined);
  const session = await turns.takeLease(id, lease);
  if (session === undefined) return undefined;
  const work = mark !== undefined && isNextHolder(mark, session) ? await reading : undefined;
  return { session, ...(work === undefined ? {} : { work }) };
};
