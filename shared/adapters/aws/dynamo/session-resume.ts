/** The reopening of an ended agent session in the table: its status, its workspace and its project's count in one write. */
import { numberEntries } from '#shared/domain/event-log.ts';
import type { Session } from '#shared/domain/session.ts';
import { slotHolderOf } from '#shared/domain/slot-holder.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { auditItem } from './audit-log.ts';
import { enterWorkspaceAction } from './named-workspaces.ts';
import { isUnsealed } from './session-conditions.ts';
import { detailsAsRead } from './session-details.ts';
import { sessionDue } from './session-items.ts';
import { type Actions, type SlotMove, transactMoving } from './slot-moves.ts';
import { keys, type Table } from './table.ts';
import { logActions } from './turn-commit.ts';

export const resume =
  (table: Table): SessionStore['resume'] =>
  async (session, resuming) => {
    const { at, dueAt, conversationsMax, log, audits } = resuming;
    const events = numberEntries(log, { firstSeq: session.lastSeq + 1, at });
    const resumed: Session = {
      ...session,
      ...{ status: 'idle', grants: [], lastActiveAt: at, dueAt, lastSeq: session.lastSeq + events.length },
      lease: { holder: '', fence: session.lease.fence + 1, until: 0 },
    };
    const move: SlotMove = {
      ...{ holder: slotHolderOf(session), session: session.id, known: {}, at },
      conversations: { step: 1, max: conversationsMax },
    };
    const { name } = table;
    const moved = await transactMoving(table, move, () => [
      { Update: reopened(name, session, resumed) },
      enterWorkspaceAction(name, session, undefined),
      ...audits.map((row) => ({ Put: { TableName: name, Item: auditItem(row) } })),
      ...logActions(name, session.id, events),
    ]);
    if (moved.status === 'done') return { status: 'resumed', session: resumed, events };
    if (moved.status !== 'refused') return { status: 'full' };
    const [own] = moved.reasons;
    const isMoved = own?.code === 'ConditionalCheckFailed' && own.item?.['isSealed'] !== true;
    return { status: isMoved ? 'moved' : 'gone' };
  };

/**
 * Its end and its check must be as read: the janitor moves them before it deletes the session. So must its idle time, by which it is
 * due. Each deletion seals it first. The lease of an ended session is never given back, so that it is free from here on, and its last holder refused.
 */
const reopened = (
  TableName: string,
  before: Session,
  { status, grants, lastActiveAt, lastSeq, lease, id, dueAt = 0 }: Session,
): NonNullable<Actions[number]['Update']> => {
  const { conditions, names, values } = detailsAsRead({ idleMs: before.idleMs });
  const isAsRead =
    '#status = :before AND lastActiveAt = :endedAt AND dueAt = :dueBefore AND lastSeq = :lastSeq AND leaseFence = :fenceBefore';
  return {
    TableName,
    Key: keys.session(id),
    ConditionExpression: [isAsRead, isUnsealed, ...conditions].join(' AND '),
    UpdateExpression:
      'SET #status = :status, grants = :grants, lastActiveAt = :at, lastSeq = :newSeq, duePk = :duePk, dueAt = :dueAt, leaseHolder = :holder, leaseFence = :fence, leaseUntil = :until',
    ExpressionAttributeNames: { '#status': 'status', ...names },
    ExpressionAttributeValues: {
      ...values,
      ':before': before.status,
      ':endedAt': before.lastActiveAt,
      ':dueBefore': before.dueAt ?? 0,
      ':lastSeq': before.lastSeq,
      ':fenceBefore': before.lease.fence,
      ':holder': lease.holder,
      ':fence': lease.fence,
      ':until': lease.until,
      ':status': status,
      ':grants': grants,
      ':at': lastActiveAt,
      ':newSeq': lastSeq,
      ...sessionDue(id, dueAt),
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
};
