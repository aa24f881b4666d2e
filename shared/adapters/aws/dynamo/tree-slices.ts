/**
 * Slices in the item of their tree: created, limited again, and used. Refused if the tree, or a slice that pays, does not
 * exist.
 */
import { decodeStored } from '#shared/contracts/decode.ts';
import { treeRecord } from '#shared/contracts/stored/deployment-records.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import type { Payers } from '#shared/domain/sandbox-meter.ts';
import { decideToolCall } from '#shared/domain/tool-call-use.ts';
import { newSlice, type SliceLimits } from '#shared/domain/tree-slice.ts';
import type { TreeStore } from '#shared/ports/trees.ts';
import type { Table } from './table.ts';
import { transact } from './transaction.ts';
import { type Action, alone, type Change, racesMax, readTree, treeUpdate } from './tree-item.ts';

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
export const slicesChange = (
  slices: readonly SessionId[] = [],
  sums: SliceSums,
): Pick<Change, 'ExpressionAttributeNames' | 'ExpressionAttributeValues'> & { readonly set: string } => {
  const added = Object.entries(sums).filter(([, sum]) => sum !== undefined && sum !== 0);
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

/** The tree of a new session that is given a slice. */
export const beginSliced = (TableName: string, root: SessionId, limits: SliceLimits): Action =>
  treeUpdate(TableName, root, {
    ConditionExpression: 'attribute_not_exists(agents)',
    UpdateExpression:
      'SET agents = :one, spentUsd = :nothing, reserved = :none, slices = :slices ADD version :one',
    ExpressionAttributeValues: {
      ...{ ':one': 1, ':nothing': 0, ':none': {} },
      ':slices': { [root]: newSlice(limits) },
    },
  });

/** Repeated, it changes nothing. The tree was made or grown with the child: it has a place for slices. */
export const addSlice =
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

/**
 * Made where there is none: the second update finds the first. Its maker may have died before a session named it:
 * what the branch has spent since counts, too.
 */
export const limitSlice =
  (table: Table): TreeStore['limitSlice'] =>
  async (root, { session, usdMax, spentUsd = 0 }) => {
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
    if (spentUsd === 0) return;
    const counted: Change = {
      ConditionExpression: 'attribute_exists(slices.#session) AND slices.#session.spentUsd < :spentUsd',
      UpdateExpression: 'SET slices.#session.spentUsd = :spentUsd ADD version :one',
      ExpressionAttributeNames,
      ExpressionAttributeValues: { ':spentUsd': spentUsd, ':one': 1 },
    };
    await transact(table, alone(treeUpdate(table.name, root, counted)));
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

export const useToolCall =
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
