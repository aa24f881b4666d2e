/**
 * The turn's commit: state, log, history and lease move together in one transaction, or not at all.
 *
 * Guarded by the turn's version, by the fence when the writer holds the lease, and by the session's lastSeq,
 * which leaves the log without gaps. A log that grew concurrently is renumbered and retried; work that arrived
 * concurrently keeps the lease; anything else is `stale` and nothing was written.
 */
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { type LogEvent, numberEntries } from '#shared/domain/event-log.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { eventsPerSessionMax, redriveAfterMs } from '#shared/domain/limits.ts';
import { isEnded, type Session } from '#shared/domain/session.ts';
import { utf8Bytes } from '#shared/domain/text.ts';
import type { TurnRecord } from '#shared/domain/turn/turn.ts';
import type { CommitResult, TurnCommit, TurnStore } from '#shared/ports/turn-store.ts';
import { waitingActions } from './approvals.ts';
import { auditItem } from './audit-log.ts';
import { type HistoryOptions, messageItem } from './history-items.ts';
import { completedActions, stillWaits } from './inbox.ts';
import { eventItem, sessionDue, sessionFrom } from './session-items.ts';
import { type Cancellation, type Item, keys, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { spendOfTree } from './trees.ts';
import { turnItems } from './turn-items.ts';
import { noticePut } from './webhook-items.ts';
import { checkpointed, workspaceUpdate } from './workspace-changes.ts';

type Key = Readonly<Record<'pk' | 'sk', string>>;
type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;

/** Every lost race means another writer moved the log; this many in a row means something is wrong. */
const racesMax = 50;
/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html */
const transactionActionsMax = 100;

export const commitTurn =
  (table: Table, options: HistoryOptions): TurnStore['commit'] =>
  async (first) => {
    let commit = first;
    for (let race = 0; race < racesMax; race += 1) {
      const events = numberEntries(commit.log, { firstSeq: commit.session.lastSeq + 1, at: commit.at });
      const { command, left, ...kept } = transaction(table.name, commit, { events, options });
      const result = await transact(table, command);
      if (result === 'done') {
        await deleteEvents(table, left);
        return committed({ ...commit, ...kept }, events, first.release);
      }
      if (isUnsaved(commit, result)) return { status: 'unsaved' };
      if (isPast(commit, result)) return { status: 'moved' };
      const next = afterRace(commit, result);
      if (next === 'stale' || next === 'moved') return { status: next };
      commit = next;
    }
    throw new Error(`session ${first.session.id}: the log moved ${racesMax} times during one commit`);
  };

const committed = (
  commit: TurnCommit,
  events: readonly LogEvent[],
  releaseRequested: boolean,
): CommitResult => {
  const { parts = 1 } = commit;
  const turn = { ...turnAfter(commit, commit.historyKept), ...(parts === 1 ? {} : { parts }) };
  const session = {
    ...commit.session,
    ...commit.patch,
    lastSeq: commit.session.lastSeq + events.length,
    workSeq: commit.session.workSeq + (commit.wakes ? 1 : 0),
  };
  return { status: releaseRequested && !commit.release ? 'kept' : 'committed', session, turn, events };
};

const turnAfter = (
  { version, state, historyNext, history, historyFrom }: TurnCommit,
  historyKept: number,
): TurnRecord => ({
  version: version + 1,
  state,
  historyNext: historyNext + history.length,
  historyFrom,
  historyKept,
});

/** The checkpoint's action is the third. A writer that is stale in other ways, too, reads again anyway. */
const isUnsaved = ({ note }: TurnCommit, [session, turn, checkpoint]: readonly Cancellation[]): boolean =>
  note !== undefined &&
  checkpoint?.code === 'ConditionalCheckFailed' &&
  session?.code !== 'ConditionalCheckFailed' &&
  turn?.code !== 'ConditionalCheckFailed';

/** The message was completed since the inbox was read; its check is the last action. */
const isPast = ({ begins }: TurnCommit, reasons: readonly Cancellation[]): boolean =>
  begins !== undefined && reasons.at(-1)?.code === 'ConditionalCheckFailed';

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
  // A writer without the lease read the session before the turn: this patch lacks the cost of a turn that
  // ended in between.
  if (commit.fence === undefined && !hasCostAsRead(now, commit.session)) return 'moved';
  // It wakes nothing for what came since its inbox was read.
  if (wakesForNothingElse(commit) && now.workSeq !== commit.session.workSeq) return 'moved';
  // A grant was withdrawn since the session was read: nothing that was decided with it is written.
  if (grantIds(now) !== grantIds(commit.session)) return 'moved';
  const { lastSeq, workSeq, hasChildren } = now;
  const sawAllWork = workSeq === commit.session.workSeq;
  return {
    ...commit,
    // The writer goes on with the work it has loaded; concurrent work stays in the table.
    session: { ...commit.session, lastSeq, ...(hasChildren ? { hasChildren } : {}) },
    release: commit.release && sawAllWork,
  };
};

/** A writer without the lease that invokes no turn: it has to have seen all work. */
const wakesForNothingElse = ({ fence, wakes }: TurnCommit): boolean => fence === undefined && !wakes;

const grantIds = ({ grants }: Session): string => grants.map(({ id }) => id).join();

const hasCostAsRead = (now: Session, read: Session): boolean =>
  now.costUsd === read.costUsd &&
  now.usage.inputTokens === read.usage.inputTokens &&
  now.usage.outputTokens === read.usage.outputTokens;

