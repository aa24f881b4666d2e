/** A part that is loaded at its first use: once, and again only after a failure. */
import { expect, test } from 'vitest';
import { loadOnce } from './load-once.ts';

test('all uses share one load, which begins with the first', async () => {
  let loads = 0;
  const open = loadOnce(async () => {
    loads += 1;
    return { number: loads };
  });
  expect(loads).toBe(0);
  expect(await Promise.all([open(), open()])).toEqual([{ number: 1 }, { number: 1 }]);
  expect(await open()).toEqual({ number: 1 });
});

test('a failed load is tried again', async () => {
  let loads = 0;
  const open = loadOnce(async () => {
    loads += 1;
    if (loads === 1) throw new Error('not yet');
    return loads;
  });
  await expect(open()).rejects.toThrow('not yet');
  expect(await open()).toBe(2);
});
