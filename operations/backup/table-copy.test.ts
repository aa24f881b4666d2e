import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { BatchWriteItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, onTestFinished, test } from 'vitest';
import { loadTable } from './table-copy.ts';

test('items are loaded whole, whatever line ends of Unicode their texts hold', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-table-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const items = ['a\u2028b', 'c\u2029d\u0085e', 'f\ng'].map((text) => ({
    pk: { S: 'p' },
    text: { S: text },
  }));
  const lines = items.map((Item) => `${JSON.stringify({ Item })}\n`).join('');
  await writeFile(join(folder, '0.json.gz'), gzipSync(lines));
  const written: unknown[] = [];
  const client = {
    send: async ({ input: { RequestItems } }: BatchWriteItemCommand) => {
      for (const { PutRequest } of RequestItems?.['t'] ?? []) written.push(PutRequest?.Item);
      return {};
    },
  } as unknown as DynamoDBClient;
  expect(await loadTable({ client, table: 't' }, folder)).toBe(3);
  expect(written).toEqual(items);
});
