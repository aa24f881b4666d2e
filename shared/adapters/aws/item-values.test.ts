import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, test } from 'vitest';
import { itemValues } from './item-values.ts';

test('an object is a map whatever its fields are called, also after a document client was made', () => {
  const client = new DynamoDBClient({ region: 'us-east-1' });
  DynamoDBDocumentClient.from(client, { marshallOptions: itemValues() });
  expect(marshall({ pk: 'a', labels: { constructor: 'x' } }, itemValues())).toEqual({
    pk: { S: 'a' },
    labels: { M: { constructor: { S: 'x' } } },
  });
});
