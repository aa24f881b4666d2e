/**
 * The conversation of one session as that of another, which was just made. Messages and events are written first, where nothing
 * reads them; one write then names them, unless the session has moved since.
 */
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { numberEntries } from '#shared/domain/event-log.ts';
import { noTurn } from '#shared/domain/turn/turn.ts';
import type { TurnStore } from '#shared/ports/turn-store.ts';
import { batchPut } from './batch.ts';
import type { HistoryOptions } from './history-items.ts';
import { partsFrom, writtenMessages } from './history-writes.ts';
import { eventItem } from './session-items.ts';
import { keys, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { turnItems } from './turn-items.ts';

export const continueFrom =
  (table: Table, options: HistoryOptions): TurnStore['continueFrom'] =>
  async (session, { history, events, note, title, at }) => {
    const { id } = session;
    const copied = events.map((event, seq) => ({ ...event, seq }));
    const log = [...copied, ...numberEntries([note], { firstSeq: copied.length, at })];
    const { items, parts } = writtenMessages(id, { history, first: 0 }, options);
    await batchPut(table, [...items, ...log.map((event) => eventItem(id, event))]);
    const lastSeq = log.length - 1;
    const begins = { ...noTurn, version: 1, historyNext: history.length, ...partsFrom(0, parts) };
    const [turn] = turnItems(id, begins);
    const named = {
      TableName: table.name,
      Key: keys.session(id),
      ConditionExpression: '#status = :created AND lastSeq = :none AND workSeq = :zero',
      UpdateExpression: `SET lastSeq = :lastSeq${title === undefined ? '' : ', title = if_not_exists(title, :title)'}`,
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':created': 'created',
        ':none': -1,
        ':zero': 0,
        ':lastSeq': lastSeq,
        ...(title === undefined ? {} : { ':title': title }),
      },
    };
    const begun = {
      TableName: table.name,
      Item: turn,
      ConditionExpression: 'attribute_not_exists(pk)',
    };
    const TransactItems = [{ Update: named }, { Put: begun }];
    const result = await transact(table, new TransactWriteCommand({ TransactItems }));
    if (result !== 'done') return undefined;
    return { ...session, lastSeq, ...(title === undefined ? {} : { title: session.title ?? title }) };
  };
