/** Followers of terminals, against a real DynamoDB engine. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTerminalStore } from '#shared/adapters/aws/dynamo/terminal-store.ts';
import type { ConnectionId } from '#shared/domain/ids.ts';
import { openTableFixture, sentTwice, type TableFixture } from './table-fixture.ts';

let fixture: TableFixture;
beforeAll(async () => {
  fixture = await openTableFixture();
});
afterAll(() => fixture.close());

const store = () => makeTerminalStore(fixture.table);
const newKey = () => ({ connection: crypto.randomUUID() as ConnectionId, process: 'p' });
const follower = (run: string, until = 5000) => ({ run, offset: 0, until });

test('of many claims one is granted, and the others learn until when it holds', async () => {
  const key = newKey();
  const runs = ['a', 'b', 'c', 'd'];
  const claims = await Promise.all(runs.map((run) => store().claim(key, follower(run), 1000)));
  expect(claims.filter(({ isClaimed }) => isClaimed)).toHaveLength(1);
  expect(claims.map(({ until }) => until)).toEqual([5000, 5000, 5000, 5000]);
  const other = { ...key, process: 'another' };
  expect(await store().claim(other, follower('e'), 1000)).toEqual({ isClaimed: true, until: 5000 });
});

test('a claim whose first answer was lost is granted to its repeat, and to no other', async () => {
  const key = newKey();
  const unheard = makeTerminalStore(sentTwice(fixture.table));
  expect(await unheard.claim(key, follower('r'), 1000)).toEqual({ isClaimed: true, until: 5000 });
  expect(await unheard.claim(key, follower('s'), 1000)).toEqual({ isClaimed: false, until: 5000 });
});

test('a lease that is over is taken, and its former holder stops', async () => {
  const key = newKey();
  await store().claim(key, follower('old'), 1000);
  expect(await store().claim(key, follower('new', 9000), 5000)).toEqual({ isClaimed: false, until: 5000 });
  expect(await store().claim(key, follower('new', 9000), 5001)).toEqual({ isClaimed: true, until: 9000 });
  expect(await store().renew(key, { ...follower('old'), execution: 'e', until: 20_000 })).toBe(false);
  expect(await store().resume(key, 'old', 'e')).toBeUndefined();
  await store().release(key, 'old');
  expect(await store().resume(key, 'new', 'e')).toBe(0);
});

test('a run goes on at the offset that it recorded, until it is released', async () => {
  const key = newKey();
  await store().claim(key, follower('r'), 1000);
  expect(await store().resume(key, 'r', 'e')).toBe(0);
  expect(await store().renew(key, { run: 'r', execution: 'e', offset: 77, until: 8000 })).toBe(true);
  expect(await store().resume(key, 'r', 'f')).toBe(77);
  expect(await store().claim(key, follower('s'), 7999)).toEqual({ isClaimed: false, until: 8000 });
  await store().release(key, 'r', 'f');
  expect(await store().resume(key, 'r', 'g')).toBeUndefined();
  expect(await store().claim(key, follower('s'), 1000)).toMatchObject({ isClaimed: true });
});

test('of two executions of one run the last goes on alone', async () => {
  const key = newKey();
  await store().claim(key, follower('r'), 1000);
  for (const execution of ['first', 'last']) expect(await store().resume(key, 'r', execution)).toBe(0);
  const renewed = { run: 'r', offset: 7, until: 8000 };
  expect(await store().renew(key, { ...renewed, execution: 'first' })).toBe(false);
  await store().release(key, 'r', 'first');
  expect(await store().renew(key, { ...renewed, execution: 'last' })).toBe(true);
  expect(await store().resume(key, 'r', 'retry')).toBe(7);
});

test('the followers of one connection are counted, but for those whose lease is over', async () => {
  const key = newKey();
  const claim = (process: string, until: number) =>
    store().claim({ ...key, process }, follower(process, until), 1000);
  await Promise.all([claim('a', 5000), claim('b', 6000), claim('c', 7000)]);
  await store().claim(newKey(), follower('r'), 1000);
  expect(await store().count(key.connection, 5000)).toBe(3);
  expect(await store().count(key.connection, 5001)).toBe(2);
  await store().release({ ...key, process: 'c' }, 'c');
  expect(await store().count(key.connection, 5001)).toBe(1);
});
