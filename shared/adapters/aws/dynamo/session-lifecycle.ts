/**
 * A session's beginning and end in the table: made with its workspace, ended once, its check put off. The write that ends it
 * releases the slot of its turn, and its place among the conversations of its project (L4). `session-removal.ts` deletes it.
 */
import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type LogEvent, numberEntries } from '#shared/domain/event-log.ts';
import { isDerived } from '#shared/domain/ids.ts';
import { isConversation, isEnded, type Session } from '#shared/domain/session.ts';
import { isAsRead } from '#shared/domain/session-sweep.ts';
import { slotHolderOf } from '#shared/domain/slot-holder.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { auditItem } from './audit-log.ts';
import { inboxHolds, waitingIn } from './inbox.ts';
import { enterWorkspaceAction, makeWorkspaceActions } from './named-workspaces.ts';
import { treeActions } from './session-children.ts';
import { pointerOf, sessionDue, sessionFrom, sessionItem } from './session-items.ts';
import { type Actions, type Moved, type SlotMove, transactMoving } from './slot-moves.ts';
import { isConditionFailed, keys, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { beginSliced } from './tree-slices.ts';
import { logActions } from './turn-commit.ts';

/** Each lost race is another writer's log entry, or a change of status. */
const racesMax = 50;

type Making = Parameters<SessionStore['create']>[1];
type Made = Awaited<ReturnType<SessionStore['create']>>;
type Part = { readonly actions: Actions; readonly refusedAs: Exclude<Made, 'created'> };

/** All actions of the transaction, and the result when one of them is refused. */
export const create =
  (table: Table): SessionStore['create'] =>
  async (session, making) => {
    const parts = partsOf(table.name, session, making);
    const TransactItems = parts.flatMap(({ actions }) => actions);
    const result = await transact(table, new TransactWriteCommand({ TransactItems }));
    if (result === 'done') return 'created';
    const reasons = parts.flatMap(({ actions, refusedAs }) => actions.map(() => refusedAs));
    return reasons[result.findIndex(({ code }) => code === 'ConditionalCheckFailed')] ?? 'moved';
  };

const partsOf = (
  TableName: string,
  session: Session,
  { workspace, source, enters, child, slice, sealed, instructions, audits = [] }: Making,
): readonly Part[] => {
  const ConditionExpression = 'attribute_not_exists(pk)';
  const own: Actions = [
    { Put: { TableName, Item: sessionItem(session), ConditionExpression } },
    ...(isDerived(session.id)
      ? [{ ConditionCheck: { TableName, Key: keys.forgotten(session.id), ConditionExpression } }]
      : []),
    { Put: { TableName, Item: pointerOf(session) } },
    ...(sealed === undefined
      ? []
      : [{ Put: { TableName, Item: { ...keys.environment(session.id), sealed } } }]),
    ...(instructions === undefined
      ? []
      : [{ Put: { TableName, Item: { ...keys.instructions(session.id), text: instructions } } }]),
    ...(slice === undefined ? [] : [beginSliced(TableName, session.id, slice)]),
    ...audits.map((row) => ({ Put: { TableName, Item: auditItem(row) } })),
  ];
  const tree = child && treeActions(TableName, session, child);
  return [
    { actions: own, refusedAs: 'exists' },
    { actions: tree?.ofParent ?? [], refusedAs: 'orphan' },
    { actions: tree?.ofTree ?? [], refusedAs: 'full' },
    { actions: workspace ? makeWorkspaceActions(TableName, workspace, source) : [], refusedAs: 'moved' },
    { actions: enters ? [enterWorkspaceAction(TableName, session, enters.after)] : [], refusedAs: 'moved' },
  ];
};

export const end =
  (table: Table): SessionStore['end'] =>
  async (session, ending) => {
    let current = session;
    for (let race = 0; race < racesMax; race += 1) {
      if (isEnded(current.status)) return undefined;
      const { status, at, dueAt, log = [] } = ending;
      const events = numberEntries(log, { firstSeq: current.lastSeq + 1, at });
      const before = current;
      const result = await transactMoving(table, leaving(before, at), () =>
        endingOf(table.name, before, { ...ending, events }),
      );
      if (result.status === 'done') {
        const lastSeq = current.lastSeq + events.length;
        return { session: { ...current, status, lastActiveAt: at, dueAt, lastSeq }, events };
      }
      const moved = movedTo(result, ending.unlessMoved ? current : undefined);
      if (moved === undefined) return undefined;
      current = moved;
    }
    throw new Error(`session ${session.id}: it moved ${racesMax} times while it was ended`);
  };

/** True when its log grew and nothing else changed. */
const isSpokenOf = (now: Session, before: Session): boolean =>
  isAsRead(now, before) && now.status === before.status;

/** Undefined when it is deleted; and when more than its log moved, or a message waits, if it shall end as it was read alone. */
const movedTo = (moved: Moved, asRead: Session | undefined): Session | undefined => {
  const item = moved.status === 'refused' ? moved.reasons[0]?.item : undefined;
  const now = item && sessionFrom(item);
  if (now === undefined || asRead === undefined) return now;
  return waitingIn(item ?? {}) === 0 && isSpokenOf(now, asRead) ? now : undefined;
};

/** The turn of a session that ends no longer holds a slot, whatever it did. */
const leaving = (session: Session, at: number): SlotMove | undefined => {
  const { id, slot: known = {} } = session;
  const conversations = isConversation(session) ? ({ step: -1 } as const) : undefined;
  const change = known.turn === undefined ? undefined : ({ type: 'turn-rested' } as const);
  return conversations === undefined && change === undefined
    ? undefined
    : { ...{ holder: slotHolderOf(session), session: id, known, change, at }, conversations };
};

type Ending = Parameters<SessionStore['end']>[1] & { readonly events: readonly LogEvent[] };

const endingOf = (
  TableName: string,
  session: Session,
  { status, at, dueAt, unlessMoved, events }: Ending,
): Actions => {
  const conditions = ['attribute_exists(pk)', '#status = :before', 'lastSeq = :lastSeq'];
  // Ending a session ends its children, too: one that was made concurrently is read first.
  if (session.hasChildren === undefined) conditions.push('attribute_not_exists(hasChildren)');
  const empty = inboxHolds(0);
  if (unlessMoved) conditions.push('lastActiveAt = :lastActiveAt', 'workSeq = :workSeq', empty.when);
  const update = {
    TableName,
    Key: keys.session(session.id),
    ConditionExpression: conditions.join(' AND '),
    UpdateExpression:
      'SET #status = :status, lastActiveAt = :at, lastSeq = :newSeq, duePk = :duePk, dueAt = :dueAt REMOVE slot',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':before': session.status,
      ':lastSeq': session.lastSeq,
      ...(unlessMoved
        ? { ':lastActiveAt': session.lastActiveAt, ':workSeq': session.workSeq, ...empty.values }
        : {}),
      ':status': status,
      ':at': at,
      ':newSeq': session.lastSeq + events.length,
      ...sessionDue(session.id, dueAt),
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
  return [{ Update: update }, ...logActions(TableName, session.id, events)];
};

export const postpone =
  ({ client, name }: Table): SessionStore['postpone'] =>
  async ({ id, workSeq, lease, lastActiveAt, dueAt: before }, dueAt, stall) => {
    try {
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.session(id),
          ConditionExpression:
            'workSeq = :workSeq AND leaseFence = :fence AND lastActiveAt = :lastActiveAt AND dueAt = :before',
          UpdateExpression: `SET duePk = :duePk, dueAt = :dueAt${stall === undefined ? '' : ', stall = :stall'}`,
          ExpressionAttributeValues: {
            ...(stall === undefined ? {} : { ':stall': stall }),
            ':workSeq': workSeq,
            ':fence': lease.fence,
            ':lastActiveAt': lastActiveAt,
            ':before': before ?? 0,
            ...sessionDue(id, dueAt),
          },
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };
