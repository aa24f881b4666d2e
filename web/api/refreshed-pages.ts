/**
 * Pages of a list that is looked at again and again: the first page each time, the others in turns, so that a refresh costs as much for
 * a long list as for a short one. A page that begins elsewhere now, since something came or went before it, is read anew at once.
 * An item that is as it was stays the same object, so that what shows it is not drawn again.
 */

export type ListedPage<Item> = {
  /** Where it begins: behind this; undefined for the first. */
  readonly after: string | undefined;
  readonly items: readonly Item[];
  readonly next?: string | undefined;
};

/** `some`: the first and one other. `more`: only the page behind the last. */
export type Wanted = 'some' | 'all' | 'more';

type FetchPage<Item> = (after: string | undefined) => Promise<Omit<ListedPage<Item>, 'after'>>;

export type Refresh<Item> = {
  readonly wanted: Wanted;
  /** Counts refreshes: says whose turn it is. */
  readonly turn: number;
  readonly fetchPage: FetchPage<Item>;
};

export const refreshPages = async <Item>(
  known: readonly ListedPage<Item>[],
  { wanted, turn, fetchPage }: Refresh<Item>,
): Promise<readonly ListedPage<Item>[]> => {
  const read = async (after: string | undefined): Promise<ListedPage<Item>> => ({
    ...(await fetchPage(after)),
    after,
  });
  const last = known.at(-1);
  if (last === undefined) return [await read(undefined)];
  if (wanted === 'more') return last.next === undefined ? known : [...known, await read(last.next)];
  const other = known.length === 1 ? 0 : 1 + (turn % (known.length - 1));
  const pages: ListedPage<Item>[] = [];
  let after: string | undefined;
  for (const [index, page] of known.entries()) {
    const isDue = wanted === 'all' || index === 0 || index === other || page.after !== after;
    const fresh = isDue ? withKnownItems(await read(after), page.items) : page;
    pages.push(fresh);
    after = fresh.next;
    // Enough was deleted that those behind are none.
    if (after === undefined) break;
  }
  return pages;
};

const withKnownItems = <Item>(page: ListedPage<Item>, known: readonly Item[]): ListedPage<Item> => {
  const byText = new Map(known.map((item) => [JSON.stringify(item), item]));
  return { ...page, items: page.items.map((item) => byText.get(JSON.stringify(item)) ?? item) };
};
