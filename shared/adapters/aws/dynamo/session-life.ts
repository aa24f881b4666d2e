/**
 * A session's beginning and end in the table: made with its workspace and its place, ended once, forgotten.
 * The place is given back in the write that ends it (L4).
 */
import {
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { holdsPlace, isEnded, type Session } from '#shared/domain/session.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { batchDelete } from './batch.ts';
import { givePlaceBack, takePlace } from './places.ts';
import { sessionDue, sessionFrom, sessionItem } from './session-items.ts';
import { type Cancellation, isConditionFailed, keys, type Table } from './table.ts';
import { sendWithRetry } from './transaction.ts';
import { workspaceItem } from './workspace-items.ts';

type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;

/** A session changes its status under whoever ends it only so often. */
const racesMax = 20;

export const create =
  (table: Table): SessionStore['create'] =>
  async (session, { workspace, placesMax }) => {
    const TableName = table.name;
    const isNew = 'attribute_not_exists(pk)';
    const actions: Actions = [
      { Put: { TableName, Item: sessionItem(session), ConditionExpression: isNew } },
      ...(holdsPlace(session) ? takePlace(TableName, session, { at: session.createdAt, placesMax }) : []),
      ...(workspace === undefined
        ? []
        : [{ Put: { TableName, Item: workspaceItem(workspace), ConditionExpression: isNew } }]),
    ];
    const result = await sendWithRetry(table, new TransactWriteCommand({ TransactItems: actions }));
    if (result === 'done') return 'created';
    return result[0]?.code === 'ConditionalCheckFailed' ? 'exists' : 'full';
  };

export const end =
  (table: Table): SessionStore['end'] =>
  async (session, ending) => {
    let current = session;
    for (let race = 0; race < racesMax; race += 1) {
      if (isEnded(current.status)) return undefined;
      const result = await sendWithRetry(table, endingOf(table.name, current, ending));
      if (result === 'done')
        return { ...current, status: ending.status, lastActiveAt: ending.at, dueAt: ending.dueAt };
      const moved = movedTo(session, result[0]);
      if (moved === undefined || ending.unlessMoved) return undefined;
      current = moved;
    }
    throw new Error(`session ${session.id}: it moved ${racesMax} times while it was ended`);
  };

/** Undefined when it is gone. */
const movedTo = ({ id }: Session, refused: Cancellation | undefined): Session | undefined => {
  if (refused?.code !== 'ConditionalCheckFailed')
    throw new Error(`session ${id}: its place was given back before it ended`);
  return refused.item && sessionFrom(refused.item);
};

const endingOf = (
  TableName: string,
  session: Session,
  { status, at, dueAt, unlessMoved }: Parameters<SessionStore['end']>[1],
): TransactWriteCommand =>
  new TransactWriteCommand({
    TransactItems: [
      {
        Update: {
          TableName,
          Key: keys.session(session.id),
          ConditionExpression: `attribute_exists(pk) AND #status = :before${unlessMoved ? ' AND lastActiveAt = :lastActiveAt AND workSeq = :workSeq' : ''}`,
          UpdateExpression: 'SET #status = :status, lastActiveAt = :at, duePk = :duePk, dueAt = :dueAt',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: {
            ':before': session.status,
            ...(unlessMoved ? { ':lastActiveAt': session.lastActiveAt, ':workSeq': session.workSeq } : {}),
            ':status': status,
            ':at': at,
            ...sessionDue(session.id, dueAt),
          },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      },
      ...(holdsPlace(session) ? givePlaceBack(TableName, session, at) : []),
    ],
  });

export const removeUnused =
  (table: Table): SessionStore['removeUnused'] =>
  async ({ id, workspace }) => {
    const { name: TableName } = table;
    const result = await sendWithRetry(
      table,
      new TransactWriteCommand({
        TransactItems: [
          {
            Delete: {
              TableName,
              Key: keys.session(id),
              ConditionExpression: '#status = :created AND lastSeq = :none',
              ExpressionAttributeNames: { '#status': 'status' },
              ExpressionAttributeValues: { ':created': 'created', ':none': -1 },
            },
          },
          {
            Delete: {
              TableName,
              Key: keys.workspace(workspace),
              ConditionExpression: 'attribute_not_exists(sandbox) AND #users = :only',
              ExpressionAttributeNames: { '#users': 'users' },
              ExpressionAttributeValues: { ':only': new Set([id]) },
            },
          },
        ],
      }),
    );
    return result === 'done';
  };

export const forget =
  (table: Table): SessionStore['forget'] =>
  async (id) => {
    const { client, name } = table;
    const { pk, sk: last } = keys.session(id);
    let start: Record<string, unknown> | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName: name,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': pk },
          ProjectionExpression: 'pk, sk',
          ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        }),
      );
      const keysOfPage = Items.map(({ sk }) => ({ pk, sk: String(sk) }));
      await batchDelete(
        table,
        keysOfPage.filter(({ sk }) => sk !== last),
      );
      start = LastEvaluatedKey;
    } while (start !== undefined);
    // The record goes last: who dies before it finds the rest again.
    await batchDelete(table, [{ pk, sk: last }]);
  };

export const postpone =
  ({ client, name }: Table): SessionStore['postpone'] =>
  async ({ id, workSeq, lease, lastActiveAt, dueAt: before }, dueAt) => {
    try {
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.session(id),
          ConditionExpression:
            'workSeq = :workSeq AND leaseFence = :fence AND lastActiveAt = :lastActiveAt AND dueAt = :before',
          UpdateExpression: 'SET duePk = :duePk, dueAt = :dueAt',
          ExpressionAttributeValues: {
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
