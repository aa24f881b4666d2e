/**
 * Items of the table in memory: partitions in order, the indexes that follow them after a lag, the items of a transaction
 * that queries do not see yet, and the size of an item as DynamoDB counts it.
 */
import type { Item } from './expressions.ts';
import { placeWhere } from './key-range.ts';

export type Key = { readonly pk: string; readonly sk: string };
export type Change = Key & { readonly before: Item | undefined; readonly after: Item | undefined };

/** Items in the order of their sort keys. A list that was handed out stays as it was. */
export class Partition {
  readonly items = new Map<string, Item>();
  #ordered: Item[] = [];
  #isHandedOut = false;

  set(sk: string, item: Item | undefined): void {
    const isKnown = this.items.has(sk);
    if (item === undefined && !isKnown) return;
    if (this.#isHandedOut) this.#ordered = this.#ordered.slice();
    this.#isHandedOut = false;
    const place = placeWhere(this.#ordered, (other) => String(other['sk']) >= sk);
    this.#ordered.splice(place, isKnown ? 1 : 0, ...(item === undefined ? [] : [item]));
    if (item === undefined) this.items.delete(sk);
    else this.items.set(sk, item);
  }

  inOrder(): readonly Item[] {
    this.#isHandedOut = true;
    return this.#ordered;
  }
}

const indexes = {
  due: { partition: 'duePk', sort: 'dueAt' },
  owner: { partition: 'ownerPk', sort: 'ownerSk' },
} as const;

export type IndexName = keyof typeof indexes;

export const sortKeyOf = (name: IndexName | undefined): string =>
  name === undefined ? 'sk' : indexes[name].sort;

/** The place of an item in an index. */
export const rankIn = (name: IndexName, item: Item): string | number =>
  item[indexes[name].sort] as string | number;

type IndexLag = {
  readonly now: () => number;
  /** Milliseconds by which an index may be behind the next write. */
  readonly lagMs: () => number;
};

type Entry = { readonly rank: string | number; readonly order: number; readonly item: Item };

/** The items of one partition of an index, in order of the sort key; of equal ones the first written is first. */
class IndexPartition {
  readonly #entries: Entry[] = [];
  #items: readonly Item[] | undefined;

  add(entry: Entry): void {
    this.#items = undefined;
    this.#entries.splice(this.#placeOf(entry), 0, entry);
  }

  remove(entry: Entry): void {
    this.#items = undefined;
    this.#entries.splice(this.#placeOf(entry), 1);
  }

  items(): readonly Item[] {
    this.#items ??= this.#entries.map(({ item }) => item);
    return this.#items;
  }

  #placeOf({ rank, order }: Entry): number {
    let from = 0;
    let to = this.#entries.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = this.#entries[middle];
      const isBefore =
        other !== undefined && (other.rank < rank || (other.rank === rank && other.order < order));
      if (isBefore) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

/** Items of the indexes, as they were a lag ago. */
export class Indexes {
  readonly #lag: IndexLag;
  readonly #seen = new Map<string, Pick<Entry, 'order' | 'item'>>();
  readonly #partitions = new Map<string, IndexPartition>();
  readonly #coming: { readonly at: number; readonly key: string; readonly item: Item | undefined }[] = [];
  #order = 0;

  constructor(lag: IndexLag) {
    this.#lag = lag;
  }

  follow({ pk, sk, before, after }: Change): void {
    const isIndexed = (item: Item | undefined): boolean =>
      item !== undefined && ('duePk' in item || 'ownerPk' in item);
    if (!isIndexed(before) && !isIndexed(after)) return;
    const item = isIndexed(after) ? after : undefined;
    const at = Math.max(this.#coming.at(-1)?.at ?? 0, this.#lag.now() + this.#lag.lagMs());
    this.#coming.push({ at, key: `${pk} ${sk}`, item });
  }

  query(name: IndexName, pk: string): readonly Item[] {
    const now = this.#lag.now();
    const later = this.#coming.findIndex(({ at }) => at > now);
    for (const { key, item } of this.#coming.splice(0, later === -1 ? this.#coming.length : later))
      this.#apply(key, item);
    return this.#partitions.get(`${name} ${pk}`)?.items() ?? [];
  }

  #apply(key: string, item: Item | undefined): void {
    const before = this.#seen.get(key);
    if (before !== undefined) this.#each(before, (partition, entry) => partition.remove(entry));
    this.#seen.delete(key);
    if (item === undefined) return;
    const seen = { item, order: before?.order ?? this.#order++ };
    this.#seen.set(key, seen);
    this.#each(seen, (partition, entry) => partition.add(entry));
  }

  /** In each index in which the item is. */
  #each(
    { item, order }: Pick<Entry, 'order' | 'item'>,
    use: (partition: IndexPartition, entry: Entry) => void,
  ): void {
    for (const [name, { partition, sort }] of Object.entries(indexes)) {
      const rank = item[sort];
      if (item[partition] === undefined || rank === undefined) continue;
      const key = `${name} ${item[partition]}`;
      const found = this.#partitions.get(key) ?? new IndexPartition();
      this.#partitions.set(key, found);
      use(found, { rank: rank as string | number, order, item });
    }
  }
}

/**
 * Items of running transactions as queries and batches still see them: read-committed, item by item
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation).
 */
export class Unseen {
  readonly #now: () => number;
  readonly #items = new Map<
    string,
    Map<string, { readonly before: Item | undefined; readonly until: number }>
  >();

  constructor(now: () => number) {
    this.#now = now;
  }

  hide({ pk, sk, before }: Change, until: number): void {
    const items = this.#items.get(pk) ?? new Map();
    this.#items.set(pk, items.set(sk, { before, until }));
  }

  /** The items of a partition as a query sees them, by sort key. */
  inOrder(pk: string, items: readonly Item[]): readonly Item[] {
    const hidden = this.#hidden(pk);
    if (hidden === undefined) return items;
    const seen = new Map(items.map((item) => [String(item['sk']), item]));
    for (const [sk, { before }] of hidden)
      if (before === undefined) seen.delete(sk);
      else seen.set(sk, before);
    return [...seen].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, item]) => item);
  }

  item({ pk, sk }: Key, item: Item | undefined): Item | undefined {
    const hidden = this.#hidden(pk)?.get(sk);
    return hidden === undefined ? item : hidden.before;
  }

  #hidden(pk: string) {
    const items = this.#items.get(pk);
    if (items === undefined) return undefined;
    for (const [sk, { until }] of items) if (until <= this.#now()) items.delete(sk);
    if (items.size > 0) return items;
    this.#items.delete(pk);
    return undefined;
  }
}

const sizes = new WeakMap<object, number>();
const numberBytes = 8;
const nestedBytes = 3;

const valueBytes = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return numberBytes;
  if (value instanceof Uint8Array) return value.byteLength;
  if (value instanceof Set) return nestedBytes + sum([...value].map((entry) => valueBytes(entry)));
  if (Array.isArray(value)) return nestedBytes + sum(value.map((entry) => 1 + valueBytes(entry)));
  return typeof value === 'object' && value !== null ? nestedBytes + itemBytes(value as Item) : 1;
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, bytes) => total + bytes, 0);

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html */
export const itemBytes = (item: Item): number => {
  const known = sizes.get(item);
  if (known !== undefined) return known;
  let bytes = 0;
  for (const name of Object.keys(item)) bytes += name.length + valueBytes(item[name]);
  sizes.set(item, bytes);
  return bytes;
};
