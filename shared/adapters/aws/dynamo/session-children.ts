/**
 * Children in the table: each is made under its parent's lease and counted in its tree (CH2), and found again
 * from the root.
 */
import { QueryCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { SessionId } from '#shared/domain/ids.ts';
import { type Session, treeOf } from '#shared/domain/session.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { batchGet } from './batch.ts';
import { sessionFrom } from './session-items.ts';
import { keys, type Table } from './table.ts';
import { growTree } from './trees.ts';

type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;
type Birth = { readonly parent: Session; readonly agentsMax: number };

/** The condition, its names and its values. */
export const lives = 'attribute_exists(pk) AND NOT #status IN (:completed, :failed, :stopped)';
export const statusNames = { '#status': 'status' };
export const endedStatuses = { ':completed': 'completed', ':failed': 'failed', ':stopped': 'stopped' };

/** The conditions that its parent lives and works on and that its tree has room, and its entry at the root. */
export const treeActions = (
  TableName: string,
  child: Session,
  { parent, agentsMax }: Birth,
): { readonly ofParent: Actions; readonly ofTree: Actions } => {
  const root = treeOf(parent) ?? parent.id;
  const update = {
    TableName,
    Key: keys.session(parent.id),
    ConditionExpression: `${lives} AND leaseFence = :fence`,
    UpdateExpression: 'SET hasChildren = :true',
    ExpressionAttributeNames: statusNames,
    ExpressionAttributeValues: { ...endedStatuses, ':fence': parent.lease.fence, ':true': true },
  };
  const pointer = { ...keys.child(root, child.createdAt, child.id), child: child.id };
  return {
    ofParent: [{ Update: update }],
    ofTree: [
      growTree(TableName, { root, spentUsd: parent.costUsd, agentsMax }),
      { Put: { TableName, Item: pointer } },
    ],
  };
};

export const descendants =
  (table: Table): SessionStore['descendants'] =>
  async (root) => {
    const ids: SessionId[] = [];
    let start: Record<string, unknown> | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await table.client.send(
        new QueryCommand({
          TableName: table.name,
          KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
          ExpressionAttributeValues: { ':pk': keys.session(root).pk, ':prefix': 'CHILD#' },
          ConsistentRead: true,
          ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        }),
      );
      ids.push(...Items.map(({ child }) => child as SessionId));
      start = LastEvaluatedKey;
    } while (start !== undefined);
    const found = (await batchGet(table, ids.map(keys.session))).map(sessionFrom);
    return found.sort((one, other) => one.createdAt - other.createdAt);
  };
