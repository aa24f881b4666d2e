/**
 * The one table in memory: the adapters of production run on it unchanged, so that what the simulation tries
 * are the real conditions. Reads and writes are atomic and consistent, unless its owner hides the items of a transaction
 * from queries for a while; an index follows the table after a lag that its owner draws. It refuses what DynamoDB refuses:
 * more than 100 actions, two on one item, an item over 400 KB, a transaction over 4 MB; its pages end where DynamoDB's do.
 *
 * It passes the port conformance suites beside the DynamoDB engine (the project `simulation` in vitest.config.ts).
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Table } from '#shared/adapters/aws/dynamo/table.ts';
import { makeTable } from '#shared/adapters/aws/dynamo/transaction.ts';
import { itemValues } from '#shared/adapters/aws/item-values.ts';
import { conditionOf, type Item, type Scope } from './expressions.ts';
import { beginningWith, rangeOf, within } from './key-range.ts';
import {
  type Change,
  Indexes,
  type IndexName,
  itemBytes,
  type Key,
  Partition,
  rankIn,
  sortKeyOf,
  Unseen,
} from './memory-items.ts';
import { updateOf } from './updates.ts';

export type { Item } from './expressions.ts';
export type { Change } from './memory-items.ts';

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
  /** Queries and batches see the item as it was before, until a moment. */
  readonly hide: (change: Change, until: number) => void;
  readonly get: (pk: string, sk: string) => Item | undefined;
  /** Every item of a partition, by sort key. */
  readonly partition: (pk: string) => readonly Item[];
  /** Those of a partition whose sort key begins so. */
  readonly startingWith: (pk: string, prefix: string) => readonly Item[];
  readonly partitions: () => readonly string[];
};

export type TableBehaviour = {
  readonly now: () => number;
  /** Milliseconds by which an index may be behind the next write. */
  readonly lagMs: () => number;
  /** Bytes after which the next page of a query ends. */
  readonly pageBytes: () => number;
  /** True for a batch that leaves an item undone. */
  readonly leavesUndone: () => boolean;
};

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html */
const actionsMax = 100;
const itemBytesMax = 400 * 1024;
const transactionBytesMax = 4 * 1_048_576;
export const pageBytesMax = 1_048_576;
const batchBytesMax = 16 * 1_048_576;

/** The value without undefined attributes: the client's `itemValues`. */
const stored = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || value instanceof Set || value instanceof Uint8Array)
    return value;
  if (Array.isArray(value)) return value.map(stored);
  const kept: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(value)) if (entry !== undefined) kept[name] = stored(entry);
  return kept;
};

const scopeOf = (item: Item, fields: Fields): Scope => ({
  item,
  names: declared(fields, 'ExpressionAttributeNames'),
  values: declared(fields, 'ExpressionAttributeValues'),
});

/** DynamoDB refuses an empty one. */
const declared = <Name extends 'ExpressionAttributeNames' | 'ExpressionAttributeValues'>(
  fields: Fields,
  name: Name,
) => {
  const found = fields[name];
  if (found !== undefined && Object.keys(found).length === 0) throw new Error(`${name} must not be empty`);
  return found ?? {};
};

const keyOf = ({ Key, Item }: Fields): Key => {
  const key = Key ?? Item;
  return { pk: String(key?.['pk']), sk: String(key?.['sk']) };
};

const keyText = ({ pk, sk }: Key): string => `${pk} ${sk}`;

const plain: TableBehaviour = {
  now: () => 0,
  lagMs: () => 0,
  pageBytes: () => pageBytesMax,
  leavesUndone: () => false,
};

