/** Pages of a session's log: whole, also while a transaction becomes visible item by item, and beyond what the ring let go. */
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { makeEventLog } from '#shared/adapters/aws/dynamo/event-log.ts';
import { keys, type Table } from '#shared/adapters/aws/dynamo/table.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { eventsPerSessionMax } from '#shared/domain/limits.ts';
import { newSession, note, onTable } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

/** The log of a session with so many events, of which queries do not see some for so many times. */
const hiding = async (events: number, hidden: readonly number[], times: number) => {
  const { create, eventLog } = onTable(fixture.table);
  const { id } = await create(newSession());
  for (let at = 0; at < events; at += 50)
    await eventLog.append(
      id,
      Array.from({ length: Math.min(50, events - at) }, () => note('x')),
      at,
    );
  let [queries, left] = [0, times];
  const send = async (command: Parameters<Table['client']['send']>[0]): Promise<unknown> => {
    const answer = (await fixture.table.client.send(command)) as {
      readonly Items?: readonly { seq: number }[];
    };
    if (answer.Items === undefined) return answer;
    queries += 1;
    if (left === 0) return answer;
    left -= 1;
    return { ...answer, Items: answer.Items.filter(({ seq }) => !hidden.includes(seq)) };
  };
  const log = makeEventLog({ ...fixture.table, client: { send } as unknown as Table['client'] });
  const read = async (since: number, eventsMax = 5) =>
    (await log.read(id, { since, eventsMax })).events.map(({ seq }) => seq);
  return { id, read, queries: () => queries };
};

test('a page without a hole is one query', async () => {
  const { read, queries } = await hiding(6, [], 0);
  expect(await read(-1)).toEqual([0, 1, 2, 3, 4]);
  expect(await read(4)).toEqual([5]);
  expect(await read(5)).toEqual([]);
  expect(queries()).toBe(3);
});

test.each([
  ['its first event', 2],
  ['one in its middle', 4],
])('a page that lacks %s is read until it has it', async (_, lacks) => {
  const { read } = await hiding(8, [lacks], 3);
  expect(await read(1)).toEqual([2, 3, 4, 5, 6]);
});

/** As the table deletes what the ring let go. */
const forget = async (id: SessionId, count: number): Promise<void> => {
  for (let seq = 0; seq < count; seq += 1)
    await fixture.table.client.send(
      new DeleteCommand({ TableName: fixture.table.name, Key: keys.event(id, seq) }),
    );
};

test('events that the ring let go are no hole, and one behind them is', async () => {
  const { id, read } = await hiding(eventsPerSessionMax + 3, [5], 2);
  await forget(id, 3);
  expect(await read(-1)).toEqual([3, 4, 5, 6, 7]);
});

/** A log of so many events of about `size` bytes each, and the queries that a read of it makes. */
const large = async (events: number, size: number) => {
  const { create, eventLog } = onTable(fixture.table);
  const { id } = await create(newSession());
  for (let at = 0; at < events; at += 1) await eventLog.append(id, [note('x'.repeat(size))], at);
  let read = 0;
  const send = async (command: Parameters<Table['client']['send']>[0]): Promise<unknown> => {
    const answer = (await fixture.table.client.send(command)) as { readonly Items?: readonly unknown[] };
    read += answer.Items?.length ?? 0;
    return answer;
  };
  const log = makeEventLog({ ...fixture.table, client: { send } as unknown as Table['client'] });
  return { page: (page: Parameters<typeof log.read>[1]) => log.read(id, page), eventsRead: () => read };
};

const kilobyte = 1024;

test('no more of a log is read than a page of bytes holds, and about a page of the table', async () => {
  const { page, eventsRead } = await large(20, 200 * kilobyte);
  const bytesMax = 1000 * kilobyte;
  const first = await page({ since: -1, eventsMax: 1000, bytesMax });
  expect(first.events.map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
  expect(first.hasMore).toBe(true);
  expect(eventsRead()).toBeLessThan(16);
  const last = await page({ since: 16, eventsMax: 1000, bytesMax });
  expect(last.events.map(({ seq }) => seq)).toEqual([17, 18, 19]);
  expect(last.hasMore).toBe(false);
});

test('of events that are larger than a page of bytes there is one at a time', async () => {
  const { page } = await large(2, 100 * kilobyte);
  const sizes = { eventsMax: 10, bytesMax: kilobyte };
  expect(await page({ since: -1, ...sizes })).toMatchObject({ events: [{ seq: 0 }], hasMore: true });
  expect(await page({ since: 0, ...sizes })).toMatchObject({ events: [{ seq: 1 }], hasMore: false });
});

test('a hole that nothing fills ends in an answer', async () => {
  const { read } = await hiding(6, [2], Number.POSITIVE_INFINITY);
  expect(await read(-1)).toEqual([0, 1, 3, 4, 5]);
});
