/**
 * Applies an event to a turn: reduces it, commits what follows in one write, then publishes it. The only committer of
 * turns, for the holder of the lease and for callers without one.
 *
 * Nothing that was done half is lost when a commit finds the turn changed: the next holder reads the same pending work.
 */

import { eventFrame } from '../../../contracts/frames.ts';
import { InvariantError } from '../../../domain/assert.ts';
import type { AuditRow } from '../../../domain/audit.ts';
import type { LastDecision } from '../../../domain/audit-seal.ts';
import type { LogEntry } from '../../../domain/event-log.ts';
import { type FeaturesSeen, isUnused } from '../../../domain/features.ts';
import { droppedByTruncation } from '../../../domain/history.ts';
import type { Session } from '../../../domain/session.ts';
import { slotChangeOf } from '../../../domain/session-slot.ts';
import { withOwnMoney } from '../../../domain/session-tree.ts';
import { type IdleTimes, idleTimesOf, nextLook } from '../../../domain/turn/pending-work.ts';
import { reduce } from '../../../domain/turn/reduce.ts';
import type { SavedFiles } from '../../../domain/turn/saved-files.ts';
import {
  afterHeldStep,
  afterUnleasedStep,
  completedMessage,
  hasNothingToDo,
  messagesBehind,
  spendOf,
  weighsMoney,
} from '../../../domain/turn/session-after-step.ts';
import {
  isBetweenTurns,
  type TurnEvent,
  type TurnRecord,
  type TurnState,
  type TurnStep,
} from '../../../domain/turn/turn.ts';
import { withFiles } from '../../../domain/turn/unsaved-files.ts';
import { waitingChange } from '../../../domain/turn/waiting-call.ts';
import { occurrencesOf } from '../../../domain/webhook/notice.ts';
import type { InboxMessage } from '../../../ports/inbox.ts';
import type {
  CheckpointNote,
  CommitResult,
  SessionPatch,
  TurnCommit,
  TurnSlot,
} from '../../../ports/turn-store.ts';
import type { TurnDeps } from '../../deps.ts';
import { openPublisher, type Publisher } from '../../events/publisher.ts';
import { noticesOf, sendNotices } from '../../events/webhook-notices.ts';
import type { CommitOutcome, TurnContext } from '../holder/turn-context.ts';
import { chainedTo, ruleAuditRows } from './chain-audits.ts';
import { filesAtTurnEnd } from './files-at-turn-end.ts';
import { recordStep } from './record-step.ts';

export type Applied = {
  readonly event: TurnEvent;
  /** Entries before those of the event. */
  readonly log?: readonly LogEntry[];
  /** More follows at once: the lease stays. */
  readonly keepsLease?: boolean;
  /** A checkpoint that this write makes known. */
  readonly checkpoint?: CheckpointNote | undefined;
  /** For an event that begins a turn. */
  readonly slotsMax?: number;
  /** As the last save of the turn left them; an answer of the model brings its own. */
  readonly files?: SavedFiles | undefined;
};

