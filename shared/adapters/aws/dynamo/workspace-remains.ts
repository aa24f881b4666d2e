/**
 * The end of a workspace's record, and what it leaves: one item that is due when no save that began before can write any
 * more. Record and item change in one transaction, so that no deletion goes without its second look (SN3).
 */
import { DeleteCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { remainsRecord } from '#shared/contracts/stored/workspace-records.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { lateSaveMsMax } from '#shared/domain/limits.ts';
import { sourcesReleasedMax, workspaceHolder } from '#shared/domain/pins.ts';
import type { RemainsStore } from '#shared/ports/remains.ts';
import { dueRecords } from './due.ts';
import { remainsPut, removable } from './named-workspaces.ts';
import { releaseActions, sourcesReleased } from './pin-actions.ts';
import { isConditionFailed, keys, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { workspaceFrom } from './workspace-items.ts';

export const makeRemains = (table: Table): RemainsStore => ({
  remove: remove(table),
  dueRemains: (now, itemsMax, onUnreadable) =>
    dueRecords(table, { kind: 'remains', now, itemsMax, onUnreadable }, (item) =>
      decodeStored(remainsRecord, item),
    ),
  postponeRemains: postpone(table),
  removeRemains: async ({ id, dueAt }) => {
    const { client, name: TableName } = table;
    const wanted = { TableName, Key: keys.remains(id), ...asRead(dueAt) };
    try {
      await client.send(new DeleteCommand(wanted));
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
    }
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
  const remains = remainsPut(TableName, id, at + lateSaveMsMax);
  const pins = sources.map((owner) => ({ owner, holder: workspaceHolder(id) }));
  const TransactItems = [{ Delete: own }, remains, ...releaseActions(TableName, pins, at)];
  return transact(table, new TransactWriteCommand({ TransactItems }));
};

const asRead = (dueAt: number) => ({
  ConditionExpression: 'dueAt = :before',
  ExpressionAttributeValues: { ':before': dueAt },
});

const postpone =
  ({ client, name: TableName }: Table): RemainsStore['postponeRemains'] =>
  async ({ id, dueAt: before }, dueAt) => {
    const { ConditionExpression, ExpressionAttributeValues } = asRead(before);
    const change = { ConditionExpression, UpdateExpression: 'SET dueAt = :dueAt' };
    const values = { ...ExpressionAttributeValues, ':dueAt': dueAt };
    const wanted = { TableName, Key: keys.remains(id), ...change, ExpressionAttributeValues: values };
    try {
      await client.send(new UpdateCommand(wanted));
      return { id, dueAt };
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
      return undefined;
    }
  };
