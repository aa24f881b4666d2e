/**
 * The run of items that a condition on the keys matches: they follow each other in the order of the sort key, so that both
 * ends are found by halving. A condition of another form is refused.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.KeyConditionExpressions.html
 */
import type { Item } from './expressions.ts';

type Rank = string | number;
type Values = Readonly<Record<string, unknown>>;

/** Both hold from some place on: the items that are not behind the start, and those that are behind the end. */
type Range = {
  readonly isIn: (rank: Rank) => boolean;
  readonly isBehind: (rank: Rank) => boolean;
};

const all: Range = { isIn: () => true, isBehind: () => false };

const comparing: Readonly<Record<string, (value: Rank) => Range>> = {
  '=': (value) => ({ isIn: (rank) => rank >= value, isBehind: (rank) => rank > value }),
  '<': (value) => ({ isIn: () => true, isBehind: (rank) => rank >= value }),
  '<=': (value) => ({ isIn: () => true, isBehind: (rank) => rank > value }),
  '>': (value) => ({ isIn: (rank) => rank > value, isBehind: () => false }),
  '>=': (value) => ({ isIn: (rank) => rank >= value, isBehind: () => false }),
};

export const beginningWith = (prefix: string): Range => ({
  isIn: (rank) => rank >= prefix,
  isBehind: (rank) => rank > prefix && !String(rank).startsWith(prefix),
});

const form =
  /^\w+ = :pk(?: AND (?:begins_with\(\w+, (:\w+)\)|\w+ BETWEEN (:\w+) AND (:\w+)|\w+ ([<>=]+) (:\w+)))?$/;

/** The range that a key condition names by its sort key. */
export const rangeOf = (condition: string, values: Values): Range => {
  const found = form.exec(condition);
  if (found === null) throw new Error(`a query has the keys ${condition}`);
  const [, prefix, from, to, word = '', value] = found;
  const valueNamed = (name: string): Rank => {
    if (!Object.hasOwn(values, name)) throw new Error(`the value ${name} is not declared`);
    return values[name] as Rank;
  };
  if (prefix !== undefined) return beginningWith(String(valueNamed(prefix)));
  if (from !== undefined && to !== undefined) {
    const [first, last] = [valueNamed(from), valueNamed(to)];
    return { isIn: (rank) => rank >= first, isBehind: (rank) => rank > last };
  }
  return value === undefined ? all : (comparing[word]?.(valueNamed(value)) ?? all);
};

/** The first place in ordered items from which on something holds. */
export const placeWhere = (items: readonly Item[], holds: (item: Item) => boolean): number => {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const item = items[middle];
    if (item !== undefined && holds(item)) to = middle;
    else from = middle + 1;
  }
  return from;
};

/** Those of items in the order of an attribute that lie in a range. */
export const within = (items: readonly Item[], attribute: string, { isIn, isBehind }: Range): Item[] => {
  const from = placeWhere(items, (item) => isIn(item[attribute] as Rank));
  const to = placeWhere(items, (item) => isBehind(item[attribute] as Rank));
  return items.slice(from, to);
};
