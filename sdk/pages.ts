/** All pages of a listing. */
import { SallyportError } from './errors.ts';

export const readPages = async <Page extends { readonly next?: string | undefined }, Item>(
  readPage: (after: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let after: string | undefined;
  for (;;) {
    const answer = await readPage(after);
    items.push(...itemsOf(answer));
    if (answer.next === undefined) return items;
    // It would be asked for again without end, and what was read may not be all.
    if (answer.next === after) throw repeatedPage(after);
    after = answer.next;
  }
};

const repeatedPage = (after: string): SallyportError =>
  new SallyportError(0, {
    code: 'internal_error',
    message: `a page names itself as the next one (${after})`,
    suggestions: ['Try again. If it happens again, send this message to the operator.'],
  });
