/** Running calls against a real DynamoDB engine. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeRunningCallStore } from '#shared/adapters/aws/dynamo/running-call-store.ts';
import type { RunningCallStore } from '#shared/ports/calls.ts';
import { openTableFixture, type TableFixture } from './table-fixture.ts';

let fixture: TableFixture;
let calls: RunningCallStore;
beforeAll(async () => {
  fixture = await openTableFixture();
  calls = makeRunningCallStore(fixture.table);
});
afterAll(() => fixture.close());

const newCall = (caller: string = randomUUID()) => ({
  caller,
  id: randomUUID(),
  startedAt: 1000,
  until: 4_102_444_800_000,
});

test('calls of one caller are found until they are deleted or expired', async () => {
  const [one, other] = [newCall(), newCall()];
  const second = newCall(one.caller);
  for (const call of [one, other, second]) await calls.put(call);
  const byId = (id: string) => [one, second].find((call) => call.id === id);
  const found = await calls.find(one.caller, 2000);
  expect(found).toEqual(found.map(({ id }) => byId(id)));
  expect(found.length).toBe(2);
  expect(await calls.find(one.caller, one.until)).toEqual([]);
  await calls.remove(second);
  expect(await calls.find(one.caller, 2000)).toEqual([one]);
});

test('a cancelled call is marked, and no other', async () => {
  const one = newCall();
  const other = newCall(one.caller);
  for (const call of [one, other]) await calls.put(call);
  expect(await calls.isCancelled(one)).toBe(false);
  await calls.cancel(one);
  expect([await calls.isCancelled(one), await calls.isCancelled(other)]).toEqual([true, false]);
});

test('an ended call is neither cancelled nor created again', async () => {
  const call = newCall();
  await calls.cancel(call);
  expect(await calls.isCancelled(call)).toBe(false);
  expect(await calls.find(call.caller, 2000)).toEqual([]);
});
