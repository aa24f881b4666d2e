/** DynamoDB on one machine: the real binary, the real SDK client. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  type CreateTableCommandInput,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type PutItemCommandInput,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { startTiedChild } from '../process/tied-child.ts';
import { startDynoxide } from './dynoxide.ts';
import { type DynamoDbOptions, start } from './start.ts';
import { sweepExpired } from './table.ts';

/** A busy machine may take as long as this; what is waited for comes at once elsewhere. */
const patience = { timeout: 50_000 };

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of opened.splice(0).reverse()) await stop();
});

const table: CreateTableCommandInput = {
  TableName: 'sallyport',
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: ['pk', 'sk', 'duePk'].map((AttributeName) => ({
    AttributeName,
    AttributeType: 'S' as const,
  })),
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'due',
      KeySchema: [{ AttributeName: 'duePk', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'ALL' },
    },
  ],
};

const makeFolder = () => mkdtemp(join(tmpdir(), 'sallyport-dynamodb-'));

const open = async (folder: string, definition = table, more: Partial<DynamoDbOptions> = {}) => {
  const server = await start({ folder, table: definition, expiryAttribute: 'ttl', ...more });
  const client = new DynamoDBClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: server.credentials,
  });
  const stop = async () => {
    client.destroy();
    await server.stop();
  };
  opened.push(stop);
  return { client, url: server.url, credentials: server.credentials, stop };
};

const seconds = (fromNow: number): string => String(Math.floor(Date.now() / 1000) + fromNow);
const item = (pk: string, more = {}) => ({ pk: { S: pk }, sk: { S: 'META' }, ...more });
const get = async (client: DynamoDBClient, pk: string) =>
  (await client.send(new GetItemCommand({ TableName: 'sallyport', Key: item(pk) }))).Item;

test('the table has its index, and its items survive a restart', async () => {
  const folder = await makeFolder();
  const first = await open(folder);
  await first.client.send(
    new PutItemCommand({ TableName: 'sallyport', Item: item('a', { duePk: { S: 'D' } }) }),
  );
  await first.stop();
  const second = await open(folder);
  const found = await second.client.send(
    new QueryCommand({
      TableName: 'sallyport',
      IndexName: 'due',
      KeyConditionExpression: 'duePk = :due',
      ExpressionAttributeValues: { ':due': { S: 'D' } },
    }),
  );
  expect(found.Items).toEqual([item('a', { duePk: { S: 'D' } })]);
});

test('a table with another schema is refused', async () => {
  const folder = await makeFolder();
  await (await open(folder)).stop();
  const { GlobalSecondaryIndexes: _, ...other } = table;
  await expect(open(folder, other)).rejects.toThrow(
    'table sallyport has other keys or indexes: pk+sk due(duePk), expected pk+sk',
  );
});

test('A24: expired items are deleted, others stay', async () => {
  const { client } = await open(await makeFolder());
  const items = [
    item('past', { ttl: { N: seconds(-5) } }),
    item('future', { ttl: { N: seconds(60) } }),
    item('never'),
  ];
  for (const Item of items) await client.send(new PutItemCommand({ TableName: 'sallyport', Item }));
  await sweepExpired(client, { table, attribute: 'ttl' });
  expect(await Promise.all(['past', 'future', 'never'].map((pk) => get(client, pk)))).toEqual([
    undefined,
    items[1],
    items[2],
  ]);
});

test('A24: a table on this machine is swept soon and again and again, and another DynamoDB is not', async () => {
  const sweepMs = { first: 5, every: 5 };
  const asked: string[] = [];
  const another = createServer((request, response) => {
    asked.push(String(request.headers['x-amz-target']).replace(/.*[.]/, ''));
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ Table: { ...table, TableStatus: 'ACTIVE' } }));
  });
  await once(another.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void another.close());
  const { port } = another.address() as AddressInfo;
  await open('/nowhere', table, { other: { url: `http://127.0.0.1:${port}` }, sweepMs });
  const { client } = await open(await makeFolder(), table, { sweepMs });
  for (const pk of ['first', 'second']) {
    await client.send(
      new PutItemCommand({ TableName: 'sallyport', Item: item(pk, { ttl: { N: seconds(-5) } }) }),
    );
    await vi.waitFor(async () => expect(await get(client, pk)).toBeUndefined(), patience);
  }
  expect(asked).toEqual(['DescribeTable']);
});

