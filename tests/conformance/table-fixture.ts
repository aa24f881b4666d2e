/**
 * A table of its own for a test file: a DynamoDB engine on a temporary folder, the table in memory on which
 * the simulation runs (the project `simulation` asks for it), which must keep every promise the engine keeps, or
 * another DynamoDB (`npm run verify:aws` names one), in which each access key has tables of its own.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, inject } from 'vitest';
import { systemJitter, type Table } from '#shared/adapters/aws/dynamo/table.ts';
import { makeTable } from '#shared/adapters/aws/dynamo/transaction.ts';
import { itemValues } from '#shared/adapters/aws/item-values.ts';
import { type OtherDynamoDb, start } from '../../local/dynamodb/start.ts';
import { platformTable } from '../../local/dynamodb/table.ts';
import { openMemoryTable, tableOver } from '../simulation/memory-table.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Which of the two; absent: the engine. */
    readonly tableEngine: 'memory' | undefined;
    readonly tableUrl: string | undefined;
  }
}

export type TableFixture = { readonly table: Table; readonly close: () => Promise<void> };

/** The same table, whose first answer to each request is lost: the SDK sends it again. */
export const sentTwice = (table: Table): Table => {
  const send = async (command: never): Promise<unknown> => {
    await table.client.send(command).catch(() => undefined);
    return table.client.send(command);
  };
  return { ...table, client: { send } as unknown as Table['client'] };
};

/** The table of the file that calls this: opened before its tests, closed after them. */
export const openFileTable = (): Pick<TableFixture, 'table'> => {
  let fixture: TableFixture | undefined;
  beforeAll(async () => {
    fixture = await openTableFixture();
  });
  afterAll(() => fixture?.close());
  return {
    get table() {
      if (fixture === undefined) throw new Error('the table is opened before the first test');
      return fixture.table;
    },
  };
};

export const openTableFixture = async (): Promise<TableFixture> => {
  if (inject('tableEngine') === 'memory') return memoryFixture();
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-table-'));
  const other = otherEngine(inject('tableUrl'));
  const engine = await start({ folder, table: platformTable('sallyport'), expiryAttribute: 'ttl', other });
  const client = new DynamoDBClient({
    endpoint: engine.url,
    region: 'us-east-1',
    credentials: engine.credentials,
  });
  return {
    table: makeTable({
      name: 'sallyport',
      jitter: systemJitter,
      client: DynamoDBDocumentClient.from(client, { marshallOptions: itemValues() }),
    }),
    close: async () => {
      client.destroy();
      await engine.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const otherEngine = (url: string | undefined): OtherDynamoDb | undefined =>
  url === undefined
    ? undefined
    : { url, credentials: { accessKeyId: randomBytes(8).toString('hex'), secretAccessKey: 'local' } };

const memoryFixture = (): TableFixture => {
  const memory = openMemoryTable();
  return {
    table: tableOver(async (command) => memory.execute(command).output),
    close: () => Promise.resolve(),
  };
};
