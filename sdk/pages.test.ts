import { expect, test } from 'vitest';
import { readPages } from './pages.ts';

const itemsOf = ({ items }: { readonly items: readonly number[] }) => items;

test('a list is read to its end, however many pages it has', async () => {
  const last = 150;
  const read = async (after = '0') => {
    const page = Number(after);
    return { items: [page], ...(page === last ? {} : { next: String(page + 1) }) };
  };
  expect(await readPages(read, itemsOf)).toHaveLength(last + 1);
});

test('a page that names itself as the next one is a fault, and no end of the list', async () => {
  let asked = 0;
  const read = async () => {
    asked += 1;
    return { items: [asked], next: 'x' };
  };
  await expect(readPages(read, itemsOf)).rejects.toMatchObject({
    code: 'internal_error',
    message: expect.stringContaining('names itself as the next one (x)'),
    suggestions: [expect.stringContaining('Try again.')],
  });
  expect(asked).toBe(2);
});
