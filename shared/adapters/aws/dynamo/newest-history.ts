/**
 * The newest messages of a conversation, bounded: the turn says from which message on it counts, and one query reads at most
 * 1 MB from its end.
 */
import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { TurnStore } from '#shared/ports/turn-store.ts';
import { batchGet } from './batch.ts';
import { decodeMessage, messageJson } from './history-items.ts';
import { furtherKeys, isWhole } from './item-parts.ts';
import { keys, prefixes, type Table } from './table.ts';

export const newestHistory =
  (table: Table): TurnStore['newestHistory'] =>
  async (id, { messagesMax, charactersMax }) => {
    const { client, name: TableName } = table;
    const { Item: turn = {} } = await client.send(
      new GetCommand({ TableName, Key: keys.turn(id), ProjectionExpression: 'historyFrom' }),
    );
    const first = keys.message(id, Number(turn['historyFrom'] ?? 0));
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
        ExpressionAttributeValues: {
          ':pk': first.pk,
          ':from': first.sk,
          ':to': `${prefixes.message}~`,
        },
        ScanIndexForward: false,
        Limit: messagesMax,
      }),
    );
    const parts = await batchGet(table, Items.flatMap(furtherKeys));
    const messages: HistoryMessage[] = [];
    let characters = 0;
    // A message that is half written, or half deleted, is none.
    for (const item of Items.filter((one) => isWhole(one, parts))) {
      const json = messageJson(item, parts);
      characters += json.length;
      if (characters > charactersMax && messages.length > 0) break;
      messages.push(decodeMessage(json));
    }
    return { messages, isWhole: messages.length === Items.length && LastEvaluatedKey === undefined };
  };
