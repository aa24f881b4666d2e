/** Stored lines of a sandbox, against a real DynamoDB engine: in order, and bounded however many come at once. */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { makeSandboxLog } from '#shared/adapters/aws/dynamo/sandbox-log.ts';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import type { LogLine } from '#shared/ports/sandbox.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const log = () => makeSandboxLog(fixture.table);
const newId = () => crypto.randomUUID() as WorkspaceId;
const line = (at: number, text: string): LogLine => ({ at, stream: 'stderr', text });

/** The workspace's items in the table, over all pages. */
const items = async (id: WorkspaceId) => {
  const found: Record<string, unknown>[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await fixture.table.client.send(
      new QueryCommand({
        TableName: fixture.table.name,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': keys.workspace(id).pk },
        ...(start === undefined ? {} : { ExclusiveStartKey: start }),
      }),
    );
    found.push(...Items);
    start = LastEvaluatedKey;
  } while (start !== undefined);
  return found;
};

test('lines are returned oldest first', async () => {
  const id = newId();
  const started: LogLine = { at: 1000, stream: 'lifecycle', text: 'sandbox 1 ready' };
  await log().append(id, [started]);
  await log().append(id, [line(2000, 'a'), line(2001, 'b')]);
  await log().append(id, [line(3000, '')]);
  expect(await log().read(id, 100)).toEqual([started, line(2000, 'a'), line(2001, 'b'), line(3000, '')]);
});

test('lines of one millisecond keep their order', async () => {
  const id = newId();
  const lines = ['a', 'b', 'c', 'd'].map((text) => line(2000, text));
  await log().append(id, lines);
  expect(await log().read(id, 100)).toEqual(lines);
  expect(await log().read(id, 2)).toEqual(lines.slice(2));
});

test('the newest lines are returned above the limit', async () => {
  const id = newId();
  for (let at = 0; at < 30; at += 1)
    await log().append(id, [line(at * 2, `${at}`), line(at * 2 + 1, `${at}+`)]);
  expect(await log().read(id, 3)).toEqual([line(57, '28+'), line(58, '29'), line(59, '29+')]);
  expect(await log().read(id, 1000)).toHaveLength(60);
});

test('many lines of one moment are stored in portions, in order', async () => {
  const id = newId();
  const lines = Array.from({ length: 40 }, (_, index) => line(5000, `${index} ${'x'.repeat(40_000)}`));
  await log().append(id, lines);
  expect((await items(id)).length).toBe(8);
  expect((await log().read(id, 1000)).map(({ text }) => Number.parseInt(text, 10))).toEqual(
    Array.from({ length: 40 }, (_, index) => index),
  );
  expect((await log().read(id, 3)).map(({ text }) => Number.parseInt(text, 10))).toEqual([37, 38, 39]);
});

test('characters of several bytes are counted in bytes', async () => {
  const id = newId();
  await log().append(id, [
    line(1, '€'.repeat(60_000)),
    line(2, '€'.repeat(60_000)),
    line(3, '€'.repeat(60_000)),
  ]);
  expect(await items(id)).toHaveLength(3);
  expect((await log().read(id, 10)).map(({ at }) => at)).toEqual([1, 2, 3]);
});

test('without output no item is stored', async () => {
  const id = newId();
  await log().append(id, []);
  expect(await items(id)).toEqual([]);
  expect(await log().read(id, 10)).toEqual([]);
});

test('two concurrent writers are both stored, and no other workspace reads them', async () => {
  const id = newId();
  await Promise.all(['a', 'b', 'c'].map((text) => log().append(id, [line(7000, text)])));
  expect((await log().read(id, 10)).map(({ text }) => text).sort()).toEqual(['a', 'b', 'c']);
  expect(await log().read(newId(), 10)).toEqual([]);
});

test('a portion expires after a day', async () => {
  const id = newId();
  await log().append(id, [line(1_000_500, 'a')]);
  const [kept] = await items(id);
  expect(kept?.['ttl']).toBe(87_401);
});

test('a line that two saves stored is returned once, and does not count twice', async () => {
  const id = newId();
  const lines = ['a', 'b', 'c'].map((text, index) => ({ ...line(2000 + index, text), id: `1:${index}` }));
  await log().append(id, lines.slice(0, 2));
  await log().append(id, lines);
  const next = { ...line(3000, 'a'), id: '2:0' };
  await log().append(id, [next]);
  expect(await log().read(id, 100)).toEqual([...lines, next]);
  expect(await log().read(id, 4)).toEqual([...lines, next]);
});
