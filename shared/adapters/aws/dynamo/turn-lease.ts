/**
 * The lease of a session's turn: one conditional update each to acquire, renew and release.
 *
 * The fence grows with every holder and stands in the condition of every write made under the lease, so a holder
 * that lost it is refused by the table and not by its own clock.
 */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { SessionId } from '#shared/domain/ids.ts';
import { isEnded, type Session } from '#shared/domain/session.ts';
import type { Slot } from '#shared/domain/slot.ts';
import { slotHolderOf } from '#shared/domain/slot-holder.ts';
import type { TurnStore } from '#shared/ports/turn-store.ts';
import { inboxHolds } from './inbox.ts';
import { endedStatuses, lives, statusNames } from './session-conditions.ts';
import { detailsAsRead } from './session-details.ts';
import { sessionDue, sessionFrom } from './session-items.ts';
import { transactMoving } from './slot-moves.ts';
import { type Item, isConditionFailed, itemOfFailure, keys, type Table } from './table.ts';

export const takeLease =
  ({ client, name }: Table): TurnStore['takeLease'] =>
  async (id: SessionId, { holder, at, until }) => {
    try {
      const { Attributes } = await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.session(id),
          ConditionExpression: 'attribute_exists(pk) AND (leaseUntil < :at OR leaseHolder = :holder)',
          UpdateExpression:
            'SET leaseHolder = :holder, leaseUntil = :until, leaseFence = leaseFence + :one, duePk = :duePk, dueAt = :dueAt',
          ExpressionAttributeValues: {
            ':at': at,
            ':holder': holder,
            ':until': until,
            ':one': 1,
            ...sessionDue(id, until),
          },
          ReturnValues: 'ALL_NEW',
        }),
      );
      return Attributes && sessionFrom(Attributes);
    } catch (error) {
      if (isConditionFailed(error)) return undefined;
      throw error;
    }
  };

export const renewLease =
  ({ client, name }: Table): TurnStore['renewLease'] =>
  async ({ id, lease }: Session, until) => {
    try {
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.session(id),
          // A released lease retains its fence: without the holder's condition, a late renewal would lock
          // every other function out.
          ConditionExpression: 'leaseFence = :fence AND leaseHolder = :holder',
          UpdateExpression: 'SET leaseUntil = :until, duePk = :duePk, dueAt = :dueAt',
          ExpressionAttributeValues: {
            ':fence': lease.fence,
            ':holder': lease.holder,
            ':until': until,
            ...sessionDue(id, until),
          },
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };

export const breakLease =
  ({ client, name }: Table): TurnStore['breakLease'] =>
  async ({ id, lease }, at) => {
    try {
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.session(id),
          ConditionExpression: 'leaseFence = :fence AND leaseHolder = :holder AND leaseUntil = :until',
          UpdateExpression: 'SET leaseHolder = :nobody, leaseUntil = :zero, duePk = :duePk, dueAt = :dueAt',
          ExpressionAttributeValues: {
            ':fence': lease.fence,
            ':holder': lease.holder,
            ':until': lease.until,
            ':nobody': '',
            ':zero': 0,
            ...sessionDue(id, at),
          },
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };

export const releaseLease =
  (table: Table): TurnStore['releaseLease'] =>
  async (session, left) => {
    const { restsAt } = left;
    if (restsAt !== undefined && session.slot?.turn !== undefined)
      return releaseResting(table, session, { ...left, restsAt });
    try {
      await table.client.send(new UpdateCommand(releasing(table, session, left)));
      return 'released';
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
      return keptOrStale(session, itemOfFailure(error));
    }
  };

type Left = Parameters<TurnStore['releaseLease']>[1];

const releaseResting = async (
  table: Table,
  session: Session,
  left: Left & { readonly restsAt: number },
): Promise<'released' | 'kept' | 'stale'> => {
  const { id, slot: known = {} } = session;
  const move = {
    holder: slotHolderOf(session),
    session: id,
    known,
    change: { type: 'turn-rested' },
    at: left.restsAt,
  } as const;
  const moved = await transactMoving(table, move, (slot) => [
    { Update: releasing(table, session, { ...left, slot }) },
  ]);
  if (moved.status === 'done') return 'released';
  return keptOrStale(session, moved.status === 'refused' ? moved.reasons[0]?.item : undefined);
};

const releasing = (
  { name }: Table,
  { id, lease, workSeq, status, idleMs }: Session,
  { dueAt, isIdle, slot }: Left & { readonly slot?: Slot },
) => {
  const idle = detailsAsRead({ idleMs });
  const becomesIdle = isIdle && status === 'running';
  const empty = isIdle ? inboxHolds(0) : undefined;
  const conditions = [lives, 'leaseFence = :fence', 'workSeq = :workSeq', ...(empty ? [empty.when] : [])];
  const sets = [
    'leaseHolder = :nobody',
    'leaseUntil = :zero',
    'duePk = :duePk',
    'dueAt = :dueAt',
    ...(becomesIdle ? ['#status = :idle'] : []),
    ...(slot === undefined ? [] : ['slot = :slot']),
  ];
  return {
    TableName: name,
    Key: keys.session(id),
    // An ended session stays due as its end or its lease left it: the janitor then cleans up (CH4).
    ConditionExpression: [...conditions, ...idle.conditions].join(' AND '),
    UpdateExpression: `SET ${sets.join(', ')}`,
    ExpressionAttributeNames: { ...statusNames, ...idle.names },
    ExpressionAttributeValues: {
      ...endedStatuses,
      ...idle.values,
      ':fence': lease.fence,
      ':workSeq': workSeq,
      ':nobody': '',
      ':zero': 0,
      ...empty?.values,
      ...sessionDue(id, dueAt),
      ...(becomesIdle ? { ':idle': 'idle' } : {}),
      ...(slot === undefined ? {} : { ':slot': slot }),
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
};

const keptOrStale = ({ lease }: Session, item: Item | undefined): 'kept' | 'stale' => {
  const session = item && sessionFrom(item);
  return session?.lease.fence === lease.fence && !isEnded(session.status) ? 'kept' : 'stale';
};
