/** Order of a table's rows by one of its columns, as its head and the address name it: `cost`, or `-cost` from the largest. Pure. */
export type SortOrder = { readonly key: string; readonly isDown: boolean };

export type SortValue = string | number | boolean | null | undefined;

export const orderFrom = (text: unknown): SortOrder | undefined => {
  if (typeof text !== 'string' || text === '' || text === '-') return undefined;
  return text.startsWith('-') ? { key: text.slice(1), isDown: true } : { key: text, isDown: false };
};

export const orderText = (order: SortOrder | undefined): string | undefined =>
  order && `${order.isDown ? '-' : ''}${order.key}`;

/** A click on a column's head: upwards, then downwards, then the table's own order. */
export const nextOrder = (order: SortOrder | undefined, key: string): SortOrder | undefined => {
  if (order?.key !== key) return { key, isDown: false };
  return order.isDown ? undefined : { key, isDown: true };
};

/** Rows without a value are last in both directions; equal ones keep their order. */
export const sortedBy = <Row>(
  rows: readonly Row[],
  value: (row: Row) => SortValue,
  { isDown }: Pick<SortOrder, 'isDown'>,
): readonly Row[] => rows.toSorted((one, other) => compared(value(one), value(other), isDown));

const collator = new Intl.Collator('en', { numeric: true });

const compared = (one: SortValue, other: SortValue, isDown: boolean): number => {
  const [a, b] = [one ?? null, other ?? null];
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const up = typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));
  return isDown ? -up : up;
};
