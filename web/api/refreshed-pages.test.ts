/** Pages that are read again: at constant cost, and without a gap when the list moves. */
import { expect, test } from 'vitest';
import { type ListedPage, refreshPages, type Wanted } from './refreshed-pages.ts';

/** A list of numbers, the largest first, two on a page; counts what was asked. */
const open = (count: number) => {
  let list = Array.from({ length: count }, (_, index) => count - index);
  const asked: (string | undefined)[] = [];
  const fetchPage = async (after: string | undefined) => {
    asked.push(after);
    const rest = after === undefined ? list : list.filter((item) => item < Number(after));
    const items = rest.slice(0, 2);
    return { items, ...(rest.length > 2 ? { next: String(items.at(-1)) } : {}) };
  };
  let pages: readonly ListedPage<number>[] = [];
  let turn = 0;
  return {
    refresh: async (wanted: Wanted) => {
      asked.length = 0;
      pages = await refreshPages(pages, { wanted, turn, fetchPage });
      turn += 1;
      return { items: pages.flatMap(({ items }) => items), asked: [...asked] };
    },
    change: (next: (list: readonly number[]) => number[]) => {
      list = next(list);
    },
  };
};

const opened = async (count: number) => {
  const list = open(count);
  for (let page = 0; page < count / 2; page += 1) await list.refresh('more');
  return list;
};

test('a further page costs one request, and a list that ends costs none', async () => {
  const list = open(3);
  expect(await list.refresh('some')).toEqual({ items: [3, 2], asked: [undefined] });
  expect(await list.refresh('more')).toEqual({ items: [3, 2, 1], asked: ['2'] });
  expect(await list.refresh('more')).toEqual({ items: [3, 2, 1], asked: [] });
});

test('a refresh reads the first page and one other, each in its turn', async () => {
  const list = await opened(8);
  const others = new Set<string | undefined>();
  for (let time = 0; time < 3; time += 1) {
    const { items, asked } = await list.refresh('some');
    expect(items).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
    expect(asked).toHaveLength(2);
    others.add(asked[1]);
  }
  expect(others).toEqual(new Set(['7', '5', '3']));
});

test('nothing is missing or twice when something came before the pages', async () => {
  const list = await opened(6);
  list.change((all) => [7, ...all]);
  expect((await list.refresh('some')).items).toEqual([7, 6, 5, 4, 3, 2]);
});

test('a page that is deleted as a whole is gone, and so are those behind the end', async () => {
  const list = await opened(6);
  list.change((all) => all.filter((item) => item > 4));
  expect((await list.refresh('some')).items).toEqual([6, 5]);
});

test('all pages are read when all are wanted', async () => {
  const list = await opened(6);
  list.change((all) => all.filter((item) => item !== 2));
  expect(await list.refresh('all')).toEqual({ items: [6, 5, 4, 3, 1], asked: [undefined, '5', '3'] });
});

test('an item that is as it was stays the same object', async () => {
  const pageOf = (...items: { readonly id: number; readonly state: string }[]) => [
    { after: undefined, items },
  ];
  const known = pageOf({ id: 2, state: 'ready' }, { id: 1, state: 'ready' });
  const [page] = await refreshPages(known, {
    ...{ wanted: 'some', turn: 0 },
    fetchPage: async () => ({
      items: [
        { id: 2, state: 'ended' },
        { id: 1, state: 'ready' },
      ],
    }),
  });
  expect(page?.items).toEqual([
    { id: 2, state: 'ended' },
    { id: 1, state: 'ready' },
  ]);
  expect(page?.items[1]).toBe(known[0]?.items[1]);
});
