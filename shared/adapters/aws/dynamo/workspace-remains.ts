/**
 * The end of a workspace's record, and what it leaves: one item that is due when no save that began before can write any
 * more. Record and item change in one transaction, so that no deletion goes without its second look (SN3). For as long as it is there,
 * and a week more, no workspace is made under the same id (WS2).
 */
import { GetCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { remainsRecord } from '#shared/contracts/stored/workspace-records.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { deletedWorkspaceSeconds, lateSaveMsMax } from '#shared/domain/limits.ts';
import { sourcesReleasedMax, workspaceHolder } from '#shared/domain/pins.ts';
import type { Remains, RemainsStore } from '#shared/ports/remains.ts';
import { dueRecords } from './due.ts';
import { removable } from './named-workspaces.ts';
import { releaseActions, sourcesReleased } from './pin-actions.ts';
import { dueValues, isConditionFailed, keys, namesDeclared, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { workspaceFrom } from './workspace-items.ts';

export const makeRemains = (table: Table): RemainsStore => ({
  remove: remove(table),
  dueRemains: (now, itemsMax, onUnreadable) =>
    dueRecords(table, { kind: 'remains', now, itemsMax, onUnreadable }, (item) =>
      decodeStored(remainsRecord, item),
    ),
  postponeRemains: postpone(table),
  endRemains: async (remains, at) => {
    const set = 'SET #ttl = :ttl REMOVE duePk, dueAt';
    const values = { ':ttl': Math.ceil(at / 1000) + deletedWorkspaceSeconds };
    await changeAsRead(table, remains, { set, values });
  },
  hasRemains: async (id) => {
    const { client, name: TableName } = table;
    const read = { TableName, Key: keys.remains(id), ConsistentRead: true };
    return (await client.send(new GetCommand(read))).Item !== undefined;
  },
});

const remove =
  (table: Table): RemainsStore['remove'] =>
  async (id, at) => {
    const refused = await removeHolding(table, { id, at, sources: [] });
    if (refused === 'done') return true;
    const item = refused[0]?.item;
    if (item?.['sources'] === undefined) return false;
    const sources = await fewSources(table, { id, at, sources: workspaceFrom(item).sources ?? [] });
    return sources !== undefined && (await removeHolding(table, { id, at, sources })) === 'done';
  };

type Removal = { readonly id: WorkspaceId; readonly at: number; readonly sources: readonly WorkspaceId[] };

/**
 * Ends the pins that one transaction cannot end together with the record, which is closed for good with the first of them; those that
 * are left. Undefined when it is in use, or another caller removes it at the same time.
 */
const fewSources = async (
  table: Table,
  { id, at, sources }: Removal,
): Promise<Removal['sources'] | undefined> => {
  let left = sources;
  while (left.length > sourcesReleasedMax) {
    const TransactItems = sourcesReleased(table.name, id, {
      when: `${removable.ConditionExpression} AND sources = :left`,
      set: 'SET deletedAt = if_not_exists(deletedAt, :at)',
      values: { ...removable.ExpressionAttributeValues, ':left': new Set(left), ':at': at },
      ...{ sources: left.slice(0, sourcesReleasedMax), at },
    });
    if ((await transact(table, new TransactWriteCommand({ TransactItems }))) !== 'done') return undefined;
    left = left.slice(sourcesReleasedMax);
  }
  return left;
};

/** The record of a workspace whose pins are on these others and end with it. */
const removeHolding = (table: Table, { id, at, sources }: Removal) => {
  const { name: TableName } = table;
  const { ConditionExpression, ExpressionAttributeValues, ...rest } = removable;
  const holds =
    sources.length === 0
      ? { when: 'attribute_not_exists(sources)', values: {} }
      : { when: 'sources = :sources', values: { ':sources': new Set(sources) } };
  const own = {
    ...{ TableName, Key: keys.workspace(id), ...rest },
    ConditionExpression: `${ConditionExpression} AND ${holds.when}`,
    ExpressionAttributeValues: { ...ExpressionAttributeValues, ...holds.values },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
  const { ':duePk': duePk, ':dueAt': dueAt } = dueValues('remains', id, at + lateSaveMsMax);
  const remains = { Put: { TableName, Item: { ...keys.remains(id), id, duePk, dueAt } } };
  const pins = sources.map((owner) => ({ owner, holder: workspaceHolder(id) }));
  const TransactItems = [{ Delete: own }, remains, ...releaseActions(TableName, pins, at)];
  return transact(table, new TransactWriteCommand({ TransactItems }));
};

const postpone =
  (table: Table): RemainsStore['postponeRemains'] =>
  async (remains, dueAt) => {
    const moved = { set: 'SET dueAt = :dueAt', values: { ':dueAt': dueAt } };
    return (await changeAsRead(table, remains, moved)) ? { id: remains.id, dueAt } : undefined;
  };

type Change = { readonly set: string; readonly values: Readonly<Record<string, number>> };

/** False when another janitor moved them. */
const changeAsRead = async (
  { client, name: TableName }: Table,
  { id, dueAt }: Remains,
  { set, values }: Change,
): Promise<boolean> => {
  try {
    await client.send(
      new UpdateCommand({
        ...{ TableName, Key: keys.remains(id), UpdateExpression: set, ...namesDeclared(set) },
        ConditionExpression: 'dueAt = :before',
        ExpressionAttributeValues: { ...values, ':before': dueAt },
      }),
    );
    return true;
  } catch (error) {
    if (!isConditionFailed(error)) throw error;
    return false;
  }
};
