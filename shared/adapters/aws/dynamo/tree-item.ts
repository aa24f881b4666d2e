/**
 * The item of a tree of sessions: how it is read, and the writes that change it. It refuses nothing itself.
 *
 * Each write is a transaction, even with a single action: only transactions that meet on an item are refused with a conflict, and
 * retried.
 */
import {
  GetCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { treeRecord } from '#shared/contracts/stored/deployment-records.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import type { TreeStore } from '#shared/ports/trees.ts';
import { keys, type Table } from './table.ts';

export type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];
export type Change = Pick<
  UpdateCommandInput,
  | 'ConditionExpression'
  | 'ExpressionAttributeNames'
  | 'ExpressionAttributeValues'
  | 'ReturnValuesOnConditionCheckFailure'
> & { readonly UpdateExpression: string };

export const treeUpdate = (TableName: string, root: SessionId, change: Change): Action => ({
  Update: { TableName, Key: keys.tree(root), ...change },
});

export const alone = (action: Action): TransactWriteCommand =>
  new TransactWriteCommand({ TransactItems: [action] });

export const readTree =
  ({ client, name }: Table): TreeStore['read'] =>
  async (root) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: keys.tree(root), ConsistentRead: true }),
    );
    return Item && decodeStored(treeRecord, Item);
  };

/** Each lost race is a call of another session that began or ended. */
export const racesMax = 50;
