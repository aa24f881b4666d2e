import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { gathered, itemsMax } from './gathered-stream.ts';

const never = { signal: new AbortController().signal };

async function* numbers(count: number): AsyncGenerator<number> {
  for (let one = 0; one < count; one += 1) yield one;
}

test('what comes at once is one list', async () => {
  expect(await Array.fromAsync(gathered(numbers(300), never))).toEqual([await Array.fromAsync(numbers(300))]);
});

test('while it is urgent each item is given before the next is read', async () => {
  let given = 0;
  const isUrgent = () => given < 2;
  const lists = gathered(numbers(100), { ...never, isUrgent });
  for (const expected of [[0], [1]]) {
    expect((await lists.next()).value).toEqual(expected);
    given += 1;
  }
  expect((await Array.fromAsync(lists)).length).toBeLessThan(10);
});

test('an item waits for no further one', async () => {
  const more = Promise.withResolvers<void>();
  async function* slow(): AsyncGenerator<number> {
    yield 1;
    await more.promise;
    yield 2;
  }
  const lists = gathered(slow(), never);
  expect((await lists.next()).value).toEqual([1]);
  more.resolve();
  expect((await lists.next()).value).toEqual([2]);
  expect((await lists.next()).done).toBe(true);
});

test('what came before a failure is given before it', async () => {
  async function* failing(): AsyncGenerator<number> {
    yield* numbers(3);
    throw new Error('broken off');
  }
  const lists = gathered(failing(), never);
  expect((await lists.next()).value).toEqual([0, 1, 2]);
  await expect(lists.next()).rejects.toThrow('broken off');
});

test('an abort is heard while the stream is silent', async () => {
  const controller = new AbortController();
  async function* silent(): AsyncGenerator<number> {
    yield 1;
    await new Promise(() => undefined);
  }
  const lists = gathered(silent(), { signal: controller.signal });
  expect((await lists.next()).value).toEqual([1]);
  const next = lists.next();
  controller.abort(new Error('cancelled'));
  await expect(next).rejects.toThrow('cancelled');
});

test('a stream is not read further ahead than its bound, and all of it comes in order', async () => {
  let read = 0;
  async function* counted(): AsyncGenerator<number> {
    for (const one of Array(4 * itemsMax).keys()) {
      read = one;
      yield one;
    }
  }
  const lists = gathered(counted(), never);
  const { value: first = [] } = await lists.next();
  for (let turn = 0; turn < 5; turn += 1) await turnOfLoop();
  expect(read).toBeLessThanOrEqual(2 * itemsMax);
  expect(first).toHaveLength(itemsMax);
  const rest = (await Array.fromAsync(lists)).flat();
  expect([...first, ...rest]).toEqual([...Array(4 * itemsMax).keys()]);
});

test('a stream that its reader leaves is closed with its next item', async () => {
  const closed = Promise.withResolvers<boolean>();
  async function* endless(): AsyncGenerator<number> {
    try {
      for (;;) {
        yield 1;
        await turnOfLoop();
      }
    } finally {
      closed.resolve(true);
    }
  }
  for await (const _ of gathered(endless(), never)) break;
  expect(await closed.promise).toBe(true);
});
