/**
 * `WebhookStore` on the one table: all webhooks in one partition, since each event reads all of them,
 * and each secret in a partition of its own that this store writes and never reads.
 *
 * One item counts the changes of the set of webhooks. A caller that adds one names the version it has seen, which makes
 * the limits hard.
 */
import {
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { WebhookId } from '#shared/domain/webhook/webhook.ts';
import type { WebhookStore } from '#shared/ports/webhook-store.ts';
import { senderWoken } from './sender-lease.ts';
import { type Item, keys, type Table } from './table.ts';
import { sendWithRetry } from './transaction.ts';
import { noticePut, rowFrom, webhookFrom, webhookItem } from './webhook-items.ts';

type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;

export const makeWebhookStore = (table: Table): WebhookStore => ({
  list: list(table),
  get: async (id) => {
    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.name, Key: keys.webhook(id), ConsistentRead: true }),
    );
    return Item && webhookFrom(Item);
  },
  create: create(table),
  replace: replace(table),
  remove: remove(table),
  tell: async (notices) => {
    for (const notice of notices) await table.client.send(new PutCommand(noticePut(table.name, notice).Put));
  },
  deliveries: deliveries(table),
});

const list =
  ({ client, name: TableName }: Table): WebhookStore['list'] =>
  async () => {
    const items: Item[] = [];
    let start: Record<string, unknown> | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
          ExpressionAttributeValues: {
            ':pk': keys.webhooks().pk,
            ':from': keys.webhook('').sk,
            ':to': keys.webhooks().sk,
          },
          ConsistentRead: true,
          ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        }),
      );
      items.push(...Items);
      start = LastEvaluatedKey;
    } while (start !== undefined);
    const isCounter = ({ sk }: Item): boolean => sk === keys.webhooks().sk;
    const webhooks = items
      .filter((item) => !isCounter(item))
      .map(webhookFrom)
      .sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1));
    return { webhooks, version: Number(items.find(isCounter)?.['version'] ?? 0) };
  };

/** The set of webhooks becomes another one; over the version that was read, where that matters. */
const setChanged = (TableName: string, version?: number): Actions[number] => ({
  Update: {
    TableName,
    Key: keys.webhooks(),
    UpdateExpression: 'ADD version :one',
    ...(version === undefined
      ? { ExpressionAttributeValues: { ':one': 1 } }
      : {
          ConditionExpression: version === 0 ? 'attribute_not_exists(version)' : 'version = :version',
          ExpressionAttributeValues: version === 0 ? { ':one': 1 } : { ':one': 1, ':version': version },
        }),
  },
});

const create =
  (table: Table): WebhookStore['create'] =>
  async (webhook, { secret, version }) => {
    const { name: TableName } = table;
    const TransactItems: Actions = [
      setChanged(TableName, version),
      {
        Put: {
          TableName,
          Item: webhookItem(webhook),
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
      { Put: { TableName, Item: { ...keys.webhookSecret(webhook.id), secret } } },
    ];
    const result = await sendWithRetry(table, new TransactWriteCommand({ TransactItems }));
    return result === 'done' ? 'created' : 'moved';
  };

const replace =
  (table: Table): WebhookStore['replace'] =>
  async (webhook) => {
    const { name: TableName } = table;
    const { id, version, isEnabled, enabledAt } = webhook;
    const next = { ...webhook, version: version + 1 };
    const TransactItems: Actions = [
      {
        Put: {
          TableName,
          Item: webhookItem(next),
          ConditionExpression: 'version = :version',
          ExpressionAttributeValues: { ':version': version },
        },
      },
      ...(isEnabled ? [senderWoken(TableName, id, enabledAt)] : []),
    ];
    const result = await sendWithRetry(table, new TransactWriteCommand({ TransactItems }));
    return result === 'done' ? next : undefined;
  };

const remove =
  (table: Table): WebhookStore['remove'] =>
  async (id) => {
    const { name: TableName } = table;
    const TransactItems: Actions = [
      {
        Delete: {
          TableName,
          Key: keys.webhook(id),
          ConditionExpression: 'attribute_exists(pk)',
        },
      },
      { Delete: { TableName, Key: keys.webhookSecret(id) } },
      setChanged(TableName),
    ];
    return (await sendWithRetry(table, new TransactWriteCommand({ TransactItems }))) === 'done';
  };

/** After every delivery there can be. */
const lastDelivery = '~';

const deliveries =
  ({ client, name: TableName }: Table): WebhookStore['deliveries'] =>
  async (id: WebhookId, { after = lastDelivery, itemsMax, now }) => {
    const { pk, sk } = keys.delivery(id, 0, '');
    const prefix = sk.slice(0, sk.indexOf('#') + 1);
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
        ExpressionAttributeValues: { ':pk': pk, ':from': prefix, ':to': `${prefix}${after}` },
        ConsistentRead: true,
        ScanIndexForward: false,
        // `after` itself may be among them.
        Limit: itemsMax + 2,
      }),
    );
    const later = Items.filter(({ sk }) => sk !== `${prefix}${after}`);
    // Expired rows are read until the table removes them (A24).
    const kept = later.filter(({ ttl }) => Number(ttl) * 1000 > now);
    const shown = kept.slice(0, itemsMax);
    const last = shown.at(-1)?.['sk'];
    return {
      rows: shown.map(rowFrom),
      ...(kept.length > itemsMax && last !== undefined ? { next: String(last).slice(prefix.length) } : {}),
    };
  };
