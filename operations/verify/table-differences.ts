/**
 * Differences between the answers of two engines to one request. Pure.
 *
 * A point that DynamoDB leaves open is none: the order in a set, of a batch, and of items of an index with equal keys; zeros at the end of a
 * number, which DynamoDB trims; the full stop after the reason of a cancellation.
 */

import type { Difference as Judgement } from './proof.ts';

type Answer = { readonly status: number; readonly body: Buffer };

export type Difference = {
  readonly operation: string;
  /** The place in the answer, without the indexes of lists. */
  readonly where: string;
  readonly ours: string;
  readonly other: string;
  readonly request: string;
  /** One of several pages, by either engine. */
  readonly isPage: boolean;
};

type Compared = {
  readonly operation: string;
  readonly request: Buffer;
  readonly answer: Answer;
  readonly other: Answer;
};

export const differencesOf = ({ operation, request, answer, other }: Compared): readonly Difference[] => {
  const texts = [request, answer.body, other.body].map(String);
  const place = {
    operation: operation.slice(operation.indexOf('.') + 1),
    request: request.toString(),
    isPage: texts.some((text) => /"(?:LastEvaluatedKey|ExclusiveStartKey)"/.test(text)),
  };
  return [
    ...differing('status', answer.status, other.status),
    ...differing('', comparable(parsed(answer.body)), comparable(parsed(other.body))),
  ].map((found) => ({ ...place, ...found }));
};

const capacity: Judgement = {
  what: 'the capacity of a request that asks for none',
  became: 'stays: DynamoDB tells it on demand alone',
};
const pageOfIndex: Judgement = {
  what: 'a page of an index',
  became:
    'stays: the order of items with equal keys is not promised, and the program follows LastEvaluatedKey',
};
const pageEnd: Judgement = {
  what: 'where a page of 1 MB ends',
  became: 'stays: sizes are estimated in both, and the program follows LastEvaluatedKey',
};

/** The embedded engine's sweep, which a run of some minutes meets. */
const expired: Judgement = {
  what: 'the search for expired items',
  became: 'stays: each engine deletes them at a time of its own (A24)',
};

/** The judgement of a difference that stays; undefined for one that was not judged. */
export const judgementOf = ({ operation, where, request, isPage }: Difference): Judgement | undefined => {
  if (where === '.ConsumedCapacity' && !request.includes('"ReturnConsumedCapacity"')) return capacity;
  if (operation === 'Scan' && request.includes('"FilterExpression":"#expiry < :now"')) return expired;
  if (operation !== 'Query' || !isPage) return undefined;
  if (request.includes('"IndexName"')) return pageOfIndex;
  return /^[.](?:LastEvaluatedKey\b.*|Items|Count|ScannedCount)$/.test(where) ? pageEnd : undefined;
};

type Found = Pick<Difference, 'where' | 'ours' | 'other'>;

const parsed = (body: Buffer): unknown => (body.length === 0 ? {} : JSON.parse(body.toString()));

const comparable = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(comparable);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      // A label of a client may be called `constructor`.
      const settled = Object.hasOwn(settle, name) ? settle[name]?.(inner) : undefined;
      return settled ?? [name, comparable(inner)];
    }),
  );
};

const inOrder = (name: string, sort: (value: unknown) => string) => (inner: unknown) =>
  Array.isArray(inner)
    ? [name, inner.toSorted((one, other) => (sort(one) < sort(other) ? -1 : 1)).map(comparable)]
    : undefined;
const itemKey = (item: unknown): string =>
  isRecord(item) ? JSON.stringify([item['pk'], item['sk']]) : String(item);
const inKeyOrder = (name: string) => inOrder(name, itemKey);
const errorText = (inner: unknown) =>
  typeof inner === 'string' ? ['message', inner.replace(/[.]$/, '')] : undefined;

/** By the name of a field: its name and value as they are compared, or undefined for one of another kind. */
const settle: Readonly<Record<string, (inner: unknown) => unknown[] | undefined>> = {
  __type: (inner) => ['__type', String(inner).split('#').at(-1)],
  message: errorText,
  Message: errorText,
  SS: inOrder('SS', String),
  NS: inOrder('NS', String),
  Items: inKeyOrder('Items'),
  Responses: (inner) =>
    isRecord(inner)
      ? [
          'Responses',
          Object.fromEntries(
            Object.entries(inner).map(([table, items]) => inKeyOrder(table)(items) ?? [table, items]),
          ),
        ]
      : undefined,
  N: (inner) =>
    typeof inner === 'string' && inner.includes('.') ? ['N', inner.replace(/[.]?0+$/, '')] : undefined,
};

const differing = (where: string, ours: unknown, other: unknown): readonly Found[] => {
  if (isRecord(ours) && isRecord(other)) {
    const names = [...new Set([...Object.keys(ours), ...Object.keys(other)])];
    return names.flatMap((name) => differing(`${where}.${name}`, ours[name], other[name]));
  }
  if (Array.isArray(ours) && Array.isArray(other) && ours.length === other.length)
    return ours.flatMap((one, index) => differing(`${where}[]`, one, other[index]));
  const [mine, its] = [JSON.stringify(ours) ?? 'absent', JSON.stringify(other) ?? 'absent'];
  return mine === its ? [] : [{ where, ours: mine, other: its }];
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
