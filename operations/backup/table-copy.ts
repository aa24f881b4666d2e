/**
 * The items of a table as files, in the format of DynamoDB's own exports: a line `{"Item": …}` per item, with typed values,
 * compressed by gzip (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html).
 *
 * One file per segment of a parallel scan. Items are loaded as they are; one that is there already is replaced.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGunzip, createGzip } from 'node:zlib';
import {
  type AttributeValue,
  BatchWriteItemCommand,
  type DynamoDBClient,
  paginateScan,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { linesOf } from '#sdk/lines.ts';
import { Failure } from '../deploy/programs.ts';

const segments = 4;
/** DynamoDB's limit for one batch. */
const batchItemsMax = 25;
const batchTriesMax = 12;
const pauseMsMin = 50;
const pauseMsMax = 5000;

export type Item = Readonly<Record<string, AttributeValue>>;

type Source = {
  readonly client: DynamoDBClient;
  readonly table: string;
  /** Is called with each item. */
  readonly see?: (item: Item) => void;
};

/** The number of items. */
export const saveTable = async ({ client, table, see }: Source, folder: string): Promise<number> => {
  const counts = await Promise.all(
    Array.from({ length: segments }, async (_, Segment) => {
      let count = 0;
      const lines = async function* (): AsyncGenerator<string> {
        const scan = { TableName: table, Segment, TotalSegments: segments, ConsistentRead: true };
        for await (const { Items = [] } of paginateScan({ client }, scan)) {
          count += Items.length;
          if (see !== undefined) for (const item of Items) see(item);
          yield Items.map((item) => `${JSON.stringify({ Item: item }, binaryAsBase64)}\n`).join('');
        }
      };
      const file = createWriteStream(join(folder, `${Segment}.json.gz`), { mode: 0o600 });
      await pipeline(Readable.from(lines()), createGzip(), file);
      return count;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
};

/** Binary values are bytes in the SDK and base64 in the format. */
const binaryAsBase64 = (_: string, value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;

type Destination = {
  readonly client: DynamoDBClient;
  readonly table: string;
  /** The item that is written in place of one; absent: itself. */
  readonly repaired?: (item: Item) => Promise<Item>;
};

/** The number of items, of all files of the folder. */
export const loadTable = async (to: Destination, folder: string): Promise<number> => {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json.gz'));
  const counts = await Promise.all(files.map((name) => loadFile(to, join(folder, name))));
  return counts.reduce((sum, count) => sum + count, 0);
};

const loadFile = async ({ client, table, repaired }: Destination, path: string): Promise<number> => {
  let count = 0;
  let batch: WriteRequest[] = [];
  for await (const line of linesOf(createReadStream(path).pipe(createGunzip()))) {
    const { Item } = JSON.parse(line) as { readonly Item: Item };
    const item = withBytes(Item);
    batch.push({ PutRequest: { Item: repaired === undefined ? item : await repaired(item) } });
    count += 1;
    if (batch.length < batchItemsMax) continue;
    await writeBatch(client, table, batch);
    batch = [];
  }
  await writeBatch(client, table, batch);
  return count;
};

const withBytes = (item: Item): Item =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, valueWithBytes(value)]));

const valueWithBytes = (value: AttributeValue): AttributeValue => {
  if (value.B !== undefined) return { B: Buffer.from(String(value.B), 'base64') };
  if (value.BS !== undefined) return { BS: value.BS.map((one) => Buffer.from(String(one), 'base64')) };
  if (value.L !== undefined) return { L: value.L.map(valueWithBytes) };
  return value.M === undefined ? value : { M: withBytes(value.M) };
};

/** Sends again, after a pause that grows, the requests that DynamoDB has left unprocessed. */
const writeBatch = async (
  client: DynamoDBClient,
  table: string,
  requests: readonly WriteRequest[],
): Promise<void> => {
  let rest = requests;
  for (let attempt = 0; rest.length > 0; attempt += 1) {
    if (attempt === batchTriesMax)
      throw new Failure(`table ${table} takes no more writes`, ['Run it again: it writes the same items.']);
    if (attempt > 0) await sleep(Math.min(pauseMsMax, pauseMsMin * 2 ** attempt) * Math.random());
    const { UnprocessedItems = {} } = await client.send(
      new BatchWriteItemCommand({ RequestItems: { [table]: [...rest] } }),
    );
    rest = UnprocessedItems[table] ?? [];
  }
};
