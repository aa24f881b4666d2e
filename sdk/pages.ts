/** All pages of a listing. */
export const readPages = async <Page extends { readonly next?: string | undefined }, Item>(
  readPage: (after: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let after: string | undefined;
  for (;;) {
    const answer = await readPage(after);
    items.push(...itemsOf(answer));
    // One that names itself is the last one.
    if (answer.next === undefined || answer.next === after) return items;
    after = answer.next;
  }
};
