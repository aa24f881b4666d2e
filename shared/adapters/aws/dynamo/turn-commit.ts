/**
 * The turn's commit: state, log, history and lease move together in one transaction, or not at all.
 *
 * Guarded by the turn's version, by the fence when the writer holds the lease, and by the session's lastSeq,
 * which leaves the log without gaps. A log that grew concurrently is renumbered and retried; work that arrived
 * concurrently keeps the lease; anything else is `stale` and nothing was written.
 */
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { type LogEvent, numberEntries } from '#shared/domain/event-log.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { eventsPerSessionMax } from '#shared/domain/limits.ts';
import { isEnded, type Session } from '#shared/domain/session.ts';
import { turnDetailsOf } from '#shared/domain/session-details.ts';
import type { Slot } from '#shared/domain/slot.ts';
import { slotHolderOf } from '#shared/domain/slot-holder.ts';
import type { TurnRecord } from '#shared/domain/turn/turn.ts';
import type { CommitResult, SessionPatch, TurnCommit, TurnStore } from '#shared/ports/turn-store.ts';
import { waitingActions } from './approvals.ts';
import { auditItem } from './audit-log.ts';
import type { HistoryOptions } from './history-items.ts';
import { droppedMessages, partsFrom, writtenMessages } from './history-writes.ts';
import { completedActions, stillWaits } from './inbox.ts';
import { hasCostAsRead, isDecidedOtherwise } from './session-changed-since-read.ts';
import { eventItem, sessionFrom } from './session-items.ts';
import { type Actions, type SlotMove, transactMoving } from './slot-moves.ts';
import { type Cancellation, type Item, type Key, keys, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { spendOfTree } from './trees.ts';
import { turnItems } from './turn-items.ts';
import { hasInboxAsSeen, sessionUpdate, wakesForNothingElse } from './turn-session.ts';
import { noticePut } from './webhook-items.ts';
import { checkpointed, workspaceUpdate } from './workspace-changes.ts';

/** Every lost race means another writer moved the log; this many in a row means something is wrong. */
const racesMax = 50;
/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html */
const transactionActionsMax = 100;
/** The slot and its counter. */
const slotActionsMax = 2;

export const commitTurn =
  (table: Table, options: HistoryOptions): TurnStore['commit'] =>
  async (first) => {
    let commit = first;
    for (let race = 0; race < racesMax; race += 1) {
      const events = numberEntries(commit.log, { firstSeq: commit.session.lastSeq + 1, at: commit.at });
      const { actionsOf, left, ofInbox, parts, kept } = transaction(table.name, commit, { events, options });
      const moved = await transactMoving(table, slotMove(commit), actionsOf);
      if (moved.status === 'done') {
        await deleteEvents(table, left);
        const slot = commit.slot && moved.slot;
        return committed({ ...commit, ...kept, parts }, { events, slot, releaseRequested: first.release });
      }
      const next =
        moved.status === 'refused' ? afterRefusal(commit, moved.reasons, ofInbox) : ('full' as const);
      if (typeof next === 'string') return { status: next };
      commit = next;
    }
    throw new Error(`session ${first.session.id}: the log moved ${racesMax} times during one commit`);
  };

const slotMove = ({ session, slot, at }: TurnCommit): SlotMove | undefined =>
  slot && {
    ...{ holder: slotHolderOf(session), session: session.id, known: slot.known, at },
    change: { type: slot.change },
    slotsMax: slot.slotsMax,
  };

type Written = {
  readonly events: readonly LogEvent[];
  /** The slot after it, if it moved. */
  readonly slot: Slot | undefined;
  readonly releaseRequested: boolean;
};

const committed = (commit: TurnCommit, { events, slot, releaseRequested }: Written): CommitResult => {
  const { parts = 1 } = commit;
  const turn = { ...turnAfter(commit), ...(parts === 1 ? {} : { parts }) };
  const session = {
    ...commit.session,
    ...commit.patch,
    lastSeq: commit.session.lastSeq + events.length,
    workSeq: commit.session.workSeq + (commit.wakes ? 1 : 0),
    ...(slot === undefined ? {} : { slot }),
  };
  return { status: releaseRequested && !commit.release ? 'kept' : 'committed', session, turn, events };
};

const turnAfter = ({
  version,
  state,
  historyNext,
  history,
  historyFrom,
  historyKept,
  historyParts,
  decided,
  measured,
}: TurnCommit): TurnRecord => ({
  version: version + 1,
  state,
  historyNext: historyNext + history.length,
  historyFrom,
  historyKept,
  ...(historyParts === undefined ? {} : { historyParts }),
  ...(decided === undefined ? {} : { decided }),
  ...(measured === undefined ? {} : { measured }),
});

/** The checkpoint's action is the third. A writer that is stale in other ways, too, reads again anyway. */
const isUnsaved = ({ note }: TurnCommit, [session, turn, checkpoint]: readonly Cancellation[]): boolean =>
  note !== undefined &&
  checkpoint?.code === 'ConditionalCheckFailed' &&
  session?.code !== 'ConditionalCheckFailed' &&
  turn?.code !== 'ConditionalCheckFailed';

/** A message was completed since the inbox was read, or its read met half of a commit. Its actions are the last. */
const isPast = (reasons: readonly Cancellation[], ofInbox: number): boolean =>
  ofInbox > 0 && reasons.slice(-ofInbox).some(({ code }) => code === 'ConditionalCheckFailed');

const afterRefusal = (
  commit: TurnCommit,
  reasons: readonly Cancellation[],
  ofInbox: number,
): TurnCommit | 'unsaved' | 'moved' | 'stale' => {
  if (isUnsaved(commit, reasons)) return 'unsaved';
  return isPast(reasons, ofInbox) ? 'moved' : afterRace(commit, reasons);
};

/** The next attempt after a lost condition; `moved` or `stale` when the writer itself is out of date. */
const afterRace = (
  commit: TurnCommit,
  [session, turn]: readonly Cancellation[],
): TurnCommit | 'moved' | 'stale' => {
  if (turn?.code === 'ConditionalCheckFailed') return 'moved';
  if (session?.item === undefined) return 'stale';
  const now = sessionFrom(session.item);
  const lostLease = commit.fence !== undefined && now.lease.fence !== commit.fence;
  if (lostLease || isEnded(now.status)) return 'stale';
  // The session was read before the turn, by a holder of the lease with it: this patch lacks the cost of a turn that ended in between.
  if (!hasCostAsRead(now, commit.session)) return 'moved';
  const { lastSeq, workSeq, hasChildren } = now;
  const sawAllWork = workSeq === commit.session.workSeq && hasInboxAsSeen(commit, session.item);
  // It wakes nothing for what came since its inbox was read.
  if (wakesForNothingElse(commit) && !sawAllWork) return 'moved';
  if (isDecidedOtherwise(commit, now)) return 'moved';
  // A message that came may be the work: its turn needs the slot.
  const keepsSlot = commit.state.kind === 'done' && !sawAllWork;
  return {
    ...commit,
    ...(keepsSlot ? { slot: undefined } : {}),
    spends: spentOf(commit, now),
    // The writer goes on with the work it has loaded; concurrent work stays in the table.
    session: { ...withChoices(commit.session, now), lastSeq, ...(hasChildren ? { hasChildren } : {}) },
    release: commit.release && sawAllWork,
    dueAt: commit.dueOf?.(now) ?? commit.dueAt,
    patch: patchAfter(commit.patch, now, sawAllWork),
  };
};

/** Its next step has what a person chose by now. */
const withChoices = (session: Session, now: Session): Session =>
  Object.fromEntries(
    Object.entries({ ...withLimits(session, now), ...turnDetailsOf(now) }).filter(
      ([, value]) => value !== undefined,
    ),
  ) as Session;

/** Its next step has the limits and slices of now: an answer that came is paid for, and counts. */
const withLimits = ({ limits: _, tree: __, ...session }: Session, { limits, tree }: Session): Session => ({
  ...session,
  ...(limits === undefined ? {} : { limits }),
  ...(tree === undefined ? {} : { tree }),
});

/** The cost of an answer that came while a program of the sandbox began the tree: it was begun with the cost before (TM5). */
const spentOf = (
  { spends, session: { id, hasChildren, tree, costUsd }, patch }: TurnCommit,
  now: Session,
): TurnCommit['spends'] => {
  if (spends !== undefined || tree !== undefined || hasChildren || !now.hasChildren) return spends;
  const usd = (patch?.costUsd ?? costUsd) - costUsd;
  return usd > 0 ? { root: id, usd } : undefined;
};

/** A sign of life that came concurrently may be newer than the event; a chosen title stays; a session is idle when nothing waits. */
const patchAfter = (
  { title, ...patch }: SessionPatch = {},
  now: Session,
  sawAllWork: boolean,
): SessionPatch => ({
  ...patch,
  ...(title === undefined || now.title !== undefined ? {} : { title }),
  ...(patch.lastActiveAt === undefined
    ? {}
    : { lastActiveAt: Math.max(patch.lastActiveAt, now.lastActiveAt) }),
  ...(patch.status === 'idle' && !sawAllWork ? { status: 'running' } : {}),
});

const deleteEvents = async (table: Table, events: readonly Key[]): Promise<void> => {
  if (events.length === 0) return;
  const TransactItems = events.map((Key) => ({ Delete: { TableName: table.name, Key } }));
  await transact(table, new TransactWriteCommand({ TransactItems }));
};

type Transaction = {
  /** The actions, given the slot after them. */
  readonly actionsOf: (slot: Slot) => Actions;
  /** Of the conversation, after it. */
  readonly kept: Pick<TurnCommit, 'historyKept' | 'historyParts'>;
  /** The number of items of the turn. */
  readonly parts: number;
  /** The number of its last actions, which are of the inbox. */
  readonly ofInbox: number;
  /** Events that the ring has dropped and that the transaction had no room for: they are never read again. */
  readonly left: readonly Key[];
};

/**
 * Dropped items are deleted as far as the transaction has room; messages go with the next commits, events after
 * this one. A function that dies before that leaves them to the end of the session.
 */
const transaction = (
  TableName: string,
  commit: TurnCommit,
  { events, options }: { readonly events: readonly LogEvent[]; readonly options: HistoryOptions },
): Transaction => {
  const { session, history, historyNext: first, historyParts } = commit;
  const { note, spends, audits = [], notices = [] } = commit;
  const updateWith = (slot: Slot) => sessionUpdate(TableName, commit, { eventCount: events.length, slot });
  const [own, ...parts] = turnItems(session.id, turnAfter({ ...commit, historyParts: undefined }));
  const partActions: Actions = [
    ...parts.map((Item) => ({ Put: { TableName, Item } })),
    ...staleParts(commit, parts.length).map((Key) => ({ Delete: { TableName, Key } })),
  ];
  const written = writtenMessages(session.id, { history, first }, options);
  const needed: Actions = [
    ...(note === undefined
      ? []
      : [workspaceUpdate(TableName, note.workspaceId, checkpointed(note.checkpoint, note.base))]),
    ...events.map((event) => ({ Put: { TableName, Item: eventItem(session.id, event) } })),
    ...waitingActions(TableName, session, commit.waiting),
    ...audits.map((row) => ({ Put: { TableName, Item: auditItem(row) } })),
    ...notices.map((notice) => noticePut(TableName, notice)),
    ...written.items.map((Item) => ({ Put: { TableName, Item } })),
    ...(spends === undefined ? [] : [spendOfTree(TableName, { ...spends, session: session.id })]),
  ];
  const inbox = [...completedActions(TableName, commit), ...stillWaits(TableName, commit)];
  const ofSlot = commit.slot === undefined ? 0 : slotActionsMax;
  const taken = 2 + ofSlot + needed.length + partActions.length + inbox.length;
  const room = Math.max(0, transactionActionsMax - taken);
  const ringed = droppedEvents(session.id, events);
  const { dropped, historyKept } = droppedMessages(commit, room - ringed.length);
  const partsKept = partsFrom(historyKept, { ...historyParts, ...written.parts });
  return {
    actionsOf: (slot) => [
      updateWith(slot),
      turnPut(TableName, commit.version, { ...own, historyKept, ...partsKept }),
      ...needed,
      ...partActions,
      ...[...ringed.slice(0, room), ...dropped].map((Key) => ({ Delete: { TableName, Key: { ...Key } } })),
      ...inbox,
    ],
    kept: { historyParts: undefined, ...partsKept, historyKept },
    parts: parts.length + 1,
    ofInbox: inbox.length,
    left: ringed.slice(room),
  };
};

/** The previous version's parts that this one does not need. */
const staleParts = ({ session, parts: before = 1 }: TurnCommit, others: number): readonly Key[] =>
  Array.from({ length: Math.max(0, before - 1 - others) }, (_, index) =>
    keys.turnPart(session.id, others + 1 + index),
  );

const turnPut = (TableName: string, version: number, Item: Item): Actions[number] => ({
  Put: {
    TableName,
    Item,
    ...(version === 0
      ? { ConditionExpression: 'attribute_not_exists(pk)' }
      : { ConditionExpression: 'version = :version', ExpressionAttributeValues: { ':version': version } }),
  },
});

/** New events go in, and as many leave at the other end of the ring. */
export const logActions = (TableName: string, id: SessionId, events: readonly LogEvent[]): Actions => [
  ...events.map((event) => ({ Put: { TableName, Item: eventItem(id, event) } })),
  ...droppedEvents(id, events).map((Key) => ({ Delete: { TableName, Key } })),
];

const droppedEvents = (id: SessionId, events: readonly LogEvent[]): readonly Key[] =>
  events
    .filter(({ seq }) => seq >= eventsPerSessionMax)
    .map(({ seq }) => keys.event(id, seq - eventsPerSessionMax));
