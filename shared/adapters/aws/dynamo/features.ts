/**
 * The features that a deployment uses, in one item (domain/features.ts): marked in the transaction that makes the
 * first of a kind, and read together with a session.
 */
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { decodeStored } from '#shared/contracts/decode.ts';
import { featuresRecord } from '#shared/contracts/stored/deployment-records.ts';
import type { UsedFeatures } from '#shared/domain/features.ts';
import type { ConnectionStore } from '#shared/ports/connections.ts';
import { type Item, isConditionFailed, itemOfFailure, keys, type Table } from './table.ts';

export const featuresFrom = (item: Item | undefined): UsedFeatures => {
  const { webhooks, mcpServers, approversUntil } = decodeStored(featuresRecord, item ?? {});
  return { webhooks, mcpServers, approversUntil };
};

/** The action of the transaction that first uses a feature. */
export const featureUsed = (TableName: string, feature: 'webhooks' | 'mcpServers') => ({
  Update: {
    TableName,
    Key: keys.features(),
    UpdateExpression: 'SET #feature = :used',
    ExpressionAttributeNames: { '#feature': feature },
    ExpressionAttributeValues: { ':used': true },
  },
});

/**
 * Records that an approver's socket opens. The time until which there may be some is moved on by twice the life
 * of a socket, so that few of them write it.
 */
export const approverOpened = async (table: Table, at: number, socketMsMax: number): Promise<void> => {
  const values = { ':at': at, ':until': at + 2 * socketMsMax };
  const known = await note(table, {
    set: 'approversSince = :at, approversUntil = :until',
    when: 'attribute_not_exists(approversUntil) OR approversUntil < :at',
    values,
  });
  if (known === 'noted' || featuresFrom(known).approversUntil >= at + socketMsMax) return;
  const { ':until': until } = values;
  const when = 'approversUntil < :until';
  await note(table, { set: 'approversUntil = :until', when, values: { ':until': until } });
};

export const approversSince =
  ({ client, name }: Table): ConnectionStore['approversSince'] =>
  async () => {
    const got = new GetCommand({ TableName: name, Key: keys.features(), ConsistentRead: true });
    const { Item } = await client.send(got);
    return decodeStored(featuresRecord, Item ?? {}).approversSince;
  };

type Note = { readonly set: string; readonly when: string; readonly values: Record<string, number> };

/** `noted`, or the item as it is where the condition does not hold. */
const note = async ({ client, name }: Table, { set, when, values }: Note): Promise<'noted' | Item> => {
  try {
    await client.send(
      new UpdateCommand({
        TableName: name,
        Key: keys.features(),
        UpdateExpression: `SET ${set}`,
        ConditionExpression: when,
        ExpressionAttributeValues: values,
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return 'noted';
  } catch (error) {
    if (!isConditionFailed(error)) throw error;
    return itemOfFailure(error) ?? {};
  }
};
