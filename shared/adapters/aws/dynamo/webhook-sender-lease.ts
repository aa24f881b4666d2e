/**
 * The right to send to one webhook: acquired, renewed and released by one conditional update each.
 *
 * A caller that finds it held leaves a mark: a holder can only release when it has seen all marks, so that no
 * late delivery waits for the sweep. The sweep replaces a holder that died when its lease is over. A transaction
 * that adds something to send leaves the same mark and makes the sender due (`senderWoken`).
 */
import { GetCommand, type TransactWriteCommandInput, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { DeliveryQueue, SenderLease } from '#shared/ports/webhooks.ts';
import { type Item, isConditionFailed, keys, type Table } from './table.ts';
import { senderDue } from './webhook-items.ts';

const triesMax = 5;

type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/**
 * The action that makes a sender due and marks the holder's lease, for the transaction that adds something to
 * send (WH9). `dueAt` is no later than now, so the sweep never comes later than it would have. A sweep that comes
 * while the lease is held leaves again.
 */
export const senderWoken = (
  TableName: string,
  webhook: SenderLease['webhook'],
  dueAt: number,
): Action & { readonly Update: object } => ({
  Update: {
    TableName,
    Key: keys.sender(webhook),
    UpdateExpression: 'SET duePk = :duePk, dueAt = :dueAt ADD wakes :one',
    ExpressionAttributeValues: { ':one': 1, ...senderDue(webhook, dueAt) },
  },
});

const leaseFrom = (webhook: SenderLease['webhook'], item: Item): SenderLease => ({
  webhook,
  fence: Number(item['leaseFence']),
  wakes: Number(item['wakes'] ?? 0),
  ...(item['acceptedAt'] === undefined ? {} : { acceptedAt: Number(item['acceptedAt']) }),
});

export const takeLease =
  (table: Table): DeliveryQueue['takeLease'] =>
  async (webhook, { at, until }) => {
    for (let attempt = 0; attempt < triesMax; attempt += 1) {
      const taken = await update(table, {
        Key: keys.sender(webhook),
        ConditionExpression: 'attribute_not_exists(leaseUntil) OR leaseUntil < :at',
        UpdateExpression:
          'SET leaseUntil = :until, duePk = :duePk, dueAt = :dueAt ADD leaseFence :one, wakes :none',
        ExpressionAttributeValues: {
          ':at': at,
          ':until': until,
          ':one': 1,
          ':none': 0,
          ...senderDue(webhook, until),
        },
      });
      if (taken !== undefined) return leaseFrom(webhook, taken);
      const told = await update(table, {
        Key: keys.sender(webhook),
        ConditionExpression: 'leaseUntil >= :at',
        UpdateExpression: 'ADD wakes :one',
        ExpressionAttributeValues: { ':at': at, ':one': 1 },
      });
      if (told !== undefined) return undefined;
    }
    return undefined;
  };

export const renewLease =
  (table: Table): DeliveryQueue['renewLease'] =>
  async ({ webhook, fence, acceptedAt }, until) => {
    const accepted = acceptance(acceptedAt);
    const renewed = await update(table, {
      Key: keys.sender(webhook),
      ConditionExpression: 'leaseFence = :fence',
      UpdateExpression: `SET leaseUntil = :until, duePk = :duePk, dueAt = :dueAt${accepted.set}`,
      ExpressionAttributeValues: {
        ':fence': fence,
        ':until': until,
        ...accepted.values,
        ...senderDue(webhook, until),
      },
    });
    return renewed && leaseFrom(webhook, renewed);
  };

export const releaseLease =
  (table: Table): DeliveryQueue['releaseLease'] =>
  async (lease, next) => {
    const { webhook, fence, wakes } = lease;
    const { UpdateExpression, ExpressionAttributeValues } = lettingGo(webhook, next);
    const released = await update(table, {
      Key: keys.sender(webhook),
      ConditionExpression: 'leaseFence = :fence AND wakes = :wakes',
      UpdateExpression,
      ExpressionAttributeValues: {
        ...ExpressionAttributeValues,
        ':fence': fence,
        ':wakes': wakes,
      },
    });
    if (released !== undefined) return 'released';
    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.name, Key: keys.sender(webhook), ConsistentRead: true }),
    );
    return Item?.['leaseFence'] === fence ? 'kept' : 'stale';
  };

const acceptance = (at: number | undefined) =>
  at === undefined
    ? { set: '', values: {} }
    : { set: ', acceptedAt = :acceptedAt', values: { ':acceptedAt': at } };

const lettingGo = (
  webhook: SenderLease['webhook'],
  { dueAt, acceptedAt }: Parameters<DeliveryQueue['releaseLease']>[1],
): Pick<Change, 'UpdateExpression' | 'ExpressionAttributeValues'> => {
  const accepted = acceptance(acceptedAt);
  const due = dueAt === undefined ? ' REMOVE duePk, dueAt' : ', duePk = :duePk, dueAt = :dueAt';
  return {
    UpdateExpression: `SET leaseUntil = :never${accepted.set}${due}`,
    ExpressionAttributeValues: {
      ':never': 0,
      ...accepted.values,
      ...(dueAt === undefined ? {} : senderDue(webhook, dueAt)),
    },
  };
};

type Change = {
  readonly Key: Readonly<Record<string, string>>;
  readonly ConditionExpression: string;
  readonly UpdateExpression: string;
  readonly ExpressionAttributeValues: Readonly<Record<string, unknown>>;
};

/** The item after the change; undefined when the condition did not hold. */
const update = async (table: Table, change: Change): Promise<Item | undefined> => {
  try {
    const command = new UpdateCommand({
      TableName: table.name,
      ...change,
      Key: { ...change.Key },
      ExpressionAttributeValues: { ...change.ExpressionAttributeValues },
      ReturnValues: 'ALL_NEW',
    });
    const { Attributes } = await table.client.send(command);
    return Attributes ?? {};
  } catch (error) {
    if (isConditionFailed(error)) return undefined;
    throw error;
  }
};