const deleteEvents = async (table: Table, events: readonly Key[]): Promise<void> => {
  if (events.length === 0) return;
  const TransactItems = events.map((Key) => ({ Delete: { TableName: table.name, Key } }));
  await transact(table, new TransactWriteCommand({ TransactItems }));
};

type Transaction = {
  readonly command: TransactWriteCommand;
  readonly historyKept: number;
  /** The number of items of the turn. */
  readonly parts: number;
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
  const {
    session,
    history,
    historyNext,
    historyFrom,
    historyKept: first,
    note,
    spends,
    audits = [],
    notices = [],
  } = commit;
  const update = sessionUpdate(TableName, commit, events.length);
  const [own, ...parts] = turnItems(session.id, turnAfter(commit, first));
  const partActions: Actions = [
    ...parts.map((Item) => ({ Put: { TableName, Item } })),
    ...staleParts(commit, parts.length).map((Key) => ({ Delete: { TableName, Key } })),
  ];
  const needed: Actions = [
    ...(note === undefined
      ? []
      : [workspaceUpdate(TableName, note.workspaceId, checkpointed(note.checkpoint, note.base))]),
    ...events.map((event) => ({ Put: { TableName, Item: eventItem(session.id, event) } })),
    ...waitingActions(TableName, session, commit.waiting),
    ...audits.map((row) => ({ Put: { TableName, Item: auditItem(row) } })),
    ...notices.map((notice) => noticePut(TableName, notice)),
    ...history.map((message, index) => ({
      Put: { TableName, Item: messageItem(keys.message(session.id, historyNext + index), message, options) },
    })),
    ...completedActions(TableName, commit),
    ...(spends === undefined ? [] : [spendOfTree(TableName, { ...spends, session: session.id })]),
  ];
  const waits = stillWaits(TableName, commit);
  const taken = 2 + needed.length + partActions.length + waits.length;
  const room = Math.max(0, transactionActionsMax - taken);
  const dropped = droppedEvents(session.id, events);
  const roomForHistory = Math.max(0, room - dropped.length);
  const historyKept = Math.min(historyFrom, first + roomForHistory);
  const deleted: Actions = Array.from({ length: historyKept - first }, (_, index) => ({
    Delete: { TableName, Key: keys.message(session.id, first + index) },
  }));
  return {
    command: new TransactWriteCommand({
      TransactItems: [
        update,
        turnPut(TableName, commit.version, { ...own, historyKept }),
        ...needed,
        ...partActions,
        ...dropped.slice(0, room).map((Key) => ({ Delete: { TableName, Key } })),
        ...deleted,
        ...waits,
      ],
    }),
    historyKept,
    parts: parts.length + 1,
    left: dropped.slice(room),
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

const sessionUpdate = (TableName: string, commit: TurnCommit, eventCount: number): Actions[number] => {
  const { session, fence, patch = {}, release, wakes, completed, at } = commit;
  const conditions = ['lastSeq = :lastSeq', 'NOT #status IN (:completed, :failed, :stopped)'];
  const sets = ['lastSeq = :newSeq'];
  const values: Record<string, unknown> = {
    ':lastSeq': session.lastSeq,
    ':newSeq': session.lastSeq + eventCount,
    ':completed': 'completed',
    ':failed': 'failed',
    ':stopped': 'stopped',
  };
  const names: Record<string, string> = { '#status': 'status' };
  // TM5: the parent of a first child learns here that its next model call belongs to its tree.
  if (session.hasChildren === undefined) conditions.push('attribute_not_exists(hasChildren)');
  for (const [key, value] of Object.entries(patch)) {
    names[`#${key}`] = key;
    values[`:patch_${key}`] = value;
    sets.push(`#${key} = :patch_${key}`);
  }
  if (fence !== undefined) {
    conditions.push('leaseFence = :fence');
    values[':fence'] = fence;
  }
  if (release || wakesForNothingElse(commit)) {
    conditions.push('workSeq = :workSeq');
    values[':workSeq'] = session.workSeq;
  }
  if (release) {
    sets.push('leaseHolder = :nobody', 'leaseUntil = :zero');
    Object.assign(values, { ':nobody': '', ':zero': 0 });
  }
  if (release || wakes) {
    sets.push('duePk = :duePk', 'dueAt = :dueAt');
    Object.assign(values, sessionDue(session.id, wakes ? at + redriveAfterMs : commit.dueAt));
  }
  const adds = wakes ? ['workSeq :one'] : [];
  if (wakes) values[':one'] = 1;
  if (completed !== undefined) {
    adds.push('inboxMessages :minusOne', 'inboxBytes :minusBytes');
    Object.assign(values, { ':minusOne': -1, ':minusBytes': -utf8Bytes(completed.text) });
  }
  return {
    Update: {
      TableName,
      Key: keys.session(session.id),
      ConditionExpression: conditions.join(' AND '),
      UpdateExpression: `SET ${sets.join(', ')}${adds.length === 0 ? '' : ` ADD ${adds.join(', ')}`}`,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
};

/** New events go in, and as many leave at the other end of the ring. */
export const logActions = (TableName: string, id: SessionId, events: readonly LogEvent[]): Actions => [
  ...events.map((event) => ({ Put: { TableName, Item: eventItem(id, event) } })),
  ...droppedEvents(id, events).map((Key) => ({ Delete: { TableName, Key } })),
];

const droppedEvents = (id: SessionId, events: readonly LogEvent[]): readonly Key[] =>
  events
    .filter(({ seq }) => seq >= eventsPerSessionMax)
    .map(({ seq }) => keys.event(id, seq - eventsPerSessionMax));
