/** All pages of a listing, up to a bound. */
const pagesMax = 20;

export const readPages = async <Page extends { readonly next?: string | undefined }, Item>(
  readPage: (after: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let after: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const answer = await readPage(after);
    items.push(...itemsOf(answer));
    after = answer.next;
    if (after === undefined) break;
  }
  return items;
};
