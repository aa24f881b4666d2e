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
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { WebhookId } from '#shared/domain/webhook/webhook.ts';
import type { WebhookStore } from '#shared/ports/webhooks.ts';
import { auditItem } from './audit-log.ts';
import { featureUsed } from './features.ts';
import { newestKept, partitionItems } from './partition.ts';
import { ifProjectNotDeleted, isInDeletedProject } from './project-not-deleted.ts';
import { type Item, keys, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { noticePut, rowFrom, webhookFrom, webhookItem } from './webhook-items.ts';
import { senderWoken } from './webhook-sender-lease.ts';

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
  (table: Table): WebhookStore['list'] =>
  async () => {
    const { pk, sk: to } = keys.webhooks();
    const items = await partitionItems(table, { pk, from: keys.webhook('').sk, to });
    const isCounter = ({ sk }: Item): boolean => sk === to;
    const webhooks = items
      .filter((item) => !isCounter(item))
      .map(webhookFrom)
      .sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1));
    return { webhooks, version: Number(items.find(isCounter)?.['version'] ?? 0) };
  };

/** A change of the set of webhooks; conditional on the version that was read, where that matters. */
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
      featureUsed(TableName, 'webhooks'),
      ...(webhook.project === undefined ? [] : [ifProjectNotDeleted(TableName, webhook.project)]),
    ];
    const result = await transact(table, new TransactWriteCommand({ TransactItems }));
    if (result === 'done') return 'created';
    return isInDeletedProject(TransactItems, result) ? 'gone' : 'moved';
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
    const result = await transact(table, new TransactWriteCommand({ TransactItems }));
    return result === 'done' ? next : undefined;
  };

const remove =
  (table: Table): WebhookStore['remove'] =>
  async (id, audits) => {
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
      ...audits.map((row) => ({ Put: { TableName, Item: auditItem(row) } })),
    ];
    return (await transact(table, new TransactWriteCommand({ TransactItems }))) === 'done';
  };

const deliveries =
  (table: Table): WebhookStore['deliveries'] =>
  async (id: WebhookId, page) => {
    const { pk, sk } = keys.delivery(id, 0, '');
    const prefix = sk.slice(0, sk.indexOf('#') + 1);
    const { items, ...next } = await newestKept(table, { ...page, pk, prefix });
    return { rows: items.map(rowFrom), ...next };
  };
