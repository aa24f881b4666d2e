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
import type { Payers } from '#shared/domain/sandbox-meter.ts';
import {
  decideReservation,
  type Tree,
  type TreeSpend,
  withReservation,
} from '#shared/domain/session-tree.ts';
import { decideToolCall } from '#shared/domain/tool-call-use.ts';
import { newSlice } from '#shared/domain/tree-slice.ts';
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

type SliceSums = Partial<
  Readonly<
    Record<
      'spentUsd' | 'unsettledUsd' | 'tokens' | 'unsettledTokens' | 'toolCalls' | 'egressBytes',
      number | undefined
    >
  >
>;

/**
 * Sums of each slice that pays, which are numbers below the top of the item: `ADD` takes none of those. A call that costs nothing changes
 * none, so that it is not refused where its slice is not written yet.
 */
const slicesChange = (
  slices: readonly SessionId[] = [],
  sums: SliceSums,
): Pick<Change, 'ExpressionAttributeNames' | 'ExpressionAttributeValues'> & { readonly set: string } => {
  const added = Object.entries(sums).filter(([, sum]) => sum !== undefined && sum > 0);
  const paying = added.length === 0 ? [] : slices;
  const set = paying.flatMap((_, place) =>
    added.map(([name]) => {
      const path = `slices.#slice${place}.${name}`;
      return `${path} = if_not_exists(${path}, :nothing) + :slice_${name}`;
    }),
  );
  if (set.length === 0) return { set: '' };
  return {
    set: `SET ${set.join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(paying.map((id, place) => [`#slice${place}`, id])),
    ExpressionAttributeValues: {
      ':nothing': 0,
      ...Object.fromEntries(added.map(([name, sum]) => [`:slice_${name}`, sum])),
    },
  };
};

/** Repeated, it changes nothing. The tree was made or grown with the child: it has a place for slices. */
const addSlice =
  (table: Table): TreeStore['addSlice'] =>
  async (root, { session, ...limits }) => {
    const slice = newSlice(limits);
    const given: Change = {
      ConditionExpression: 'attribute_exists(slices)',
      UpdateExpression: 'SET slices.#session = if_not_exists(slices.#session, :slice) ADD version :one',
      ExpressionAttributeNames: { '#session': session },
      ExpressionAttributeValues: { ':slice': slice, ':one': 1 },
    };
    await transact(table, alone(treeUpdate(table.name, root, given)));
  };

/** Made where there is none: whoever makes it first, the second update finds it. */
const limitSlice =
  (table: Table): TreeStore['limitSlice'] =>
  async (root, { session, usdMax, spentUsd }) => {
    const ExpressionAttributeNames = { '#session': session };
    const made: Change = {
      ConditionExpression: 'attribute_exists(slices) AND attribute_not_exists(slices.#session)',
      UpdateExpression: 'SET slices.#session = :slice ADD version :one',
      ExpressionAttributeNames,
      ExpressionAttributeValues: { ':slice': { ...newSlice({ usdMax }), spentUsd }, ':one': 1 },
    };
    if ((await transact(table, alone(treeUpdate(table.name, root, made)))) === 'done') return;
    const limited: Change = {
      ConditionExpression: 'attribute_exists(slices.#session)',
      UpdateExpression: 'SET slices.#session.usdMax = :usdMax ADD version :one',
      ExpressionAttributeNames,
      ExpressionAttributeValues: { ':usdMax': usdMax, ':one': 1 },
    };
    await transact(table, alone(treeUpdate(table.name, root, limited)));
  };

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

/** Used without a reservation. Refused where one of the slices does not exist, or the tree is not of that version. */
export const spendOfSlices = (
  TableName: string,
  { root, slices }: Payers,
  sums: SliceSums & { readonly version?: number | undefined },
): Action => {
  const { version, ...used } = sums;
  const { set, ExpressionAttributeNames, ExpressionAttributeValues } = slicesChange(slices, used);
  return treeUpdate(TableName, root, {
    ConditionExpression: [
      ...slices.map((_, place) => `attribute_exists(slices.#slice${place})`),
      ...(version === undefined ? [] : ['version = :version']),
    ].join(' AND '),
    UpdateExpression: `${set} ADD version :one`,
    ...(ExpressionAttributeNames === undefined ? {} : { ExpressionAttributeNames }),
    ExpressionAttributeValues: {
      ...ExpressionAttributeValues,
      ':one': 1,
      ...(version === undefined ? {} : { ':version': version }),
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
};

const useToolCall =
  (table: Table): TreeStore['useToolCall'] =>
  async ({ root, slices }, at) => {
    let tree = await readTree(table)(root);
    for (let race = 0; race < racesMax; race += 1) {
      if (tree === undefined) return 'spent';
      const use = decideToolCall(tree, { slices, at });
      if (use !== 'counted') return use;
      const { version } = tree;
      const used = spendOfSlices(table.name, { root, slices }, { toolCalls: 1, version });
      const result = await transact(table, alone(used));
      if (result === 'done') return use;
      const now = result[0]?.item;
      tree = now && decodeStored(treeRecord, now);
    }
    return 'busy';
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

export const treeUpdate = (TableName: string, root: SessionId, change: Change): Action => ({
  Update: { TableName, Key: keys.tree(root), ...change },
});

const alone = (action: Action): TransactWriteCommand => new TransactWriteCommand({ TransactItems: [action] });

export const readTree =
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
