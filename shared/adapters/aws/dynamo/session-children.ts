/**
 * Children in the table: each is made under its parent's lease, or while that rests, and counted in its tree (CH2), and found again
 * from the root.
 */
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { SessionId } from '#shared/domain/ids.ts';
import { rootSessionOf, type Session } from '#shared/domain/session.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { batchGet } from './batch.ts';
import { prefixedItems } from './partition.ts';
import { endedStatuses, lives, statusNames, whileLives } from './session-conditions.ts';
import { sessionFrom } from './session-items.ts';
import { keys, prefixes, type Table } from './table.ts';
import { growTree } from './trees.ts';

type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;
type Birth = { readonly parent: Session; readonly agentsMax: number; readonly isUnleased?: true | undefined };

/** The conditions that its parent lives and works on and that its tree has room, and its entry at the root. */
export const treeActions = (
  TableName: string,
  child: Session,
  { parent, agentsMax, isUnleased }: Birth,
): { readonly ofParent: Actions; readonly ofTree: Actions } => {
  const root = rootSessionOf(parent);
  const update = {
    TableName,
    Key: keys.session(parent.id),
    // A step that was left knows an older cost, with which a tree would begin.
    ConditionExpression: `${lives} AND ${isUnleased ? 'lastSeq' : 'leaseFence'} = :seen AND costUsd = :costUsd`,
    UpdateExpression: 'SET hasChildren = :true',
    ExpressionAttributeNames: statusNames,
    ExpressionAttributeValues: {
      ...endedStatuses,
      ':seen': isUnleased ? parent.lastSeq : parent.lease.fence,
      ':costUsd': parent.costUsd,
      ':true': true,
    },
  };
  const pointer = { ...keys.child(root, child.createdAt, child.id), child: child.id };
  return {
    // The items of the tree are deleted with its root.
    ofParent: [{ Update: update }, ...(root === parent.id ? [] : [whileLives(TableName, root)])],
    ofTree: [
      growTree(TableName, { root, spentUsd: parent.costUsd, agentsMax }),
      { Put: { TableName, Item: pointer } },
    ],
  };
};

export const descendants =
  (table: Table): SessionStore['descendants'] =>
  async (root) => {
    const items = await prefixedItems(table, { pk: keys.session(root).pk, sk: prefixes.child });
    const ids = items.map(({ child }) => child as SessionId);
    const found = (await batchGet(table, ids.map(keys.session))).map(sessionFrom);
    return found.sort((one, other) => one.createdAt - other.createdAt);
  };