/** For the holder of the lease. */
export const applyEvent = async (
  ports: TurnDeps,
  context: TurnContext,
  { event, log = [], checkpoint, keepsLease = false, slotsMax, files }: Applied,
): Promise<CommitOutcome> => {
  const { session, turn, seen, limits, publisher } = context;
  context.monitor.expectVersion(turn.version + 1);
  const reduced = reduce(turn.state, event, withOwnMoney(limits.turn, session));
  const saved = event.type === 'model-answered' ? event.files : files;
  const step = withFiles(reduced, saved, turn.state);
  // A holder's own events always apply: one that does not would be performed again without end.
  if (step.ignored !== undefined) throw new InvariantError(`the turn ignored ${event.type}: ${step.ignored}`);
  const completed = completedMessage(turn.state, step, context.inbox);
  const inbox = messagesBehind(context.inbox, completed);
  const history = [...context.history, ...step.history];
  const dropped = droppedByTruncation(history, limits.history, context.history.length);
  const first = turn.historyNext - context.history.length;
  const release = !keepsLease && hasNothingToDo(step.state, inbox);
  const isInboxEmpty = inbox.length === 0;
  const result = await commit(ports, {
    ...{
      session,
      turn: { ...turn, ...measuredBy(event), historyFrom: first + dropped },
      step,
      seen,
      publisher,
      at: event.at,
      completed,
    },
    fence: session.lease.fence,
    log,
    ...(event.type === 'started' && completed === undefined ? { begins: begun(event, context.inbox) } : {}),
    patch: afterHeldStep(session, turn.state, { event, step, isInboxEmpty }),
    slot: slotOf(context, step.state, { hasMessages: !isInboxEmpty, release, slotsMax }),
    ...(checkpoint === undefined ? {} : { note: checkpoint }),
    spends: spendOf(session, event),
    ...chainedTo(turn.decided, ruleAuditRows(session, event, step), ports.world.sha256),
    release,
    wakes: false,
    times: limits,
  });
  if (result.status === 'moved' || result.status === 'unsaved' || result.status === 'full')
    return { status: result.status, context };
  if (result.status === 'stale') {
    ports.telemetry.count('LeasesLost');
    return { status: 'lost', context };
  }
  const isReleased = result.status === 'committed' && release;
  const status = isReleased ? 'released' : result.status === 'kept' ? 'behind' : 'current';
  const { session: after, turn: next } = result;
  const { slot: known, ...kept } = context;
  // A slot that moved is as the session's record says.
  const isKnown = known !== undefined && after.slot === session.slot;
  return {
    status,
    context: {
      ...{ ...kept, ...(isKnown ? { slot: known } : {}) },
      ...{ session: after, turn: next, history: history.slice(dropped), inbox },
    },
  };
};

const measuredBy = (event: TurnEvent): Pick<TurnRecord, 'measured'> =>
  event.type === 'model-answered' && event.measured !== undefined ? { measured: event.measured } : {};

type SlotStep = {
  readonly hasMessages: boolean;
  readonly release: boolean;
  readonly slotsMax: number | undefined;
};

/** The end of a turn gives its slot back only where it gives the lease back: it may go on with a message. */
const slotOf = (
  { session, slot }: TurnContext,
  state: TurnState,
  { hasMessages, release, slotsMax }: SlotStep,
): TurnSlot | undefined => {
  const change = slotChangeOf(session, state, hasMessages);
  if (change === undefined || (change === 'turn-began' && slotsMax === undefined)) return undefined;
  if (change === 'turn-rested' && state.kind === 'done' && !release) return undefined;
  // The sandbox is as the holder saw it last; the turn's part may have moved since.
  const { turn: _, ...others } = slot ?? session.slot ?? {};
  const known = session.slot?.turn === undefined ? others : { ...others, turn: true as const };
  return { change, known, ...(slotsMax === undefined ? {} : { slotsMax }) };
};

/** A turn that is over as it begins completes its message, which it deletes. */
const begun = (
  { message: { messageId } }: Extract<TurnEvent, { type: 'started' }>,
  inbox: readonly InboxMessage[],
): InboxMessage | undefined => inbox.find((message) => message.messageId === messageId);

type AppliedEvents = Pick<Applied, 'keepsLease'> & { readonly events: readonly TurnEvent[] };

/** Applies events one after the other in one hold of the lease; undefined when there are none. */
export const applyEvents = async (
  ports: TurnDeps,
  context: TurnContext,
  { events, keepsLease = false }: AppliedEvents,
): Promise<CommitOutcome | undefined> => {
  let outcome: CommitOutcome | undefined;
  for (const [index, event] of events.entries()) {
    // An event that is known already has no other caller that would come for it again.
    const applied = { event, keepsLease: keepsLease || index < events.length - 1 };
    outcome = await applyEvent(ports, outcome?.context ?? context, applied);
    if (outcome.status !== 'current') return outcome;
  }
  return outcome;
};

export type SingleStep = {
  readonly session: Session;
  readonly turn: TurnRecord;
  readonly seen?: FeaturesSeen | undefined;
  readonly step: TurnStep;
  readonly at: number;
  readonly completed?: InboxMessage | undefined;
  readonly patch?: SessionPatch;
  readonly audits?: readonly AuditRow[];
  /** The last of these rows, if they are decisions. */
  readonly decided?: LastDecision;
  /** Absent: one of its own. */
  readonly publisher?: Publisher;
  /** The turn function has something to do after it. */
  readonly wakes: boolean;
  /** Of the caller's lease, if it took one: nothing is written once it is lost. */
  readonly fence?: number | undefined;
};

