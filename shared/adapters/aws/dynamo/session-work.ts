/** All that a turn needs in one query: its inbox, history, state and subscribers lie side by side in the table. */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import type { TurnRecord } from '#shared/domain/turn/turn.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { callerFrom } from './caller-store.ts';
import { messageFrom } from './history-items.ts';
import { inboxFrom } from './session-items.ts';
import { type Item, keys, type Table, workFrom } from './table.ts';
import { turnFrom } from './turn-items.ts';

/** Items of a session whose sort key is not below `from`, nor above `to`. */
const query = async ({ client, name }: Table, id: SessionId, range: { from: string; to?: string }) => {
  const items: Item[] = [];
  let start: Record<string, unknown> | undefined;
  const { from, to } = range;
  const condition = to === undefined ? 'sk >= :from' : 'sk BETWEEN :from AND :to';
  do {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: name,
        KeyConditionExpression: `pk = :pk AND ${condition}`,
        ExpressionAttributeValues: {
          ':pk': keys.session(id).pk,
          ':from': from,
          ...(to === undefined ? {} : { ':to': to }),
        },
        ConsistentRead: true,
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
      }),
    );
    items.push(...Items);
    start = LastEvaluatedKey;
  } while (start !== undefined);
  return items;
};

/** More than this many commits, each between two pages of one read, are no coincidence. */
const tornReadsMax = 10;

/** The items with their turn: read again while its parts are of two versions. */
export const readWhole = async (
  id: SessionId,
  read: () => Promise<readonly Item[]>,
): Promise<{ readonly items: readonly Item[]; readonly turn: TurnRecord }> => {
  for (let torn = 0; torn < tornReadsMax; torn += 1) {
    const items = await read();
    const turn = turnFrom(items);
    if (turn !== undefined) return { items, turn };
  }
  throw new Error(`session ${id}: its turn changed at every read`);
};

export const loadWork =
  (table: Table): SessionStore['loadWork'] =>
  async (id) => {
    const { items, turn } = await readWhole(id, async () => query(table, id, { from: workFrom }));
    const of = (prefix: string): readonly Item[] => items.filter(({ sk }) => String(sk).startsWith(prefix));
    return {
      turn,
      inbox: of('INBOX#').map(inboxFrom),
      history: counted(id, of('MESSAGE#'), turn),
      callers: of('OFFER#').map(callerFrom),
      subscribers: of('WATCHER#').map(subscriberFrom),
    };
  };

export const history =
  (table: Table): SessionStore['history'] =>
  async (id) => {
    const items = await query(table, id, { from: 'MESSAGE#', to: keys.turn(id).sk });
    const historyFrom = Number(items.find(({ sk }) => sk === keys.turn(id).sk)?.['historyFrom'] ?? 0);
    // The session's own record lies between its messages and its turn.
    const messages = items.filter(({ sk }) => String(sk).startsWith('MESSAGE#'));
    return counted(id, messages, { historyFrom });
  };

/** The messages that were not dropped. */
const counted = (
  id: SessionId,
  items: readonly Item[],
  { historyFrom }: Pick<TurnRecord, 'historyFrom'>,
): readonly HistoryMessage[] => {
  const first = keys.message(id, historyFrom).sk;
  return items.filter(({ sk }) => String(sk) >= first).map(messageFrom);
};

export const subscribers =
  (table: Table) =>
  async (id: SessionId): Promise<readonly ConnectionId[]> =>
    (await query(table, id, { from: 'WATCHER#' })).map(subscriberFrom);

/** The turn and its subscribers lie side by side. */
export const readVersion =
  (table: Table): SessionStore['readVersion'] =>
  async (id) => {
    const { sk } = keys.turn(id);
    const items = await query(table, id, { from: sk });
    const version = Number(items.find((item) => item['sk'] === sk)?.['version'] ?? 0);
    const others = items.filter((item) => String(item['sk']).startsWith('WATCHER#'));
    return { version, subscribers: others.map(subscriberFrom) };
  };

const subscriberFrom = ({ sk }: Item): ConnectionId => String(sk).slice('WATCHER#'.length) as ConnectionId;
