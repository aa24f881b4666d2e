/**
 * `ApprovalStore` on the one table: one partition, ordered by when each call was requested.
 *
 * A turn's commit writes and deletes the entries (`waitingActions`), so that none exists without its call. A
 * filter reads the entries of others, too: there are only as many as waiting calls, and a count reads 1 MB at a
 * time.
 */
import { QueryCommand, type QueryCommandInput, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { waitingRecord } from '#shared/contracts/stored/session-records.ts';
import type { Session } from '#shared/domain/session.ts';
import type { WaitingChange } from '#shared/domain/turn/waiting-call.ts';
import type { ApprovalStore, WaitingEntry, WaitingFilter } from '#shared/ports/approval-store.ts';
import { keys, type Table, waitingPartition } from './table.ts';

type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;

export const waitingActions = (
  TableName: string,
  { id: sessionId, project, owner }: Session,
  change: WaitingChange | undefined,
): Actions => [
  ...(change?.removed === undefined
    ? []
    : [{ Delete: { TableName, Key: keys.waiting(change.removed, sessionId) } }]),
  ...(change?.added === undefined
    ? []
    : [
        {
          Put: {
            TableName,
            Item: {
              ...keys.waiting(change.added.askedAt, sessionId),
              sessionId,
              project,
              owner,
              ...change.added,
            },
          },
        },
      ]),
];

export const makeApprovalStore = ({ client, name }: Table): ApprovalStore => ({
  list: async (filter, { after, itemsMax }) => {
    const waiting: WaitingEntry[] = [];
    let next = after;
    do {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({ ...queryOf(name, filter, next), Limit: itemsMax - waiting.length }),
      );
      waiting.push(...Items.map((item) => decodeStored(waitingRecord, item)));
      next = LastEvaluatedKey && String(LastEvaluatedKey['sk']);
    } while (next !== undefined && waiting.length < itemsMax);
    return next === undefined ? { waiting } : { waiting, next };
  },
  count: async (filter) => {
    let sum = 0;
    let after: string | undefined;
    do {
      const { Count = 0, LastEvaluatedKey } = await client.send(
        new QueryCommand({ ...queryOf(name, filter, after), Select: 'COUNT' }),
      );
      sum += Count;
      after = LastEvaluatedKey && String(LastEvaluatedKey['sk']);
    } while (after !== undefined);
    return sum;
  },
});

const queryOf = (
  TableName: string,
  { project, owner }: WaitingFilter,
  after: string | undefined,
): QueryCommandInput => {
  const conditions = [
    ...(project === undefined ? [] : ['#project = :project']),
    ...(owner === undefined ? [] : ['#owner = :owner']),
  ];
  const wanted = Object.entries({ project, owner }).filter(([, value]) => value !== undefined);
  return {
    TableName,
    KeyConditionExpression: 'pk = :pk',
    ...(conditions.length === 0
      ? {}
      : {
          FilterExpression: conditions.join(' AND '),
          ExpressionAttributeNames: Object.fromEntries(wanted.map(([key]) => [`#${key}`, key])),
        }),
    ExpressionAttributeValues: {
      ':pk': waitingPartition,
      ...Object.fromEntries(wanted.map(([key, value]) => [`:${key}`, value])),
    },
    ConsistentRead: true,
    ...(after === undefined ? {} : { ExclusiveStartKey: { pk: waitingPartition, sk: after } }),
  };
};