/**
 * Commits a step that is no part of a holder's loop: the version of the turn guards it, and the fence of one that holds the lease.
 * Gives the session as it stands after it; undefined when another caller moved the turn: nothing was written. A turn that rested and
 * goes on has no slot until its next message.
 */
export const commitStep = async (ports: TurnDeps, step: SingleStep): Promise<Session | undefined> =>
  sessionAfter(await commitSingle(ports, step));

/** The same where a turn that rested takes a slot as it goes on; `full` when none is free: nothing was written. */
export const commitStepInSlot = async (
  ports: TurnDeps,
  step: SingleStep,
  slotsMax: number,
): Promise<Session | 'full' | undefined> => {
  const result = await commitSingle(ports, step, slotsMax);
  return result.status === 'full' ? 'full' : sessionAfter(result);
};

const sessionAfter = (result: CommitResult): Session | undefined =>
  result.status === 'committed' || result.status === 'kept' ? result.session : undefined;

const commitSingle = async (
  ports: TurnDeps,
  { session, turn, step: reduced, at, patch, ...rest }: SingleStep,
  slotsMax?: number,
): Promise<CommitResult> => {
  const { state } = reduced;
  const isToSay = state.kind === 'done' && state.stopReason !== 'cancelled';
  const left = isToSay ? await filesAtTurnEnd(ports, session, turn.state) : undefined;
  const step = left?.files === undefined ? reduced : withFiles(reduced, left.files, turn.state);
  // A step beside the turns completes no message: one that waits keeps the slot.
  const isBeside = isBetweenTurns(turn.state) && rest.completed === undefined;
  const change = isBeside ? undefined : slotChangeOf(session, step.state, rest.wakes);
  const takes = change === 'turn-began' && slotsMax !== undefined;
  const slot = { known: session.slot ?? {}, ...(takes ? { slotsMax } : {}) };
  return commit(ports, {
    ...{ session, turn, step, publisher: openPublisher(ports, session), at, log: left?.log ?? [], ...rest },
    patch: { ...afterUnleasedStep(session, turn.state, step), ...patch },
    ...(takes || change === 'turn-rested' ? { slot: { ...slot, change } } : {}),
    release: false,
    times: ports.lifetimes,
  });
};

type Commit = Pick<
  TurnCommit,
  'session' | 'at' | 'completed' | 'begins' | 'log' | 'patch' | 'release' | 'wakes'
> &
  Pick<TurnCommit, 'fence' | 'note' | 'spends' | 'audits' | 'slot' | 'decided'> & {
    readonly turn: TurnRecord;
    readonly step: TurnStep;
    readonly seen?: FeaturesSeen | undefined;
    readonly publisher: Publisher;
    readonly times: IdleTimes;
  };

const commit = async (
  ports: TurnDeps,
  { turn, step, seen, log, publisher, times, ...rest }: Commit,
): Promise<CommitResult> => {
  const { session, at, completed } = rest;
  const { version, historyNext, historyFrom, historyKept, parts, historyParts, decided, measured } = turn;
  const waiting = waitingChange(turn.state, step.state);
  const dueOf = (now: Pick<Session, 'idleMs'>) => nextLook(step.state, at, idleTimesOf(now, times));
  const occurrences = occurrencesOf({ session, before: turn.state, ...step });
  const isWithout = (feature: 'webhooks' | 'approvers') => isUnused(seen, feature, ports.world.now());
  const notices = isWithout('webhooks') ? [] : await noticesOf(ports, occurrences, at);
  const result = await ports.turns.commit({
    ...{ ...rest, version, state: step.state, historyNext, historyFrom, historyKept },
    ...{ parts, historyParts, measured },
    ...(rest.decided === undefined && decided !== undefined ? { decided } : {}),
    weighsMoney: weighsMoney(turn.state, step.state),
    log: [...log, ...step.log],
    history: step.history,
    ...{ waiting, notices, dueAt: dueOf(session), dueOf },
  });
  if (result.status !== 'committed' && result.status !== 'kept') return result;
  recordStep(ports.telemetry, { session, before: turn.state, step, at, completed });
  await sendNotices(ports, notices);
  const published = publisher.publish(result.events.map((event) => eventFrame(session.id, event)));
  const hasChanged = waiting !== undefined && !isWithout('approvers');
  const told = hasChanged ? publisher.waitingChanged(session.project) : published;
  // The holder of the lease goes on, and waits for its subscribers before it ends.
  if (rest.fence === undefined) await told;
  return result;
};
