/**
 * Trees of sessions in the table: one item beside the root's, with the agents and the money of all of them.
 *
 * Made with the first child, in its transaction; a session without children has none. Each write is a
 * transaction, even with a single action: only transactions that meet on an item are refused with a conflict, and
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
import {
  decideReservation,
  type Tree,
  type TreeSpend,
  withReservation,
} from '#shared/domain/session-tree.ts';
import type { TreeStore } from '#shared/ports/trees.ts';
import { endedStatuses, lives, statusNames } from './session-life.ts';
import { keys, type Table } from './table.ts';
import { transact } from './transaction.ts';

type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];
type Change = Pick<
  UpdateCommandInput,
  | 'ConditionExpression'
  | 'ExpressionAttributeNames'
  | 'ExpressionAttributeValues'
  | 'ReturnValuesOnConditionCheckFailure'
> & { readonly UpdateExpression: string };

/** Each lost race is a call of another session that began or ended. */
const racesMax = 50;

export const makeTreeStore = (table: Table): TreeStore => ({
  read: read(table),
  reserve: reserve(table),
  begin: begin(table),
  spend: spend(table),
  release: async (root, { session, fence, unsettledUsd }) => {
    const own: Change = {
      ConditionExpression: 'reserved.#session.fence = :fence',
      UpdateExpression: 'REMOVE reserved.#session ADD unsettledUsd :unsettled, version :one',
      ExpressionAttributeNames: { '#session': session },
      ExpressionAttributeValues: { ':fence': fence, ':unsettled': unsettledUsd, ':one': 1 },
    };
    await transact(table, alone(treeUpdate(table.name, root, own)));
  },
});

/** One agent more; the root is the first. Refused when the tree has as many as it may. */
export const growTree = (
  TableName: string,
  {
    root,
    spentUsd,
    agentsMax,
  }: {
    readonly root: SessionId;
    /** The cost of the root before its first child. */
    readonly spentUsd: number;
    readonly agentsMax: number;
  },
): Action =>
  treeUpdate(TableName, root, {
    ConditionExpression: agentsMax > 1 ? 'attribute_not_exists(agents) OR agents < :max' : 'agents < :max',
    UpdateExpression:
      'SET agents = if_not_exists(agents, :one) + :one, spentUsd = if_not_exists(spentUsd, :spentUsd), reserved = if_not_exists(reserved, :none) ADD version :one',
    ExpressionAttributeValues: { ':one': 1, ':max': agentsMax, ':spentUsd': spentUsd, ':none': {} },
  });

/** The call of a session has ended: its cost replaces its reservation (TM4, TM7). Refused without a tree. */
export const spendOfTree = (
  TableName: string,
  { root, session, usd, unsettledUsd = 0 }: TreeSpend & { readonly session: SessionId },
): Action =>
  treeUpdate(TableName, root, {
    ConditionExpression: 'attribute_exists(pk)',
    UpdateExpression: 'REMOVE reserved.#session ADD spentUsd :usd, unsettledUsd :unsettled, version :one',
    ExpressionAttributeNames: { '#session': session },
    ExpressionAttributeValues: { ':usd': usd, ':unsettled': unsettledUsd, ':one': 1 },
  });

/** A session with a tree of its own and no child: so that its turn reserves money, too. */
const begin =
  (table: Table): TreeStore['begin'] =>
  async ({ id, lastSeq, costUsd }) => {
    const marked = {
      TableName: table.name,
      Key: keys.session(id),
      ConditionExpression: `${lives} AND lastSeq = :seen`,
      UpdateExpression: 'SET hasChildren = :true',
      ExpressionAttributeNames: statusNames,
      ExpressionAttributeValues: { ...endedStatuses, ':seen': lastSeq, ':true': true },
    };
    const grown = treeUpdate(table.name, id, {
      ConditionExpression: 'attribute_not_exists(agents)',
      UpdateExpression: 'SET agents = :one, spentUsd = :spentUsd, reserved = :none ADD version :one',
      ExpressionAttributeValues: { ':one': 1, ':spentUsd': costUsd, ':none': {} },
    });
    const TransactItems = [{ Update: marked }, grown];
    return (await transact(table, new TransactWriteCommand({ TransactItems }))) === 'done';
  };

/** Both or neither: what the session shows is what its tree has spent. */
const spend =
  (table: Table): TreeStore['spend'] =>
  async (root, { reservation, session, usd, usage, unsettledUsd }) => {
    const billed = {
      TableName: table.name,
      Key: keys.session(session),
      ConditionExpression: 'attribute_exists(pk)',
      UpdateExpression: 'ADD brokeredUsd :usd, brokeredInputTokens :input, brokeredOutputTokens :output',
      ExpressionAttributeValues: {
        ':usd': usd,
        ':input': usage.inputTokens,
        ':output': usage.outputTokens,
      },
    };
    const ofTree = spendOfTree(table.name, { root, session: reservation, usd, unsettledUsd });
    await transact(table, new TransactWriteCommand({ TransactItems: [ofTree, { Update: billed }] }));
  };

const treeUpdate = (TableName: string, root: SessionId, change: Change): Action => ({
  Update: { TableName, Key: keys.tree(root), ...change },
});

const alone = (action: Action): TransactWriteCommand => new TransactWriteCommand({ TransactItems: [action] });

const read =
  ({ client, name }: Table): TreeStore['read'] =>
  async (root) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: keys.tree(root), ConsistentRead: true }),
    );
    return Item && decodeStored(treeRecord, Item);
  };

/** A lost race returns the tree as it is now: one read, and as many writes as there are races. */
const reserve =
  (table: Table): TreeStore['reserve'] =>
  async (root, request) => {
    let tree = await read(table)(root);
    for (let race = 0; race < racesMax; race += 1) {
      if (tree === undefined) return 'spent';
      const answer = decideReservation(tree, request);
      if (typeof answer === 'string') return answer;
      const after = { ...tree, ...withReservation(tree, { ...request, usd: answer.grantedUsd }) };
      const result = await transact(table, alone(replaced(table.name, root, after)));
      if (result === 'done') return answer;
      const now = result[0]?.item;
      tree = now && decodeStored(treeRecord, now);
    }
    return 'busy';
  };

const replaced = (
  TableName: string,
  root: SessionId,
  { version, reserved, unsettledUsd = 0 }: Tree,
): Action =>
  treeUpdate(TableName, root, {
    ConditionExpression: 'version = :version',
    UpdateExpression: 'SET reserved = :reserved, unsettledUsd = :unsettled ADD version :one',
    ExpressionAttributeValues: {
      ':version': version,
      ':reserved': reserved,
      ':unsettled': unsettledUsd,
      ':one': 1,
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
