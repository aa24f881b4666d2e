/**
 * The removal of a session from the table: of one that was never used in one transaction, of an ended one step by step.
 *
 * An ended session is sealed first: from then on nothing reopens it, and nothing is written beside it but items that expire.
 * Then its items are deleted, and its record last: a caller that dies before that leaves a record, by which the rest is
 * found again. A session that was reopened is not sealed, and stays.
 */
import { PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { isDerived, type SessionId } from '#shared/domain/ids.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { batchDelete } from './batch.ts';
import { queryPages } from './query-pages.ts';
import { endedStatuses, hasEnded, statusNames } from './session-conditions.ts';
import { pointerOf, sessionFrom } from './session-items.ts';
import type { Actions } from './slot-moves.ts';
import { type Item, isConditionFailed, itemOfFailure, keys, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { type Change, workspaceUpdate } from './workspace-changes.ts';

/** The items with which a session is made, beside its record. */
const besideOf = (id: SessionId) => [keys.environment(id), keys.instructions(id), keys.tree(id)];

export const removeUnused =
  (table: Table): SessionStore['removeUnused'] =>
  async (session) => {
    const { id, workspace } = session;
    const { name: TableName } = table;
    const unused: Actions = [
      {
        Delete: {
          TableName,
          Key: keys.session(id),
          ConditionExpression: '#status IN (:created, :creating) AND lastSeq = :none',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':created': 'created', ':creating': 'creating', ':none': -1 },
        },
      },
      ...[pointerOf(session), ...besideOf(id)].map((Key) => ({ Delete: { TableName, Key } })),
    ];
    const users = { ':own': new Set([id]) };
    const withWorkspace: Actions[number] = {
      Delete: {
        TableName,
        Key: keys.workspace(workspace),
        ConditionExpression:
          'attribute_not_exists(sandbox) AND attribute_not_exists(#checkpoint) AND attribute_not_exists(isNamed) AND #users = :own',
        ExpressionAttributeNames: { '#users': 'users', '#checkpoint': 'checkpoint' },
        ExpressionAttributeValues: users,
      },
    };
    const remove = (TransactItems: Actions) => transact(table, new TransactWriteCommand({ TransactItems }));
    const result = await remove([...unused, withWorkspace]);
    if (result === 'done' || result[0]?.code === 'ConditionalCheckFailed') return result === 'done';
    // A workspace that has a name or other users stays; one with files ends with its session.
    const left: Change = {
      when: 'attribute_exists(isNamed) OR (attribute_not_exists(sandbox) AND #users <> :own)',
      set: 'DELETE #users :own',
      values: users,
    };
    return (await remove([...unused, workspaceUpdate(TableName, workspace, left)])) === 'done';
  };

export const forget =
  (table: Table): SessionStore['forget'] =>
  async (id, at) => {
    const sealed = await seal(table, keys.session(id));
    if (typeof sealed === 'string') return sealed === 'deleted';
    const { pk, sk: last } = keys.session(id);
    const pages = queryPages(table, {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': pk },
      ProjectionExpression: 'pk, sk',
      ConsistentRead: true,
    });
    const pointer = pointerOf(sessionFrom(sealed));
    // Its pointer in the project is deleted now, the record last.
    for await (const items of pages)
      await batchDelete(
        table,
        items.map(({ sk }) => (sk === last ? pointer : { pk, sk: String(sk) })),
      );
    if (isDerived(id)) await leaveMark(table, id, at);
    await batchDelete(table, [{ pk, sk: last }]);
    return true;
  };

/** A caller that derives its id again within a day makes no second one. */
const leaveMark = async ({ client, name: TableName }: Table, id: SessionId, at: number): Promise<void> => {
  const Item = { ...keys.forgotten(id), ttl: Math.ceil(at / 1000) + markSeconds };
  await client.send(new PutCommand({ TableName, Item }));
};

const markSeconds = 86_400;

/** The record of the sealed session. */
const seal = async (
  { client, name }: Table,
  Key: ReturnType<typeof keys.session>,
): Promise<Item | 'deleted' | 'reopened'> => {
  try {
    const { Attributes = {} } = await client.send(
      new UpdateCommand({
        TableName: name,
        Key,
        ConditionExpression: hasEnded,
        UpdateExpression: 'SET isSealed = :true',
        ExpressionAttributeNames: statusNames,
        ExpressionAttributeValues: { ...endedStatuses, ':true': true },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return Attributes;
  } catch (error) {
    if (!isConditionFailed(error)) throw error;
    return itemOfFailure(error) === undefined ? 'deleted' : 'reopened';
  }
};
