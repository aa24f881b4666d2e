/**
 * The one table in memory: the adapters of production run on it unchanged, so that what the simulation tries
 * are the real conditions. Reads and writes are atomic and consistent; an index follows the table after a lag
 * that its owner draws. It refuses what DynamoDB refuses: more than 100 actions, two on one item.
 *
 * It passes the port conformance suites beside the DynamoDB engine (the project `simulation` in vitest.config.ts).
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Table } from '#shared/adapters/aws/dynamo/table.ts';
import { conditionOf, type Item, type Scope, updateOf } from './expressions.ts';

export type { Item } from './expressions.ts';

type Key = { readonly pk: string; readonly sk: string };
export type Change = Key & { readonly before: Item | undefined; readonly after: Item | undefined };

/** One request, as the document client is given it. */
export type Command = { readonly constructor: { readonly name: string }; readonly input: object };

type Fields = {
  readonly Key?: Key;
  readonly Item?: Item;
  readonly ConditionExpression?: string;
  readonly UpdateExpression?: string;
  readonly KeyConditionExpression?: string;
  readonly FilterExpression?: string;
  readonly Select?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>;
  readonly ReturnValues?: 'ALL_NEW' | 'ALL_OLD';
  readonly ReturnValuesOnConditionCheckFailure?: string;
  readonly IndexName?: string;
  readonly Limit?: number;
  readonly ScanIndexForward?: boolean;
  readonly ExclusiveStartKey?: Item;
};

type Action = 'Put' | 'Update' | 'Delete' | 'ConditionCheck';

export type MemoryTable = {
  readonly execute: (command: Command) => { readonly output: object; readonly changes: readonly Change[] };
  readonly get: (pk: string, sk: string) => Item | undefined;
  /** Every item of a partition, by sort key. */
  readonly partition: (pk: string) => readonly Item[];
  readonly partitions: () => readonly string[];
};

export type IndexLag = {
  readonly now: () => number;
  /** Milliseconds by which an index may be behind the next write. */
  readonly lagMs: () => number;
};

const actionsMax = 100;

/** The value without undefined attributes: the client's `removeUndefinedValues`. */
const stored = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || value instanceof Set || value instanceof Uint8Array)
    return value;
  if (Array.isArray(value)) return value.map(stored);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, entry]) => (entry === undefined ? [] : [[key, stored(entry)]])),
  );
};

const scopeOf = (item: Item, fields: Fields): Scope => ({
  item,
  names: fields.ExpressionAttributeNames ?? {},
  values: fields.ExpressionAttributeValues ?? {},
});

const keyOf = ({ Key, Item }: Fields): Key => {
  const key = Key ?? Item;
  return { pk: String(key?.['pk']), sk: String(key?.['sk']) };
};

class Partition {
  readonly items = new Map<string, Item>();
  #sorted: readonly string[] | undefined = [];

  set(sk: string, item: Item | undefined): void {
    if (item === undefined ? this.items.has(sk) : !this.items.has(sk)) this.#sorted = undefined;
    if (item === undefined) this.items.delete(sk);
    else this.items.set(sk, item);
  }

  inOrder(): readonly Item[] {
    this.#sorted ??= [...this.items.keys()].sort();
    return this.#sorted.map((sk) => this.items.get(sk) ?? {});
  }
}

const indexes = {
  due: { partition: 'duePk', sort: 'dueAt' },
  owner: { partition: 'ownerPk', sort: 'ownerSk' },
} as const;

/** Items of the indexes, as they were a lag ago. */
class Indexes {
  readonly #lag: IndexLag;
  readonly #seen = new Map<string, Item>();
  readonly #coming: { readonly at: number; readonly key: string; readonly item: Item | undefined }[] = [];

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

