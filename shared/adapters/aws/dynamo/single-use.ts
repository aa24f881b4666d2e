/**
 * The use of an item that may be used once. The SDK sends a write again whose answer was lost: the name of the attempt, which the
 * item keeps, tells such a repeat from another use.
 */
import { randomUUID } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type Item, isConditionFailed, itemOfFailure, type Table } from './table.ts';

/** The used item; undefined for one that was used before, or is not there. */
export const useOnce = async ({ client, name }: Table, Key: Item, now: number): Promise<Item | undefined> => {
  const attempt = randomUUID();
  try {
    const { Attributes } = await client.send(
      new UpdateCommand({
        TableName: name,
        Key,
        UpdateExpression: 'SET usedAt = :now, usedBy = :attempt',
        ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(usedAt)',
        ExpressionAttributeValues: { ':now': now, ':attempt': attempt },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return Attributes;
  } catch (error) {
    if (!isConditionFailed(error)) throw error;
    const item = itemOfFailure(error);
    return item?.['usedBy'] === attempt ? item : undefined;
  }
};
