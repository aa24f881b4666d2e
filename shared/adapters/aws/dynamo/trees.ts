/**
 * Trees of sessions in the table: one item beside the root's, with the agents and the money of all of them.
 *
 * Made with the first child, in its transaction, or with a session that is given a slice; any other session without children has none.
 */
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { treeRecord } from '#shared/contracts/stored/deployment-records.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { decideReservation, type Tree, type TreeSpend, withReservation } from '#shared/domain/tree-budget.ts';
import type { TreeStore } from '#shared/ports/trees.ts';
import { endedStatuses, lives, statusNames } from './session-conditions.ts';
import { keys, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { type Action, alone, type Change, racesMax, readTree, treeUpdate } from './tree-item.ts';
import { addSlice, limitSlice, slicesChange, useToolCall } from './tree-slices.ts';

export const makeTreeStore = (table: Table): TreeStore => ({
  read: readTree(table),
  reserve: reserve(table),
  begin: begin(table),
  spend: spend(table),
  addSlice: addSlice(table),
  limitSlice: limitSlice(table),
  useToolCall: useToolCall(table),
  release: async (root, { session, fence, unsettledUsd, slices, unsettledTokens }) => {
    const ofSlices = slicesChange(slices, { unsettledUsd, unsettledTokens });
    const own: Change = {
      ConditionExpression: 'reserved.#session.fence = :fence',
      UpdateExpression: `REMOVE reserved.#session ${ofSlices.set} ADD unsettledUsd :unsettledUsd, version :one`,
      ExpressionAttributeNames: { '#session': session, ...ofSlices.ExpressionAttributeNames },
      ExpressionAttributeValues: {
        ...{ ':fence': fence, ':unsettledUsd': unsettledUsd, ':one': 1 },
        ...ofSlices.ExpressionAttributeValues,
      },
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
      'SET agents = if_not_exists(agents, :one) + :one, spentUsd = if_not_exists(spentUsd, :spentUsd), reserved = if_not_exists(reserved, :none), slices = if_not_exists(slices, :none) ADD version :one',
    ExpressionAttributeValues: { ':one': 1, ':max': agentsMax, ':spentUsd': spentUsd, ':none': {} },
  });

/** The call of a session has ended: its cost replaces its reservation (TM4, TM7). Refused without a tree. */
export const spendOfTree = (
  TableName: string,
  {
    root,
    session,
    usd,
    unsettledUsd = 0,
    slices,
    isUnreserved,
    ...used
  }: TreeSpend & { readonly session: SessionId },
): Action => {
  const { tokens, unsettledTokens, toolCalls } = used;
  const sums = { spentUsd: usd, unsettledUsd, tokens, unsettledTokens, toolCalls };
  const ofSlices = slicesChange(slices, sums);
  const removed = isUnreserved ? '' : 'REMOVE reserved.#session ';
  return treeUpdate(TableName, root, {
    ConditionExpression: 'attribute_exists(pk)',
    UpdateExpression: `${removed}${ofSlices.set} ADD spentUsd :spentUsd, unsettledUsd :unsettledUsd, version :one`,
    ExpressionAttributeNames: {
      ...(isUnreserved ? {} : { '#session': session }),
      ...ofSlices.ExpressionAttributeNames,
    },
    ExpressionAttributeValues: {
      ...{ ':spentUsd': usd, ':unsettledUsd': unsettledUsd, ':one': 1 },
      ...ofSlices.ExpressionAttributeValues,
    },
  });
};

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
  async (root, { reservation, session, usage, ...spent }) => {
    const { usd } = spent;
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
    const ofTree = spendOfTree(table.name, { root, session: reservation, ...spent });
    await transact(table, new TransactWriteCommand({ TransactItems: [ofTree, { Update: billed }] }));
  };

/** A lost race returns the tree as it is now: one read, and as many writes as there are races. */
const reserve =
  (table: Table): TreeStore['reserve'] =>
  async (root, request) => {
    let tree = await readTree(table)(root);
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
  { version, reserved, unsettledUsd = 0, slices = {} }: Tree,
): Action =>
  treeUpdate(TableName, root, {
    ConditionExpression: 'version = :version',
    UpdateExpression:
      'SET reserved = :reserved, unsettledUsd = :unsettled, slices = :slices ADD version :one',
    ExpressionAttributeValues: {
      ':version': version,
      ':reserved': reserved,
      ':unsettled': unsettledUsd,
      ':slices': slices,
      ':one': 1,
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
