/** A table of its own for a test file: a DynamoDB engine on a temporary folder, or the endpoint that is named. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/adapters/aws/dynamo/table.ts';
import { platformTable } from '../../local/dynamodb/platform-table.ts';
import { start } from '../../local/dynamodb/start.ts';

export type TableFixture = { readonly table: Table; readonly close: () => Promise<void> };

export const openTableFixture = async (): Promise<TableFixture> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-table-'));
  const engine = await start({ folder, table: platformTable('sallyport'), expiryAttribute: 'ttl' });
  const client = new DynamoDBClient({
    endpoint: engine.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  return {
    table: {
      name: 'sallyport',
      client: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }),
    },
    close: async () => {
      client.destroy();
      await engine.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
