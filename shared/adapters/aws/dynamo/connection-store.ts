/**
 * `ConnectionStore` on the one table: a connection is two items, its own and one beside the session it subscribes
 * to. One that a token or a browser's sign-in opened is listed with that, too.
 */
import { GetCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { previewRecord, ticketRecord } from '#shared/contracts/stored/access-records.ts';
import { approverRecord, connectionRecord, openedRecord } from '#shared/contracts/stored/session-records.ts';
import { openerOf } from '#shared/domain/principal.ts';
import { connectionMsMax } from '#shared/domain/subscriber.ts';
import { AppError } from '#shared/errors.ts';
import type { Connection, ConnectionStore } from '#shared/ports/connections.ts';
import { approverOpened, approversSince } from './features.ts';
import { queryAll } from './query-pages.ts';
import { useOnce } from './single-use.ts';
import { approverPartition, cancellations, isConditionFailed, keys, type Table } from './table.ts';
import { subscriberFrom, subscribers } from './turn-store.ts';

/** Its items outlive a connection by a little. */
const itemSeconds = connectionMsMax / 1000 + 3600;

export const makeConnectionStore = (table: Table): ConnectionStore => ({
  put: put(table),
  get: get(table),
  remove: remove(table),
  openedBy: openedBy(table),
  subscribers: subscribers(table),
  subscriber: subscriber(table),
  greeted: greeted(table),
  approvers: approvers(table),
  approversSince: approversSince(table),
  putTicket: async (hash, { principal, expiresAt }) => {
    const Item = { ...keys.ticket(hash), principal, expiresAt, ttl: Math.ceil(expiresAt / 1000) };
    await table.client.send(new PutCommand({ TableName: table.name, Item }));
  },
  putPreview: async (hash, grant) => {
    const Item = { ...keys.preview(hash), ...grant, ttl: Math.ceil(grant.expiresAt / 1000) };
    await table.client.send(new PutCommand({ TableName: table.name, Item }));
  },
  preview: async (hash) => {
    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.name, Key: keys.preview(hash), ConsistentRead: true }),
    );
    return Item && decodeStored(previewRecord, Item);
  },
  redeemTicket: redeemTicket(table),
});

const put =
  (table: Table): ConnectionStore['put'] =>
  async (connection: Connection) => {
    const { client, name } = table;
    const { id, principal, connectedAt, sessionId, greetBy } = connection;
    const ttl = Math.ceil(connectedAt / 1000) + itemSeconds;
    if (sessionId === undefined) await approverOpened(table, connectedAt, itemSeconds * 1000);
    const items = [
      { ...keys.connection(id), ...connection, ttl },
      sessionId === undefined
        ? { ...besideOf(connection), id, principal, ttl }
        : { ...besideOf(connection), ttl, ...(greetBy === undefined ? {} : { greetBy }) },
    ];
    const puts = items.map((Item) => ({ Put: { TableName: name, Item } }));
    try {
      await client.send(
        new TransactWriteCommand({ TransactItems: [...puts, ...listed(name, connection, ttl)] }),
      );
    } catch (error) {
      if (openerOf(principal) === undefined || cancellations(error) === undefined) throw error;
      throw new AppError('unauthenticated', 'the credential is no longer valid', { cause: error });
    }
  };

/** A sign-out or a revocation that comes later finds the connection; after one that came before, there is none. */
const listed = (TableName: string, { id, principal }: Connection, ttl: number) => {
  const opener = openerOf(principal);
  if (opener === undefined) return [];
  return [
    { Put: { TableName, Item: { ...keys.openedBy(opener, id), id, ttl } } },
    { ConditionCheck: { TableName, Key: keys.token(opener), ConditionExpression: 'attribute_exists(pk)' } },
  ];
};

const openedBy =
  (table: Table): ConnectionStore['openedBy'] =>
  async (credential) => {
    const items = await queryAll(table, {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': keys.openedBy(credential, '').pk },
      ConsistentRead: true,
    });
    return items.map((item) => decodeStored(openedRecord, item).id);
  };

/** The key by which publishers find it. */
const besideOf = ({ id, sessionId }: Connection) =>
  sessionId === undefined ? keys.approver(id) : keys.subscriber(sessionId, id);

const subscriber =
  ({ client, name }: Table): ConnectionStore['subscriber'] =>
  async (sessionId, id) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: keys.subscriber(sessionId, id), ConsistentRead: true }),
    );
    return Item && subscriberFrom(Item);
  };

const greeted =
  ({ client, name }: Table): ConnectionStore['greeted'] =>
  async (sessionId, id, options) => {
    const change =
      options === undefined
        ? { UpdateExpression: 'REMOVE greetBy, joinBy' }
        : {
            UpdateExpression: 'REMOVE greetBy SET joinBy = :joinBy',
            ExpressionAttributeValues: { ':joinBy': options.joinBy },
          };
    try {
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.subscriber(sessionId, id),
          ConditionExpression: 'attribute_exists(pk)',
          ...change,
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };

/** As many as people have the app open. */
const approvers =
  (table: Table): ConnectionStore['approvers'] =>
  async () => {
    const items = await queryAll(table, {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': approverPartition },
      ConsistentRead: true,
    });
    return items.map((item) => decodeStored(approverRecord, item));
  };

const get =
  ({ client, name }: Table): ConnectionStore['get'] =>
  async (id) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: name, Key: keys.connection(id), ConsistentRead: true }),
    );
    return Item && decodeStored(connectionRecord, Item);
  };

const remove =
  (table: Table): ConnectionStore['remove'] =>
  async (id, { openedBefore } = { openedBefore: Number.POSITIVE_INFINITY }) => {
    const { client, name: TableName } = table;
    const connection = await get(table)(id);
    if (connection === undefined || connection.connectedAt >= openedBefore) return undefined;
    const opener = openerOf(connection.principal);
    const gone = [
      keys.connection(id),
      besideOf(connection),
      ...(opener === undefined ? [] : [keys.openedBy(opener, id)]),
    ];
    await client.send(
      new TransactWriteCommand({ TransactItems: gone.map((Key) => ({ Delete: { TableName, Key } })) }),
    );
    return connection;
  };

/** A used ticket stays until it expires: one that was deleted could not tell the repeat of a request from another use. */
const redeemTicket =
  (table: Table): ConnectionStore['redeemTicket'] =>
  async (hash, now) => {
    const used = await useOnce(table, keys.ticket(hash), now);
    if (used === undefined) return undefined;
    const { principal, expiresAt } = decodeStored(ticketRecord, used);
    return expiresAt > now ? principal : undefined;
  };
