/**
 * `DeliveryQueue` on the one table: a partition per webhook with its waiting deliveries by the time of the next
 * attempt, the outcome of every delivery, and the lease of its sender.
 *
 * A delivery leaves its waiting entry in the same write that records its outcome: of two senders that tried the
 * same one, the second finds the entry deleted, and its attempt does not count.
 */
import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { rowOf } from '#shared/domain/webhook/delivery-retry.ts';
import type { WebhookId } from '#shared/domain/webhook/webhook.ts';
import type { DeliveryQueue } from '#shared/ports/webhooks.ts';
import { batchDelete } from './batch.ts';
import { duePages } from './due.ts';
import { queryPages } from './query-pages.ts';
import { type Item, keys, prefixes, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { deliveryFrom, noticeFrom, rowItem, waitingItem } from './webhook-items.ts';
import { releaseLease, renewLease, senderWoken, takeLease } from './webhook-sender-lease.ts';

type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;

export const makeDeliveryQueue = (table: Table): DeliveryQueue => ({
  secretOf: async (id) => {
    const secret = (await read(table, keys.webhookSecret(id)))?.['secret'];
    return typeof secret === 'string' ? secret : undefined;
  },
  notice: async (id) => {
    const item = await read(table, keys.notice(id));
    return item && noticeFrom(item);
  },
  spread: spread(table),
  due: (now, pageMax) => dueDeliveries(table, { now, pageMax }),
  takeLease: takeLease(table),
  renewLease: renewLease(table),
  releaseLease: releaseLease(table),
  waiting: async (id, itemsMax) => (await waitingItems(table, id, itemsMax)).map(deliveryFrom),
  countWaiting: countWaiting(table),
  settle: settle(table),
  clear: clear(table),
  publicUrl: async () => {
    const url = (await read(table, keys.publicUrl()))?.['url'];
    return typeof url === 'string' ? url : undefined;
  },
  keepPublicUrl: async (url) => {
    await table.client.send(new PutCommand({ TableName: table.name, Item: { ...keys.publicUrl(), url } }));
  },
});

type Key = { readonly pk: string; readonly sk: string };

const read = async ({ client, name: TableName }: Table, Key: Key): Promise<Item | undefined> =>
  (await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }))).Item;

/** At most 20 webhooks receive one notice: 61 actions of the 100 that a transaction may have. */
const spread =
  (table: Table): DeliveryQueue['spread'] =>
  async ({ id }, deliveries) => {
    const { name: TableName } = table;
    const isThere = 'attribute_exists(pk)';
    const TransactItems: Actions = [
      { Delete: { TableName, Key: keys.notice(id), ConditionExpression: isThere } },
      ...deliveries.flatMap(
        (delivery): Actions => [
          { Put: { TableName, Item: waitingItem(delivery) } },
          { Put: { TableName, Item: rowItem(delivery.webhook, rowOf(delivery, 'waiting')) } },
          senderWoken(TableName, delivery.webhook, delivery.nextAt),
        ],
      ),
    ];
    return (await transact(table, new TransactWriteCommand({ TransactItems }))) === 'done';
  };

async function* dueDeliveries(
  table: Table,
  wanted: { readonly now: number; readonly pageMax: number },
): ReturnType<DeliveryQueue['due']> {
  for await (const items of duePages(table, { kind: 'delivery', ...wanted })) {
    const under = (prefix: string): readonly string[] =>
      items.flatMap(({ pk }) => (String(pk).startsWith(prefix) ? [String(pk).slice(prefix.length)] : []));
    yield { notices: under(keys.notice('').pk), webhooks: under(keys.sender('').pk) as readonly WebhookId[] };
  }
}

const waitingItems = async (
  { client, name: TableName }: Table,
  id: WebhookId,
  itemsMax: number,
): Promise<readonly Item[]> => {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
      ExpressionAttributeValues: { ':pk': keys.sender(id).pk, ':sk': prefixes.pendingDelivery },
      ConsistentRead: true,
      Limit: itemsMax,
    }),
  );
  return Items;
};

const countWaiting =
  (table: Table): DeliveryQueue['countWaiting'] =>
  async (id, countMax) => {
    const pages = queryPages(table, {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :sk)',
      ProjectionExpression: 'pk, sk',
      ExpressionAttributeValues: { ':pk': keys.sender(id).pk, ':sk': prefixes.pendingDelivery },
    });
    let counted = 0;
    for await (const items of pages) {
      counted += items.length;
      if (counted >= countMax) break;
    }
    return Math.min(counted, countMax);
  };

const settle =
  (table: Table): DeliveryQueue['settle'] =>
  async (delivery, settled, row) => {
    const { name: TableName } = table;
    const { webhook, nextAt, id } = delivery;
    const TransactItems: Actions = [
      {
        Delete: {
          TableName,
          Key: keys.pendingDelivery(webhook, nextAt, id),
          ConditionExpression: 'attribute_exists(pk)',
        },
      },
      ...(settled.state === 'waiting' || settled.state === 'exhausted'
        ? [{ Put: { TableName, Item: waitingItem(settled.next) } }]
        : []),
      { Put: { TableName, Item: rowItem(webhook, row) } },
    ];
    return (await transact(table, new TransactWriteCommand({ TransactItems }))) === 'done';
  };

const clearedAtOnceMax = 200;

/** The sender's own item is deleted last: a caller that dies before it finds the rest again. */
const clear =
  (table: Table): DeliveryQueue['clear'] =>
  async (id) => {
    const { client, name: TableName } = table;
    for (;;) {
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': keys.sender(id).pk },
          ConsistentRead: true,
          Limit: clearedAtOnceMax,
        }),
      );
      const rows = Items.filter(({ sk }) => sk !== keys.sender(id).sk);
      if (rows.length === 0) break;
      await batchDelete(
        table,
        rows.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })),
      );
    }
    await client.send(new DeleteCommand({ TableName, Key: keys.sender(id) }));
  };
