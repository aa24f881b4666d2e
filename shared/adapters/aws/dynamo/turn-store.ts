/**
 * `TurnStore` on the one table: the inbox, history, state and subscribers of a session lie side by side, so that one query
 * reads all that a turn needs. Lease and commit have files of their own.
 */
import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import { redriveAfterMs } from '#shared/domain/limits.ts';
import type { TurnRecord } from '#shared/domain/turn/turn.ts';
import type { TurnStore } from '#shared/ports/turn-store.ts';
import { batchGet } from './batch.ts';
import { callerFrom } from './caller-store.ts';
import { featuresFrom } from './features.ts';
import { type HistoryOptions, messageFrom, plainHistory } from './history-items.ts';
import { releaseLease, renewLease, takeLease } from './lease.ts';
import { endedStatuses, lives, statusNames } from './session-children.ts';
import { inboxFrom, sessionDue, sessionFrom } from './session-items.ts';
import { type Item, isConditionFailed, keys, type Table, workFrom } from './table.ts';
import { tokenFrom } from './token-store.ts';
import { commitTurn } from './turn-commit.ts';
import { partsOf, turnFrom } from './turn-items.ts';

export const makeTurnStore = (table: Table, options: HistoryOptions = plainHistory): TurnStore => ({
  getWithTurn: getWithTurn(table),
  getManyWithTurn: async (ids) => {
    const items = await batchGet(
      table,
      [...new Set(ids)].flatMap((id) => [keys.session(id), keys.turn(id)]),
    );
    const sessions = items.filter(({ sk }) => sk === 'META').map(sessionFrom);
    return Promise.all(
      sessions.map(async (session) => ({ session, turn: await wholeTurn(table, session.id, items) })),
    );
  },
  loadWork: loadWork(table),
  readVersion: readVersion(table),
  history: history(table),
  wake: wake(table),
  takeLease: takeLease(table),
  renewLease: renewLease(table),
  releaseLease: releaseLease(table),
  commit: commitTurn(table, options),
});

const getWithTurn =
  (table: Table): TurnStore['getWithTurn'] =>
  async (id, { tokenHash, withFeatures = false } = {}) => {
    const token = tokenHash === undefined ? [] : [keys.token(tokenHash)];
    const features = withFeatures ? [keys.features()] : [];
    const items = await batchGet(table, [keys.session(id), keys.turn(id), ...token, ...features]);
    const { pk } = keys.session(id);
    const of = (sk: string) => items.find((item) => item['pk'] === pk && item['sk'] === sk);
    const meta = of('META');
    if (meta === undefined) return undefined;
    const other = (key: { readonly pk: string }) => items.find((item) => item['pk'] === key.pk);
    const item = tokenHash === undefined ? undefined : other(keys.token(tokenHash));
    return {
      session: sessionFrom(meta),
      turn: await wholeTurn(table, id, items),
      ...(tokenHash === undefined ? {} : { token: item && tokenFrom(item) }),
      ...(withFeatures ? { features: featuresFrom(other(keys.features())) } : {}),
    };
  };

/** The turn whose first item was read; a long one has more, which are read here. */
const wholeTurn = async (table: Table, id: SessionId, first: readonly Item[]): Promise<TurnRecord> => {
  const own = first.filter(({ pk, sk }) => pk === keys.turn(id).pk && sk === keys.turn(id).sk);
  let known: readonly Item[] | undefined = own;
  const { turn } = await readWhole(id, async () => {
    const [item] = known ?? (await batchGet(table, [keys.turn(id)]));
    known = undefined;
    const others = Array.from({ length: partsOf(item) - 1 }, (_, index) => keys.turnPart(id, index + 1));
    return item === undefined ? [] : [item, ...(others.length === 0 ? [] : await batchGet(table, others))];
  });
  return turn;
};

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
const readWhole = async (
  id: SessionId,
  read: () => Promise<readonly Item[]>,
  isWhole: (items: readonly Item[], turn: TurnRecord) => boolean = () => true,
): Promise<{ readonly items: readonly Item[]; readonly turn: TurnRecord }> => {
  for (let torn = 0; torn < tornReadsMax; torn += 1) {
    const items = await read();
    const turn = turnFrom(items);
    const isLast = torn === tornReadsMax - 1;
    if (turn !== undefined && (isLast || isWhole(items, turn))) return { items, turn };
  }
  throw new Error(`session ${id}: its turn changed at every read`);
};

/**
 * True when the turn has the history that it names: a query sees the items of a transaction one by one, and its pages at
 * different times
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation).
 */
const hasItsHistory = (items: readonly Item[], { historyFrom, historyNext }: TurnRecord): boolean => {
  const first = keys.message('', historyFrom).sk;
  const messages = items.filter(({ sk }) => String(sk).startsWith('MESSAGE#') && String(sk) >= first);
  return messages.length === historyNext - historyFrom;
};

const loadWork =
  (table: Table): TurnStore['loadWork'] =>
  async (id) => {
    const read = () => query(table, id, { from: workFrom });
    const { items, turn } = await readWhole(id, read, hasItsHistory);
    const of = (prefix: string): readonly Item[] => items.filter(({ sk }) => String(sk).startsWith(prefix));
    return {
      turn,
      inbox: of('INBOX#').map(inboxFrom),
      history: counted(id, of('MESSAGE#'), turn),
      callers: of('OFFER#').map(callerFrom),
      subscribers: of('WATCHER#').map(subscriberFrom),
    };
  };

const history =
  (table: Table): TurnStore['history'] =>
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
const readVersion =
  (table: Table): TurnStore['readVersion'] =>
  async (id) => {
    const { sk } = keys.turn(id);
    const items = await query(table, id, { from: sk });
    const version = Number(items.find((item) => item['sk'] === sk)?.['version'] ?? 0);
    const others = items.filter((item) => String(item['sk']).startsWith('WATCHER#'));
    return { version, subscribers: others.map(subscriberFrom) };
  };

const subscriberFrom = ({ sk }: Item): ConnectionId => String(sk).slice('WATCHER#'.length) as ConnectionId;

const wake =
  ({ client, name }: Table): TurnStore['wake'] =>
  async (id, at) => {
    try {
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.session(id),
          ConditionExpression: lives,
          UpdateExpression: 'SET duePk = :duePk, dueAt = :dueAt ADD workSeq :one',
          ExpressionAttributeNames: statusNames,
          ExpressionAttributeValues: { ...endedStatuses, ':one': 1, ...sessionDue(id, at + redriveAfterMs) },
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };
