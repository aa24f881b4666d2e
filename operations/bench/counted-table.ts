/** A table of its own on the embedded engine, whose calls and read units are counted by operation. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Item, systemJitter, type Table } from '#shared/adapters/aws/dynamo/table.ts';
import { start } from '../../local/dynamodb/start.ts';
import { platformTable } from '../../local/dynamodb/table.ts';

type CountedTable = {
  readonly table: Table;
  /** Writes items uncounted. */
  readonly fill: (items: Iterable<Item>) => Promise<void>;
  readonly reset: () => void;
  readonly counts: () => { readonly calls: Readonly<Record<string, number>>; readonly readUnits: number };
  readonly close: () => Promise<void>;
};

const tableName = 'bench';
const itemsPerWrite = 25;
const writesAtOnce = 16;
export const readOperations = ['GetItem', 'BatchGetItem', 'Query', 'TransactGetItems', 'Scan'];

export const openCountedTable = async (): Promise<CountedTable> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'));
  const engine = await start({
    folder,
    table: platformTable(tableName),
    expiryAttribute: 'ttl',
  });
  const { credentials } = engine;
  const client = new DynamoDBClient({ region: 'us-east-1', endpoint: engine.url, credentials });
  const plain = DynamoDBDocumentClient.from(
    new DynamoDBClient({ region: 'us-east-1', endpoint: engine.url, credentials }),
  );
  let calls: Record<string, number> = {};
  let readUnits = 0;
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const operation = commandName.replace(/Command$/, '');
        calls[operation] = (calls[operation] ?? 0) + 1;
        const isRead = readOperations.includes(operation);
        if (isRead) Reflect.set(args.input, 'ReturnConsumedCapacity', 'TOTAL');
        const answer = await next(args);
        if (isRead) readUnits += unitsOf(Reflect.get(answer.output, 'ConsumedCapacity'));
        return answer;
      },
    { step: 'initialize', name: 'count' },
  );
  return {
    table: { name: tableName, jitter: systemJitter, client: DynamoDBDocumentClient.from(client) },
    fill: (items) => fill(plain, items),
    reset: () => {
      calls = {};
      readUnits = 0;
    },
    counts: () => ({ calls: { ...calls }, readUnits }),
    close: async () => {
      client.destroy();
      await engine.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const unitsOf = (consumed: unknown): number =>
  [consumed ?? []].flat().reduce<number>((sum, one) => {
    const units: unknown = typeof one === 'object' && one !== null ? Reflect.get(one, 'CapacityUnits') : 0;
    return sum + Number(units ?? 0);
  }, 0);

const fill = async (client: DynamoDBDocumentClient, items: Iterable<Item>): Promise<void> => {
  const iterator = items[Symbol.iterator]();
  const write = async (): Promise<void> => {
    for (;;) {
      const portion: Item[] = [];
      while (portion.length < itemsPerWrite) {
        const { value, done } = iterator.next();
        if (done) break;
        portion.push(value);
      }
      if (portion.length === 0) return;
      const requests = portion.map((item) => ({ PutRequest: { Item: { ...item } } }));
      await client.send(new BatchWriteCommand({ RequestItems: { [tableName]: requests } }));
    }
  };
  await Promise.all(Array.from({ length: writesAtOnce }, write));
};
