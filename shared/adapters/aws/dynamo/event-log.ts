/** `EventLog` on the one table: read in order, and appended to by writers that are no turn. */
import { GetCommand, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import {
  bytesOf,
  isWhole,
  type LogEntry,
  type LogEvent,
  numberEntries,
  oldestKept,
  withinBytes,
} from '#shared/domain/event-log.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import type { EventLog } from '#shared/ports/event-log.ts';
import { isUnsealed } from './session-conditions.ts';
import { eventFrom, sessionFrom } from './session-items.ts';
import { keys, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { logActions } from './turn-commit.ts';

const racesMax = 50;
const lastEvent = 999_999_999_999;

export const makeEventLog = (table: Table): EventLog => ({
  append: (id, entries, at) => append(table, id, { entries, at }),
  appendOnce: (id, once) => append(table, id, once),
  read: read(table),
});

/** A transaction whose items become visible one by one is whole within this number of reads. */
const looksMax = 20;

/** A query may see a later event of a transaction without an earlier one: a page is read again until only what the ring let go is missing. */
const read =
  (table: Table): EventLog['read'] =>
  async (id, page) => {
    let { since } = page;
    for (let look = 1; ; look += 1) {
      const found = await queryEvents(table, id, { ...page, since });
      if (isWhole(found.events, since) || look === looksMax) return found;
      since = Math.max(since, (await oldestOf(table, id)) - 1);
    }
  };

type Page = Parameters<EventLog['read']>[1];

const queryEvents = async (
  { client, name }: Table,
  id: SessionId,
  { since, eventsMax, bytesMax = Number.POSITIVE_INFINITY }: Page,
) => {
  const isBound = bytesMax < Number.POSITIVE_INFINITY;
  const events: LogEvent[] = [];
  let bytes = 0;
  let start: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: name,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
        ExpressionAttributeValues: {
          ':pk': keys.event(id, 0).pk,
          ':from': keys.event(id, since + 1).sk,
          ':to': keys.event(id, lastEvent).sk,
        },
        ConsistentRead: true,
        Limit: eventsMax + 1 - events.length,
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
      }),
    );
    const found = Items.map(eventFrom);
    events.push(...found);
    if (isBound) bytes += found.reduce((sum, event) => sum + bytesOf(event), 0);
    start = LastEvaluatedKey;
  } while (start !== undefined && events.length <= eventsMax && bytes <= bytesMax);
  const shown = events.slice(0, eventsMax);
  const fitting = bytes > bytesMax ? withinBytes(shown, bytesMax) : shown;
  return { events: fitting, hasMore: fitting.length < events.length || start !== undefined };
};

/** The number of the oldest event that the ring keeps. */
const oldestOf = async ({ client, name }: Table, id: SessionId): Promise<number> => {
  const { Item } = await client.send(
    new GetCommand({ TableName: name, Key: keys.session(id), ConsistentRead: true }),
  );
  return Item === undefined ? 0 : oldestKept(sessionFrom(Item).lastSeq);
};

type Appended = {
  readonly entries: readonly LogEntry[];
  readonly at: number;
  readonly mark?: number;
};

const append = async (
  table: Table,
  id: SessionId,
  { entries, at, mark }: Appended,
): Promise<readonly LogEvent[] | undefined> => {
  for (let race = 0; race < racesMax; race += 1) {
    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.name, Key: keys.session(id), ConsistentRead: true }),
    );
    if (Item === undefined || Item['isSealed'] === true) return undefined;
    if (mark !== undefined && Number(Item['appendedMark'] ?? -1) >= mark) return [];
    const { lastSeq } = sessionFrom(Item);
    const events = numberEntries(entries, { firstSeq: lastSeq + 1, at });
    const advance = {
      Update: {
        TableName: table.name,
        Key: keys.session(id),
        ConditionExpression: `lastSeq = :lastSeq AND ${isUnsealed}`,
        UpdateExpression: `SET lastSeq = :newSeq${mark === undefined ? '' : ', appendedMark = :mark'}`,
        ExpressionAttributeValues: {
          ':lastSeq': lastSeq,
          ':newSeq': lastSeq + events.length,
          ...(mark === undefined ? {} : { ':mark': mark }),
        },
      },
    };
    const actions = [advance, ...logActions(table.name, id, events)];
    if ((await transact(table, new TransactWriteCommand({ TransactItems: actions }))) === 'done')
      return events;
  }
  throw new Error(`session ${id}: the log moved ${racesMax} times during one append`);
};