  query(name: keyof typeof indexes): readonly Item[] {
    while ((this.#coming[0]?.at ?? Number.POSITIVE_INFINITY) <= this.#lag.now()) {
      const next = this.#coming.shift();
      if (next?.item === undefined) this.#seen.delete(next?.key ?? '');
      else this.#seen.set(next.key, next.item);
    }
    const { partition, sort } = indexes[name];
    const rank = (item: Item): string | number => item[sort] as string | number;
    return [...this.#seen.values()]
      .filter((item) => item[partition] !== undefined && item[sort] !== undefined)
      .sort((one, other) => (rank(one) < rank(other) ? -1 : rank(one) > rank(other) ? 1 : 0));
  }
}

const noLag: IndexLag = { now: () => 0, lagMs: () => 0 };

export const openMemoryTable = (lag: IndexLag = noLag): MemoryTable => {
  const partitions = new Map<string, Partition>();
  const following = new Indexes(lag);
  const get = (pk: string, sk: string): Item | undefined => partitions.get(pk)?.items.get(sk);

  const write = (change: Change): void => {
    const { pk, sk, before, after } = change;
    if (before === undefined && after === undefined) return;
    const partition = partitions.get(pk) ?? new Partition();
    partitions.set(pk, partition);
    partition.set(sk, after);
    following.follow(change);
  };

  /** The change of one action; undefined when its condition does not hold. */
  const plan = (action: Action, fields: Fields): Change | undefined => {
    const key = keyOf(fields);
    const before = get(key.pk, key.sk);
    const { ConditionExpression: condition, UpdateExpression: update } = fields;
    const scope = scopeOf(before ?? {}, fields);
    if (condition !== undefined && !conditionOf(condition)(scope)) return undefined;
    if (action === 'ConditionCheck') return { ...key, before, after: before };
    if (action === 'Delete') return { ...key, before, after: undefined };
    if (action === 'Put') return { ...key, before, after: stored(fields.Item) as Item };
    const values = stored(scope.values) as Item;
    return {
      ...key,
      before,
      after: updateOf(update ?? '')({ ...scope, item: before ?? { ...key }, values }),
    };
  };

  const single = (action: Action, fields: Fields) => {
    const change = plan(action, fields);
    if (change === undefined) throw conditionFailed(get(keyOf(fields).pk, keyOf(fields).sk), fields);
    write(change);
    const { before, after } = change;
    const Attributes = { ALL_NEW: after, ALL_OLD: before, NONE: undefined }[fields.ReturnValues ?? 'NONE'];
    return { output: Attributes === undefined ? {} : { Attributes }, changes: [change] };
  };

  const transact = (actions: readonly Readonly<Partial<Record<Action, Fields>>>[]) => {
    const all = actions.map((one) => Object.entries(one)[0] as [Action, Fields]);
    const named = new Set(all.map(([, fields]) => JSON.stringify(keyOf(fields))));
    if (all.length > actionsMax) throw new Error('ValidationException: more than 100 actions');
    if (named.size < all.length) throw new Error('ValidationException: two actions on one item');
    const plans = all.map(([action, fields]) => plan(action, fields));
    const changes = plans.filter((change) => change !== undefined);
    if (changes.length < plans.length) {
      const reasons = plans.map((change, index) => {
        const fields = all[index]?.[1] ?? {};
        if (change !== undefined) return { Code: 'None' };
        return {
          Code: 'ConditionalCheckFailed',
          ...itemShown(get(keyOf(fields).pk, keyOf(fields).sk), fields),
        };
      });
      throw namedError('TransactionCanceledException', { CancellationReasons: reasons });
    }
    for (const change of changes) write(change);
    return { output: {}, changes };
  };

  const query = (fields: Fields) => {
    const { IndexName, KeyConditionExpression = '', Limit, ExclusiveStartKey: start } = fields;
    const condition = conditionOf(KeyConditionExpression);
    const values = fields.ExpressionAttributeValues ?? {};
    const all =
      IndexName === undefined
        ? (partitions.get(String(values[':pk']))?.inOrder() ?? [])
        : following.query(IndexName as keyof typeof indexes);
    const matching = all.filter((item) => condition(scopeOf(item, fields)));
    if (fields.ScanIndexForward === false) matching.reverse();
    const isStart = (item: Item): boolean => item['pk'] === start?.['pk'] && item['sk'] === start?.['sk'];
    const from = start === undefined ? 0 : matching.findIndex(isStart) + 1;
    const read = matching.slice(from, Limit === undefined ? undefined : from + Limit);
    const last = read.at(-1);
    const isCut = Limit !== undefined && read.length === Limit;
    return {
      output: { ...shownOf(read, fields), ...(isCut ? { LastEvaluatedKey: last } : {}) },
      changes: [],
    };
  };

  /** A filter hides what was read: the limit and the last key are those of the reading. */
  const shownOf = (read: readonly Item[], fields: Fields): object => {
    const filter = fields.FilterExpression === undefined ? undefined : conditionOf(fields.FilterExpression);
    const Items = read.filter((item) => filter === undefined || filter(scopeOf(item, fields)));
    return { Count: Items.length, ...(fields.Select === 'COUNT' ? {} : { Items }) };
  };

  const batchGet = (requests: Readonly<Record<string, { readonly Keys: readonly Key[] }>>) => {
    const Responses = Object.fromEntries(
      Object.entries(requests).map(([name, { Keys }]) => [
        name,
        Keys.flatMap(({ pk, sk }) => get(pk, sk) ?? []),
      ]),
    );
    return { output: { Responses, UnprocessedKeys: {} }, changes: [] };
  };

  const batchWrite = (requests: Readonly<Record<string, readonly { DeleteRequest: Fields }[]>>) => {
    const deleted = Object.values(requests).flat();
    const changes = deleted.flatMap(({ DeleteRequest }) => plan('Delete', DeleteRequest) ?? []);
    for (const change of changes) write(change);
    return { output: { UnprocessedItems: {} }, changes };
  };

  const execute: MemoryTable['execute'] = ({ constructor: { name }, input }) => {
    const fields = input as Fields;
    switch (name) {
      case 'GetCommand': {
        const Item = get(keyOf(fields).pk, keyOf(fields).sk);
        return { output: Item === undefined ? {} : { Item }, changes: [] };
      }
      case 'PutCommand':
        return single('Put', fields);
      case 'UpdateCommand':
        return single('Update', fields);
      case 'DeleteCommand':
        return single('Delete', fields);
      case 'QueryCommand':
        return query(fields);
      case 'TransactWriteCommand':
        return transact((input as { TransactItems: Parameters<typeof transact>[0] }).TransactItems);
      case 'BatchGetCommand':
        return batchGet((input as { RequestItems: Parameters<typeof batchGet>[0] }).RequestItems);
      case 'BatchWriteCommand':
        return batchWrite((input as { RequestItems: Parameters<typeof batchWrite>[0] }).RequestItems);
      default:
        throw new Error(`the table in memory does not know ${name}`);
    }
  };

  return {
    execute,
    get,
    partition: (pk) => partitions.get(pk)?.inOrder() ?? [],
    partitions: () => [...partitions.keys()],
  };
};

const itemShown = (item: Item | undefined, fields: Fields): object =>
  item === undefined || fields.ReturnValuesOnConditionCheckFailure !== 'ALL_OLD'
    ? {}
    : { Item: marshall(item, { removeUndefinedValues: true }) };

const namedError = (name: string, more: object): Error => Object.assign(new Error(name), { name }, more);

const conditionFailed = (item: Item | undefined, fields: Fields): Error =>
  namedError('ConditionalCheckFailedException', itemShown(item, fields));

/** The table as the adapters know it, over a way to send a request. */
export const tableOver = (
  send: (command: Command) => Promise<object>,
  jitter: Table['jitter'] = () => Promise.resolve(),
): Table => ({
  name: 'sallyport',
  jitter,
  client: { send } as unknown as DynamoDBDocumentClient,
});
