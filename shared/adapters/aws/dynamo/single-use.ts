/** The use of an item that may be used once. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { itemOfAttempt, newAttempt } from './attempts.ts';
import type { Item, Table } from './table.ts';

/** The used item; undefined for one that was used before, or is not there. */
export const useOnce = async ({ client, name }: Table, Key: Item, now: number): Promise<Item | undefined> => {
  const attempt = newAttempt();
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
    return itemOfAttempt(error, attempt, ({ usedBy }) => usedBy);
  }
};
