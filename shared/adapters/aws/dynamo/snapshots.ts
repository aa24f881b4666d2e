/**
 * `SnapshotStore` on the one table: an item per snapshot in its project's partition, beside a counter that makes the
 * limit hard (SN6). Its pins are made and ended in the same transactions.
 */
import { GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { snapshotRecord } from '#shared/contracts/stored/workspace-records.ts';
import type { AuditRow } from '#shared/domain/audit.ts';
import type { ProjectId } from '#shared/domain/ids.ts';
import { pinsFor, snapshotHolder } from '#shared/domain/pins.ts';
import { type Snapshot, sourceOfWorkspace } from '#shared/domain/snapshot.ts';
import type { SnapshotStore } from '#shared/ports/snapshots.ts';
import { auditItem } from './audit-log.ts';
import { prefixedItems } from './partition.ts';
import { pinActions, releaseActions, sourceActions } from './pin-actions.ts';
import { ifProjectNotDeleted } from './project-not-deleted.ts';
import { type Item, keys, type Table } from './table.ts';
import { transact } from './transaction.ts';

export const makeSnapshotStore = (table: Table): SnapshotStore => ({
  create: create(table),
  get: get(table),
  list: list(table),
  remove: remove(table),
});

const snapshotFrom = (item: Item): Snapshot => decodeStored(snapshotRecord, item);

const counting = (TableName: string, project: ProjectId, step: number) => ({
  TableName,
  Key: keys.snapshotCount(project),
  UpdateExpression: 'ADD snapshots :step',
  ExpressionAttributeValues: { ':step': step },
});

const audited = (TableName: string, rows: readonly AuditRow[]) =>
  rows.map((row) => ({ Put: { TableName, Item: auditItem(row) } }));

const create =
  (table: Table): SnapshotStore['create'] =>
  async (snapshot, { snapshotsMax, audits }) => {
    const { name: TableName } = table;
    const { id, project, workspace, at, checkpoint } = snapshot;
    const count = counting(TableName, project, 1);
    const limited = {
      ...count,
      ConditionExpression: 'attribute_not_exists(snapshots) OR snapshots < :max',
      ExpressionAttributeValues: { ...count.ExpressionAttributeValues, ':max': snapshotsMax },
    };
    const TransactItems = [
      { Update: limited },
      // Nothing would find it: the deletion has listed the snapshots.
      ifProjectNotDeleted(TableName, project),
      { Put: { TableName, Item: { ...keys.snapshot(project, id), ...snapshot } } },
      ...sourceActions(TableName, sourceOfWorkspace(workspace, checkpoint)),
      ...pinActions(TableName, pinsFor(snapshotHolder(id), checkpoint), at),
      ...audited(TableName, audits),
    ];
    const result = await transact(table, new TransactWriteCommand({ TransactItems }));
    if (result === 'done') return 'created';
    const [counted, inProject] = result.map(({ code }) => code === 'ConditionalCheckFailed');
    if (inProject) return 'gone';
    return counted ? 'full' : 'moved';
  };

const get =
  ({ client, name: TableName }: Table): SnapshotStore['get'] =>
  async (project, id) => {
    const { Item } = await client.send(
      new GetCommand({ TableName, Key: keys.snapshot(project, id), ConsistentRead: true }),
    );
    return Item && snapshotFrom(Item);
  };

const list =
  (table: Table): SnapshotStore['list'] =>
  async (project) => {
    const items = await prefixedItems(table, keys.snapshot(project, ''));
    return items.map(snapshotFrom).sort((one, other) => other.at - one.at);
  };

const remove =
  (table: Table): SnapshotStore['remove'] =>
  async ({ id, project, checkpoint }, at, audits) => {
    const { name: TableName } = table;
    const TransactItems = [
      {
        Delete: {
          TableName,
          Key: keys.snapshot(project, id),
          ConditionExpression: 'attribute_exists(pk)',
        },
      },
      { Update: counting(TableName, project, -1) },
      ...releaseActions(TableName, pinsFor(snapshotHolder(id), checkpoint), at),
      ...audited(TableName, audits),
    ];
    return (await transact(table, new TransactWriteCommand({ TransactItems }))) === 'done';
  };
