import { expect, test, vi } from 'vitest';
import { effectScope } from 'vue';
import { clearFailures, useAct, usePages, useRowAct } from './load.ts';

test('a list that is read again has as many pages as before', async () => {
  let all = ['a', 'b', 'c', 'd', 'e'];
  const asked: (string | undefined)[] = [];
  const fetchPage = async (after: string | undefined) => {
    asked.push(after);
    const begin = after === undefined ? 0 : all.indexOf(after) + 1;
    const items = all.slice(begin, begin + 2);
    return { items, next: begin + 2 < all.length ? items.at(-1) : undefined };
  };
  const scope = effectScope();
  const pages = scope.run(() => usePages(fetchPage));
  if (pages === undefined) throw new Error('no scope');
  await vi.waitFor(() => expect(pages.items.value).toEqual(['a', 'b']));
  await pages.more();
  expect([pages.items.value, pages.hasMore.value]).toEqual([['a', 'b', 'c', 'd'], true]);
  asked.length = 0;
  all = ['b', 'c', 'd', 'e', 'f'];
  await pages.reload();
  expect([pages.items.value, asked]).toEqual([
    ['b', 'c', 'd', 'e'],
    [undefined, 'c'],
  ]);
  all = ['c'];
  await pages.reload();
  expect([pages.items.value, pages.hasMore.value]).toEqual([['c'], false]);
  all = ['a', 'b', 'c'];
  await pages.reload();
  expect([pages.items.value, pages.hasMore.value]).toEqual([['a', 'b'], true]);
  scope.stop();
});

test('rows are busy one by one, and a row takes one act at a time', async () => {
  const done: string[] = [];
  const begun = new Map<string, PromiseWithResolvers<void>>();
  const { run, isBusy, error } = useRowAct(async (row, isOn: boolean) => {
    const gate = Promise.withResolvers<void>();
    begun.set(row, gate);
    await gate.promise;
    done.push(`${row} ${isOn}`);
  });
  const first = run('one', false);
  const second = run('two', false);
  expect(await run('one', true)).toBe(false);
  expect([isBusy('one'), isBusy('two'), isBusy('three')]).toEqual([true, true, false]);
  begun.get('two')?.resolve();
  expect(await second).toBe(true);
  expect([isBusy('one'), isBusy('two')]).toEqual([true, false]);
  begun.get('one')?.reject(new Error('too many requests'));
  expect(await first).toBe(false);
  expect([done, isBusy('one'), error.value]).toEqual([['two false'], false, new Error('too many requests')]);
});

test('a failure of an act is over when another of its kind begins', async () => {
  const failing = useAct(() => Promise.reject(new Error('refused')));
  await failing.run();
  expect(failing.error.value).toBeInstanceOf(Error);
  clearFailures([failing]);
  expect(failing.error.value).toBeUndefined();
});
