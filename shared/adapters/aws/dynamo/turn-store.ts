/**
 * `TurnStore` on the one table: the inbox, history, state and subscribers of a session lie side by side, so that one query
 * reads all that a turn needs. Lease and commit have files of their own.
 */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { ConnectionId, SessionId } from '#shared/domain/ids.ts';
import { redriveAfterMs } from '#shared/domain/limits.ts';
import type { Subscriber } from '#shared/domain/subscriber.ts';
import type { TurnRecord } from '#shared/domain/turn/turn.ts';
import type { TurnStore } from '#shared/ports/turn-store.ts';
import { batchGet } from './batch.ts';
import { makeCallOutputs } from './call-outputs.ts';
import { callerFrom } from './caller-store.ts';
import { continueFrom } from './conversation-copy.ts';
import { featuresFrom } from './features.ts';
import { type HistoryOptions, messageFrom, plainHistory } from './history-items.ts';
import { inboxFrom } from './inbox-items.ts';
import { isWhole } from './item-parts.ts';
import { newestHistory } from './newest-history.ts';
import { partitionItems } from './partition.ts';
import { endedStatuses, lives, statusNames } from './session-conditions.ts';
import { sessionDue, sessionFrom } from './session-items.ts';
import { type Item, isConditionFailed, keys, prefixes, type Table, workFrom } from './table.ts';
import { tokenFrom } from './token-store.ts';
import { commitTurn } from './turn-commit.ts';
import { partsOf, turnFrom } from './turn-items.ts';
import { breakLease, releaseLease, renewLease, takeLease } from './turn-lease.ts';

export const makeTurnStore = (table: Table, options: HistoryOptions = plainHistory): TurnStore => ({
  getWithTurn: getWithTurn(table),
  getManyWithTurn: async (ids) => {
    const items = await batchGet(
      table,
      [...new Set(ids)].flatMap((id) => [keys.session(id), keys.turn(id)]),
    );
    const sessions = items.filter(({ sk }) => sk === keys.session('').sk).map(sessionFrom);
    return Promise.all(
      sessions.map(async (session) => ({ session, turn: await wholeTurn(table, session.id, items) })),
    );
  },
  loadWork: loadWork(table),
  readVersion: readVersion(table),
  askToCancel: askToCancel(table),
  history: history(table),
  newestHistory: newestHistory(table),
  continueFrom: continueFrom(table, options),
  wake: wake(table),
  takeLease: takeLease(table),
  renewLease: renewLease(table),
  breakLease: breakLease(table),
  releaseLease: releaseLease(table),
  commit: commitTurn(table, options),
  ...makeCallOutputs(table),
});

