/** All a turn needs in one query: its inbox, history, state and watchers lie side by side in the table. */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import type { TurnRecord } from '#shared/domain/turn/turn.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { callerFrom } from './caller-store.ts';
import { messageFrom } from './history-items.ts';
import { inboxFrom, turnFrom } from './session-items.ts';
import { type Item, keys, type Table, workFrom } from './table.ts';

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

export const loadWork =
  (table: Table): SessionStore['loadWork'] =>
  async (id) => {
    const items = await query(table, id, { from: workFrom });
    const of = (prefix: string): readonly Item[] => items.filter(({ sk }) => String(sk).startsWith(prefix));
    const turn = turnFrom(of('TURN')[0]);
    return {
      turn,
      inbox: of('INBOX#').map(inboxFrom),
      history: counted(id, of('MESSAGE#'), turn),
      callers: of('OFFER#').map(callerFrom),
      watchers: of('WATCHER#').map(watcherFrom),
    };
  };

export const history =
  (table: Table): SessionStore['history'] =>
  async (id) => {
    const items = await query(table, id, { from: 'MESSAGE#', to: keys.turn(id).sk });
    const turn = turnFrom(items.find(({ sk }) => sk === keys.turn(id).sk));
    // The session's own record lies between its messages and its turn.
    const messages = items.filter(({ sk }) => String(sk).startsWith('MESSAGE#'));
    return counted(id, messages, turn);
  };

/** Those that were not forgotten. */
const counted = (
  id: SessionId,
  items: readonly Item[],
  { historyFrom }: TurnRecord,
): readonly HistoryMessage[] => {
  const first = keys.message(id, historyFrom).sk;
  return items.filter(({ sk }) => String(sk) >= first).map(messageFrom);
};

export const watchers =
  (table: Table) =>
  async (id: SessionId): Promise<readonly ConnectionId[]> =>
    (await query(table, id, { from: 'WATCHER#' })).map(watcherFrom);

/** The turn and its watchers lie side by side. */
export const glance =
  (table: Table): SessionStore['glance'] =>
  async (id) => {
    const { sk } = keys.turn(id);
    const items = await query(table, id, { from: sk });
    const { version } = turnFrom(items.find((item) => item['sk'] === sk));
    const others = items.filter((item) => item['sk'] !== sk);
    return { version, watchers: others.map(watcherFrom) };
  };

const watcherFrom = ({ sk }: Item): ConnectionId => String(sk).slice('WATCHER#'.length) as ConnectionId;
