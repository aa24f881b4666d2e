/**
 * `ScheduleStore` on the one table: a partition per schedule, a pointer to it in the partition of each project it runs
 * in, beside a counter that makes the limit hard. A write is the whole item under the version that was read (J1).
 */
import { PutCommand, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { isOpen, type Run, runName } from '#shared/domain/schedule/run.ts';
import { type Pin, type ScheduleId, targetKey } from '#shared/domain/schedule/schedule.ts';
import type { ScheduleStore } from '#shared/ports/schedules.ts';
import { auditItem } from './audit-log.ts';
import { batchDelete, batchGet } from './batch.ts';
import { duePages } from './due.ts';
import { newestKept, partitionItems, prefixedItems } from './partition.ts';
import { isInDeletedProject } from './project-not-deleted.ts';
import {
  type Actions,
  enter,
  isNew,
  projectsOf,
  promptChange,
  slotChange,
  unlessDeleted,
} from './schedule-changes.ts';
import {
  hasItsPrompt,
  isLongPrompt,
  listedFrom,
  promptItem,
  runFrom,
  runItem,
  scheduleItem,
  schedulesPartition,
  stateFrom,
} from './schedule-items.ts';
import { isConditionFailed, keys, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { noticePut } from './webhook-items.ts';

export const makeScheduleStore = (table: Table): ScheduleStore => ({
  create: create(table),
  find: find(table),
  listOf: listOf(table),
  list: list(table),
  write: write(table),
  pin: async (id, target, { pin, former }) => {
    const { name: TableName } = table;
    const Item = { ...keys.schedulePin(id, targetKey(target)), ...pin };
    const put = { TableName, Item, ...unlessOthers(pin, former) };
    const actions: Actions = [unlessDeleted(TableName, id, target), { Put: put }];
    return (await transact(table, new TransactWriteCommand({ TransactItems: actions }))) === 'done';
  },
  beginRun: async (run) => {
    const { name: TableName } = table;
    const put = { TableName, Item: runItem({ ...run, version: run.version + 1 }), ...asRead(run) };
    const actions: Actions = [{ Put: put }, unlessDeleted(TableName, run.schedule)];
    return (await transact(table, new TransactWriteCommand({ TransactItems: actions }))) === 'done';
  },
  saveRun: saveRun(table),
  history: async (id, page) => {
    const { pk, sk: prefix } = keys.endedRun(id, '');
    const { items, ...next } = await newestKept(table, { ...page, pk, prefix });
    return { runs: items.map(runFrom), ...next };
  },
  due: (now, pageMax) => dueSchedules(table, { now, pageMax }),
  clear: clear(table),
});

/** A dispatcher that stood still would take the pin of a later run away. */
const unlessOthers = ({ session }: Pin, former: Pin | undefined) => ({
  ConditionExpression: 'attribute_not_exists(pk) OR #session IN (:own, :former)',
  ExpressionAttributeNames: { '#session': 'session' },
  ExpressionAttributeValues: { ':own': session, ':former': former?.session ?? session },
});

/** More than so many changes of a prompt, each in the middle of one read, are no coincidence: it is as a clean-up left it. */
const tornReadsMax = 5;

const find =
  (table: Table): ScheduleStore['find'] =>
  async (id) => {
    const range = { ...keys.schedule(id), from: keys.schedule(id).sk, to: keys.schedulePrompt(id).sk };
    let items = await partitionItems(table, range);
    for (let torn = 1; torn < tornReadsMax && !hasItsPrompt(items); torn += 1)
      items = await partitionItems(table, range);
    return stateFrom(items);
  };

async function* dueSchedules(
  table: Table,
  wanted: { readonly now: number; readonly pageMax: number },
): AsyncGenerator<readonly ScheduleId[]> {
  const seen = new Set<string>();
  for await (const items of duePages(table, { kind: 'schedule', ...wanted })) {
    const ids = new Set(items.map(({ pk }) => String(pk).slice(keys.schedule('').pk.length)));
    const fresh = [...ids].filter((id) => !seen.has(id)) as ScheduleId[];
    for (const id of fresh) seen.add(id);
    if (fresh.length > 0) yield fresh;
  }
}

const create =
  (table: Table): ScheduleStore['create'] =>
  async (schedule, { dueAt, schedulesMax }) => {
    const { name: TableName } = table;
    const { id } = schedule;
    const actions: Actions = [
      { Put: { TableName, Item: scheduleItem(schedule, dueAt), ConditionExpression: isNew } },
      ...(isLongPrompt(schedule) ? [{ Put: { TableName, Item: promptItem(schedule) } }] : []),
      ...projectsOf(schedule).flatMap((project) => enter(TableName, project, { id, schedulesMax })),
    ];
    const result = await transact(table, new TransactWriteCommand({ TransactItems: actions }));
    if (result === 'done') return 'created';
    return isInDeletedProject(actions, result) ? 'gone' : 'full';
  };

const write =
  (table: Table): ScheduleStore['write'] =>
  async (wanted, { read, dueAt, runs = [], audits = [], schedulesMax = 0 }) => {
    const { name: TableName } = table;
    const next = { ...wanted, version: read.version + 1 };
    const actions: Actions = [
      {
        Put: {
          TableName,
          Item: scheduleItem(next, dueAt),
          ConditionExpression: 'version = :version',
          ExpressionAttributeValues: { ':version': read.version },
        },
      },
      ...promptChange(TableName, read, next),
      ...slotChange(TableName, { read, next, schedulesMax }),
      ...runs.map((run) => ({ Put: { TableName, Item: runItem(run), ConditionExpression: isNew } })),
      ...audits.map((row) => ({ Put: { TableName, Item: auditItem(row) } })),
    ];
    const result = await transact(table, new TransactWriteCommand({ TransactItems: actions }));
    if (result === 'done') return next;
    if (result[0]?.code === 'ConditionalCheckFailed') return 'moved';
    if (isInDeletedProject(actions, result)) return 'gone';
    const isFull = result.some(
      ({ code }, index) => code === 'ConditionalCheckFailed' && actions[index]?.Update !== undefined,
    );
    return isFull ? 'full' : 'moved';
  };

const asRead = ({ version }: Run) => ({
  ConditionExpression: 'version = :version',
  ExpressionAttributeValues: { ':version': version },
});

/** An ended run moves from the open ones to the history in one write: it ends once (J5). */
const saveRun =
  (table: Table): ScheduleStore['saveRun'] =>
  async (run, notices = []) => {
    const { client, name: TableName } = table;
    const Item = runItem({ ...run, version: run.version + 1 });
    if (isOpen(run.state)) {
      try {
        await client.send(new PutCommand({ TableName, Item, ...asRead(run) }));
        return true;
      } catch (error) {
        if (isConditionFailed(error)) return false;
        throw error;
      }
    }
    const actions: Actions = [
      { Delete: { TableName, Key: keys.openRun(run.schedule, runName(run)), ...asRead(run) } },
      { Put: { TableName, Item } },
      ...notices.map((notice) => noticePut(TableName, notice)),
    ];
    return (await transact(table, new TransactWriteCommand({ TransactItems: actions }))) === 'done';
  };

const listOf =
  (table: Table): ScheduleStore['listOf'] =>
  async (project) => {
    const prefix = keys.scheduleOf(project, '');
    const pointers = await prefixedItems(table, prefix);
    const ids = pointers.map(({ sk }) => String(sk).slice(prefix.sk.length));
    const items = await batchGet(table, ids.map(keys.schedule));
    return items
      .map(listedFrom)
      .sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1));
  };

const list =
  ({ client, name }: Table): ScheduleStore['list'] =>
  async ({ after, itemsMax }) => {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: name,
        IndexName: 'owner',
        KeyConditionExpression: after === undefined ? 'ownerPk = :pk' : 'ownerPk = :pk AND ownerSk < :after',
        ExpressionAttributeValues: {
          ':pk': schedulesPartition,
          ...(after === undefined ? {} : { ':after': after }),
        },
        ScanIndexForward: false,
        Limit: itemsMax,
      }),
    );
    const next = LastEvaluatedKey?.['ownerSk'];
    const schedules = Items.map(listedFrom);
    return { schedules, ...(next === undefined ? {} : { next: String(next) }) };
  };

/** The schedule itself is deleted last: a caller that dies before it finds the rest again. */
const clear =
  (table: Table): ScheduleStore['clear'] =>
  async ({ schedule, pins, open }) => {
    const { id } = schedule;
    await batchDelete(table, [
      ...open.map((run) => keys.openRun(id, runName(run))),
      ...[...pins.keys()].map((key) => keys.schedulePin(id, key)),
      keys.schedulePrompt(id),
    ]);
    await batchDelete(table, [keys.schedule(id)]);
  };