test('names and values of an expression that are empty are refused, and text that looks like them is not', async () => {
  const { client } = await open(await makeFolder());
  const put = (more: Partial<PutItemCommandInput>, text = '') =>
    client.send(
      new PutItemCommand({ TableName: 'sallyport', Item: item('x', { text: { S: text } }), ...more }),
    );
  const empty = { ConditionExpression: 'attribute_not_exists(pk)', ExpressionAttributeNames: {} };
  await expect(put(empty)).rejects.toThrow('ExpressionAttributeNames must not be empty');
  await put({}, '"ExpressionAttributeNames":{}');
  expect(await get(client, 'x')).toMatchObject({ text: { S: '"ExpressionAttributeNames":{}' } });
});

test('another DynamoDB can be named, and is not stopped with the cloud', async () => {
  const mine = await open(await makeFolder());
  const borrowed = await open('/nowhere', table, { other: mine });
  await borrowed.client.send(new PutItemCommand({ TableName: 'sallyport', Item: item('x') }));
  await borrowed.stop();
  expect(await get(mine.client, 'x')).toEqual(item('x'));
});

test('another DynamoDB gets its own credentials, and not the keys of this start', async () => {
  const mine = await open(await makeFolder());
  const wrong = open('/nowhere', table, { other: { url: mine.url } });
  await expect(wrong).rejects.toMatchObject({ name: 'UnrecognizedClientException' });
});

/** The processes of the server on a folder: dynoxide itself and what keeps it apart. */
const processesOf = (folder: string): readonly number[] => {
  const { stdout } = spawnSync('pgrep', ['-f', join(folder, 'dynamodb.sqlite')], { encoding: 'utf8' });
  return stdout.split('\n').filter(Boolean).map(Number);
};

/** A process that has ended but was not yet collected is not alive. */
const isAlive = (pid: number): boolean => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
};

test('a killed parent leaves no dynoxide behind', async () => {
  const folder = await makeFolder();
  const program = `
    import { startDynoxide } from ${JSON.stringify(join(import.meta.dirname, 'dynoxide.ts'))};
    await startDynoxide(${JSON.stringify(folder)});
    process.stdout.write('started\\n');`;
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(createInterface({ input: parent.stdout }), 'line');
  expect(processesOf(folder).length).toBeGreaterThan(1);
  parent.kill('SIGKILL');
  await vi.waitFor(() => expect(processesOf(folder)).toEqual([]), patience);
});

test('a server that the kernel killed is followed by another, with all that was written', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => said.mockRestore());
  const folder = await makeFolder();
  const { client } = await open(folder);
  await client.send(new PutItemCommand({ TableName: 'sallyport', Item: item('kept') }));
  for (const pid of processesOf(folder)) process.kill(pid, 'SIGKILL');
  await vi.waitFor(async () => expect(await get(client, 'kept')).toEqual(item('kept')), patience);
  expect(said).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('dynoxide has ended'));
});

test('where the kernel cannot tie a child to its parent, a pipe does', async () => {
  const folder = await makeFolder();
  const file = join(folder, 'pid');
  const child = startTiedChild('sh', ['-c', `echo $$ > ${file}; exec sleep 60`], { tie: 'pipe' });
  const pid = await vi.waitFor(async () => {
    const text = await readFile(file, 'utf8');
    expect(text).toMatch(/^\d+\n$/);
    return Number(text);
  }, patience);
  await child.stop();
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), patience);
});

test('an unusable data folder stops the start with the reason', async () => {
  const folder = await makeFolder();
  await mkdir(join(folder, 'dynamodb.sqlite'));
  await expect(startDynoxide(folder)).rejects.toThrow(/^dynoxide did not start: .*database/s);
});
