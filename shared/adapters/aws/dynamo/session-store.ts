/** `SessionStore` on the one DynamoDB table; the larger methods have files of their own. */
import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { SessionId } from '#shared/domain/ids.ts';
import type { TurnRecord } from '#shared/domain/turn/turn.ts';
import type { SessionStore } from '#shared/ports/session-store.ts';
import { batchGet } from './batch.ts';
import { dueItems } from './due.ts';
import { append, readEvents } from './event-log.ts';
import { featuresFrom } from './features.ts';
import { type HistoryOptions, plainHistory } from './history-items.ts';
import { accept } from './inbox.ts';
import { releaseLease, renewLease, takeLease } from './lease.ts';
import { pageOfProject } from './project-pages.ts';
import { beginCall, endCall, recordRunning, touch } from './session-calls.ts';
import { descendants, wake } from './session-children.ts';
import { ownerPartition, sessionFrom } from './session-items.ts';
import { create, end, forget, postpone, removeUnused } from './session-lifecycle.ts';
import { history, loadWork, readVersion, readWhole } from './session-work.ts';
import { type Item, keys, type Table } from './table.ts';
import { tokenFrom } from './token-store.ts';
import { commitTurn } from './turn-commit.ts';
import { partsOf } from './turn-items.ts';

export const makeSessionStore = (table: Table, options: HistoryOptions = plainHistory): SessionStore => ({
  create: create(table),
  get: get(table),
  getMany: async (ids) => {
    const unique = [...new Set(ids)];
    return (await batchGet(table, unique.map(keys.session))).map(sessionFrom);
  },
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
  descendants: descendants(table),
  wake: wake(table),
  list: list(table),
  listOfProject: async (project, page) => {
    const listing = { project, kind: 'SESSION', keyOf: keys.session } as const;
    const { items, ...rest } = await pageOfProject(table, listing, page);
    return { sessions: items.map(sessionFrom), ...rest };
  },
  wasAccepted: async (id, message) => {
    const Key = keys.accepted(id, message);
    const got = new GetCommand({ TableName: table.name, Key, ConsistentRead: true });
    return (await table.client.send(got)).Item !== undefined;
  },
  accept: accept(table),
  takeLease: takeLease(table),
  renewLease: renewLease(table),
  releaseLease: releaseLease(table),
  loadWork: loadWork(table),
  readVersion: readVersion(table),
  commitTurn: commitTurn(table, options),
  append: append(table),
  readEvents: readEvents(table),
  history: history(table),
  touch: touch(table),
  beginCall: beginCall(table),
  recordRunning: recordRunning(table),
  endCall: endCall(table),
  end: end(table),
  removeUnused: removeUnused(table),
  forget: forget(table),
  due: async (now, itemsMax) => (await dueItems(table, { kind: 'session', now, itemsMax })).map(sessionFrom),
  postpone: postpone(table),
});

const get =
  ({ client, name }: Table): SessionStore['get'] =>
  async (id) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: keys.session(id), ConsistentRead: true }),
    );
    return Item && sessionFrom(Item);
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

const getWithTurn =
  (table: Table): SessionStore['getWithTurn'] =>
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

const list =
  ({ client, name }: Table): SessionStore['list'] =>
  async (owner, { after, itemsMax }) => {
    const pk = ownerPartition(owner);
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: name,
        IndexName: 'owner',
        KeyConditionExpression: after === undefined ? 'ownerPk = :pk' : 'ownerPk = :pk AND ownerSk < :after',
        ExpressionAttributeValues: { ':pk': pk, ...(after === undefined ? {} : { ':after': after }) },
        ScanIndexForward: false,
        Limit: itemsMax,
      }),
    );
    const next = LastEvaluatedKey?.['ownerSk'];
    return { sessions: Items.map(sessionFrom), ...(next === undefined ? {} : { next: String(next) }) };
  };
