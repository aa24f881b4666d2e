/** All a turn needs in one query: its inbox, history, state and watchers lie side by side in the table. */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { inboxFrom, messageFrom, turnFrom } from './session-items.ts';
import { type Item, keys, type Table, workFrom } from './table.ts';

/** Items of a session whose sort key is not below `from`, and starts with `prefix` when one is given. */
const query = async (
  { client, name }: Table,
  id: SessionId,
  range: { from: string } | { prefix: string },
) => {
  const items: Item[] = [];
  let start: Record<string, unknown> | undefined;
  const condition = 'from' in range ? 'sk >= :sk' : 'begins_with(sk, :sk)';
  do {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: name,
        KeyConditionExpression: `pk = :pk AND ${condition}`,
        ExpressionAttributeValues: {
          ':pk': keys.session(id).pk,
          ':sk': 'from' in range ? range.from : range.prefix,
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
    return {
      turn: turnFrom(of('TURN')[0]),
      inbox: of('INBOX#').map(inboxFrom),
      history: of('MESSAGE#').map(messageFrom),
      watchers: of('WATCHER#').map(watcherFrom),
    };
  };

export const history =
  (table: Table): SessionStore['history'] =>
  async (id) =>
    (await query(table, id, { prefix: 'MESSAGE#' })).map(messageFrom);

export const watchers =
  (table: Table) =>
  async (id: SessionId): Promise<readonly ConnectionId[]> =>
    (await query(table, id, { prefix: 'WATCHER#' })).map(watcherFrom);

const watcherFrom = ({ sk }: Item): ConnectionId => String(sk).slice('WATCHER#'.length) as ConnectionId;