const getWithTurn =
  (table: Table): TurnStore['getWithTurn'] =>
  async (id, { tokenHash, withFeatures = false } = {}) => {
    const token = tokenHash === undefined ? [] : [keys.token(tokenHash)];
    const features = withFeatures ? [keys.features()] : [];
    const items = await batchGet(table, [keys.session(id), keys.turn(id), ...token, ...features]);
    const { pk, sk } = keys.session(id);
    const meta = items.find((item) => item['pk'] === pk && item['sk'] === sk);
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

/** More than this many commits, each between two pages of one read, are no coincidence. */
const tornReadsMax = 10;

/** The items with their turn: read again while its parts are of two versions. */
const readWhole = async (
  id: SessionId,
  read: () => Promise<readonly Item[]>,
  isComplete: (items: readonly Item[], turn: TurnRecord) => boolean = () => true,
): Promise<{ readonly items: readonly Item[]; readonly turn: TurnRecord }> => {
  for (let torn = 0; torn < tornReadsMax; torn += 1) {
    const items = await read();
    const turn = turnFrom(items);
    const isLast = torn === tornReadsMax - 1;
    if (turn !== undefined && (isLast || isComplete(items, turn))) return { items, turn };
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
  const messages = items.filter(({ sk }) => String(sk).startsWith(prefixes.message) && String(sk) >= first);
  return messages.length === historyNext - historyFrom;
};

/** True when each message that counts has all of its parts. */
const hasAllParts = (items: readonly Item[], { historyFrom }: Pick<TurnRecord, 'historyFrom'>): boolean => {
  const first = keys.message('', historyFrom).sk;
  const isRead = (sk: string): boolean =>
    sk.startsWith(prefixes.inbox) || (sk.startsWith(prefixes.message) && sk >= first);
  return items.every((item) => !isRead(String(item['sk'])) || isWhole(item, items));
};

const loadWork =
  (table: Table): TurnStore['loadWork'] =>
  async (id) => {
    const read = () => partitionItems(table, { pk: keys.session(id).pk, from: workFrom });
    const { items, turn } = await readWhole(
      id,
      read,
      (all, seen) => hasItsHistory(all, seen) && hasAllParts(all, seen),
    );
    const of = (prefix: string): readonly Item[] => items.filter(({ sk }) => String(sk).startsWith(prefix));
    const [instructions] = of(keys.instructions(id).sk);
    return {
      turn,
      ...(instructions === undefined ? {} : { instructions: String(instructions['text']) }),
      inbox: of(prefixes.inbox).map((item) => inboxFrom(item, items)),
      history: counted(id, items, turn),
      callers: of(prefixes.caller).map(callerFrom),
      subscribers: of(prefixes.subscriber).map(subscriberFrom),
    };
  };

const history =
  (table: Table): TurnStore['history'] =>
  async (id) => {
    const { pk, sk: last } = keys.turn(id);
    for (let torn = 1; ; torn += 1) {
      const items = await partitionItems(table, { pk, from: prefixes.message, to: last });
      const historyFrom = Number(items.find(({ sk }) => sk === last)?.['historyFrom'] ?? 0);
      if (torn === tornReadsMax || hasAllParts(items, { historyFrom }))
        return counted(id, items, { historyFrom });
    }
  };

/** The messages that were not dropped; other items lie behind them. */
const counted = (
  id: SessionId,
  items: readonly Item[],
  { historyFrom }: Pick<TurnRecord, 'historyFrom'>,
): readonly HistoryMessage[] => {
  const first = keys.message(id, historyFrom).sk;
  return items
    .filter(({ sk }) => String(sk).startsWith(prefixes.message) && String(sk) >= first)
    .map((item) => messageFrom(item, items));
};

export const subscribers =
  (table: Table) =>
  async (id: SessionId): Promise<readonly Subscriber[]> =>
    (await partitionItems(table, { pk: keys.session(id).pk, from: prefixes.subscriber })).map(subscriberFrom);

/** The turn and its subscribers lie side by side. */
const readVersion =
  (table: Table): TurnStore['readVersion'] =>
  async (id) => {
    const { sk } = keys.turn(id);
    const items = await partitionItems(table, { pk: keys.session(id).pk, from: sk });
    const turn = items.find((item) => item['sk'] === sk);
    const version = Number(turn?.['version'] ?? 0);
    const others = items.filter((item) => String(item['sk']).startsWith(prefixes.subscriber));
    const asked = turn?.['cancelAsked'] === true ? { isCancelAsked: true as const } : {};
    return { version, subscribers: others.map(subscriberFrom), ...asked };
  };

/** The next version is a new item, without the mark. */
const askToCancel =
  ({ client, name }: Table): TurnStore['askToCancel'] =>
  async (id, version) => {
    try {
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.turn(id),
          ConditionExpression: 'version = :version',
          UpdateExpression: 'SET cancelAsked = :true',
          ExpressionAttributeValues: { ':version': version, ':true': true },
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };

export const subscriberFrom = ({ sk, greetBy, joinBy }: Item): Subscriber => ({
  id: String(sk).slice(prefixes.subscriber.length) as ConnectionId,
  ...(greetBy === undefined ? {} : { greetBy: Number(greetBy) }),
  ...(joinBy === undefined ? {} : { joinBy: Number(joinBy) }),
});

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
