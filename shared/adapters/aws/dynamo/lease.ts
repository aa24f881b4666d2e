/**
 * The lease of a session's turn: one conditional update each to acquire, renew and release.
 *
 * The fence grows with every holder and stands in the condition of every write made under the lease, so a holder
 * that lost it is refused by the table and not by its own clock.
 */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { SessionId } from '#shared/domain/ids.ts';
import { isEnded, type Session } from '#shared/domain/session.ts';
import type { TurnStore } from '#shared/ports/turn-store.ts';
import { endedStatuses, lives, statusNames } from './session-children.ts';
import { sessionDue, sessionFrom } from './session-items.ts';
import { isConditionFailed, itemOfFailure, keys, type Table } from './table.ts';

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

export const releaseLease =
  ({ client, name }: Table): TurnStore['releaseLease'] =>
  async ({ id, lease, workSeq }: Session, dueAt) => {
    try {
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.session(id),
          // An ended session stays due as its end or its lease left it: the janitor then cleans up (CH4).
          ConditionExpression: `${lives} AND leaseFence = :fence AND workSeq = :workSeq`,
          UpdateExpression: 'SET leaseHolder = :nobody, leaseUntil = :zero, duePk = :duePk, dueAt = :dueAt',
          ExpressionAttributeNames: statusNames,
          ExpressionAttributeValues: {
            ...endedStatuses,
            ':fence': lease.fence,
            ':workSeq': workSeq,
            ':nobody': '',
            ':zero': 0,
            ...sessionDue(id, dueAt),
          },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return 'released';
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
      const item = itemOfFailure(error);
      const session = item && sessionFrom(item);
      return session?.lease.fence === lease.fence && !isEnded(session.status) ? 'kept' : 'stale';
    }
  };