export const openMemoryTable = (behaviour: TableBehaviour = plain): MemoryTable => {
  const partitions = new Map<string, Partition>();
  const following = new Indexes(behaviour);
  const unseen = new Unseen(behaviour.now);
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
    const change = planned(action, fields);
    if (change?.after !== undefined && itemBytes(change.after) > itemBytesMax)
      throw invalid(`Item size has exceeded the maximum allowed size: ${change.pk} ${change.sk}`);
    return change;
  };

  const planned = (action: Action, fields: Fields): Change | undefined => {
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
    const named = new Set(all.map(([, fields]) => keyText(keyOf(fields))));
    if (all.length > actionsMax) throw invalid(`a transaction of ${all.length} actions`);
    if (named.size < all.length) throw invalid('two actions of a transaction on one item');
    const plans = all.map(([action, fields]) => plan(action, fields));
    const changes = plans.filter((change) => change !== undefined);
    const bytes = changes.reduce((sum, { after }) => sum + (after === undefined ? 0 : itemBytes(after)), 0);
    if (bytes > transactionBytesMax) throw invalid(`a transaction of ${bytes} bytes`);
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
    const values = fields.ExpressionAttributeValues ?? {};
    const pk = String(values[':pk']);
    const all =
      IndexName === undefined
        ? unseen.inOrder(pk, partitions.get(pk)?.inOrder() ?? [])
        : following.query(IndexName as IndexName, pk);
    const matching = within(all, sortKeyOf(IndexName as IndexName), rangeOf(KeyConditionExpression, values));
    if (fields.ScanIndexForward === false) matching.reverse();
    const from = start === undefined ? 0 : firstAfter(matching, start, fields);
    const { read, isCut } = pageOf(matching.slice(from), Limit);
    const last = read.at(-1);
    return {
      output: { ...shownOf(read, fields), ...(isCut ? { LastEvaluatedKey: last } : {}) },
      changes: [],
    };
  };

  /** The item that a page ended with may have been deleted or hidden since: a page of the table goes on behind its key. */
  const firstAfter = (
    items: readonly Item[],
    start: Item,
    { IndexName, ScanIndexForward }: Fields,
  ): number => {
    if (IndexName !== undefined) {
      const last = items.findIndex((item) => item['pk'] === start['pk'] && item['sk'] === start['sk']);
      return last === -1 ? placeIn(IndexName as IndexName, items, start) : last + 1;
    }
    const isBehind = (sk: string): boolean =>
      ScanIndexForward === false ? sk < String(start['sk']) : sk > String(start['sk']);
    const at = items.findIndex((item) => isBehind(String(item['sk'])));
    return at === -1 ? items.length : at;
  };

  /** A page has one item at least. */
  const pageOf = (items: readonly Item[], limit = Number.POSITIVE_INFINITY) => {
    const bytesMax = behaviour.pageBytes();
    let bytes = 0;
    let length = 0;
    while (length < Math.min(limit, items.length) && bytes < bytesMax)
      bytes += itemBytes(items[length++] ?? {});
    return { read: items.slice(0, length), isCut: length === limit || length < items.length };
  };

  /** A filter hides what was read: the limit and the last key are those of the reading. */
  const shownOf = (read: readonly Item[], fields: Fields): object => {
    const filter = fields.FilterExpression === undefined ? undefined : conditionOf(fields.FilterExpression);
    const Items = read.filter((item) => filter === undefined || filter(scopeOf(item, fields)));
    return { Count: Items.length, ...(fields.Select === 'COUNT' ? {} : { Items }) };
  };

  const batchGet = (requests: Readonly<Record<string, { readonly Keys: readonly Key[] }>>) => {
    const [[name, { Keys }] = ['', { Keys: [] }]] = Object.entries(requests);
    const found: Item[] = [];
    const undone: Key[] = [];
    let bytes = 0;
    for (const key of Keys) {
      const item = unseen.item(key, get(key.pk, key.sk));
      bytes += item === undefined ? 0 : itemBytes(item);
      if (bytes > batchBytesMax || behaviour.leavesUndone()) undone.push(key);
      else if (item !== undefined) found.push(item);
    }
    const UnprocessedKeys = undone.length === 0 ? {} : { [name]: { Keys: undone } };
    return { output: { Responses: { [name]: found }, UnprocessedKeys }, changes: [] };
  };

  const batchWrite = (
    requests: Readonly<Record<string, readonly { DeleteRequest?: Fields; PutRequest?: Fields }[]>>,
  ) => {
    const [[name, all] = ['', []]] = Object.entries(requests);
    const { undone = [], done = [] } = Object.groupBy(all, () =>
      behaviour.leavesUndone() ? 'undone' : 'done',
    );
    const changes = done.flatMap(
      ({ DeleteRequest, PutRequest }) =>
        (DeleteRequest === undefined ? plan('Put', PutRequest ?? {}) : plan('Delete', DeleteRequest)) ?? [],
    );
    for (const change of changes) write(change);
    return { output: { UnprocessedItems: undone.length === 0 ? {} : { [name]: undone } }, changes };
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
    hide: (change, until) => unseen.hide(change, until),
    get,
    partition: (pk) => partitions.get(pk)?.inOrder() ?? [],
    startingWith: (pk, prefix) => within(partitions.get(pk)?.inOrder() ?? [], 'sk', beginningWith(prefix)),
    partitions: () => [...partitions.keys()],
  };
};

/** Where the item that a page of an index ended with has moved since, the next page goes on from its place. */
const placeIn = (name: IndexName, items: readonly Item[], start: Item): number => {
  const ranks = items.map((item) => rankIn(name, item));
  const rank = rankIn(name, start);
  const isAscending = (ranks[0] ?? 0) <= (ranks.at(-1) ?? 0);
  const at = ranks.findIndex((other) => (isAscending ? other >= rank : other <= rank));
  return at === -1 ? items.length : at;
};

const itemShown = (item: Item | undefined, fields: Fields): object =>
  item === undefined || fields.ReturnValuesOnConditionCheckFailure !== 'ALL_OLD'
    ? {}
    : { Item: marshall(item, itemValues()) };

const invalid = (what: string): Error =>
  Object.assign(new Error(`ValidationException: ${what}`), { name: 'ValidationException' });

const namedError = (name: string, more: object): Error => Object.assign(new Error(name), { name }, more);

const conditionFailed = (item: Item | undefined, fields: Fields): Error =>
  namedError('ConditionalCheckFailedException', itemShown(item, fields));

/** The table as the adapters know it, over a way to send a request. */
export const tableOver = (
  send: (command: Command) => Promise<object>,
  jitter: Table['jitter'] = () => Promise.resolve(),
): Table => makeTable({ name: 'sallyport', jitter, client: { send } as unknown as DynamoDBDocumentClient });
