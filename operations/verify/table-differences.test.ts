/** Differences between two engines, and what DynamoDB leaves open. */
import { expect, test } from 'vitest';
import { differencesOf, judgementOf } from './table-differences.ts';

const found = (ours: object, other: object, statuses: readonly [number, number] = [200, 200]) =>
  differencesOf({
    ...{ operation: 'DynamoDB_20120810.Query', request: Buffer.from('{}') },
    answer: { status: statuses[0], body: Buffer.from(JSON.stringify(ours)) },
    other: { status: statuses[1], body: Buffer.from(JSON.stringify(other)) },
  }).map(({ where, ours: mine, other: its }) => [where, mine, its]);

const item = (sk: string, more = {}) => ({ pk: { S: 'p' }, sk: { S: sk }, ...more });

test('the order of a batch, of a set and of equal keys is none, nor are zeros and a full stop', () => {
  const set = (values: string[]) => ({ tags: { SS: values } });
  expect(
    found(
      { Items: [item('a', set(['x', 'y'])), item('b')] },
      { Items: [item('b'), item('a', set(['y', 'x']))] },
    ),
  ).toEqual([]);
  expect(
    found({ Responses: { t: [item('a'), item('b')] } }, { Responses: { t: [item('b'), item('a')] } }),
  ).toEqual([]);
  expect(found({ Item: { n: { N: '1.5' } } }, { Item: { n: { N: '1.50' } } })).toEqual([]);
  expect(found({ __type: 'a#E', message: 'failed' }, { __type: 'b#E', Message: 'failed.' })).toEqual([]);
});

test('another value, a missing field, another error and another status are differences', () => {
  expect(found({ Item: { n: { N: '10' } } }, { Item: { n: { N: '1' } } })).toEqual([
    ['.Item.n.N', '"10"', '"1"'],
  ]);
  const named = (value: string) => ({ Item: { constructor: { S: value }, toString: { S: 'x' } } });
  expect(found(named('x'), named('y'))).toEqual([['.Item.constructor.S', '"x"', '"y"']]);
  expect(found({ Items: [item('a')] }, { Items: [item('a', { x: { S: '1' } })] })).toEqual([
    ['.Items[].x', 'absent', '{"S":"1"}'],
  ]);
  expect(found({}, { __type: 'a#ValidationException' }, [200, 400])).toEqual([
    ['status', '200', '400'],
    ['.__type', 'absent', '"ValidationException"'],
  ]);
});

test('pages that end elsewhere and capacity that nobody asked for are judged, and nothing else is', () => {
  const key = { pk: { S: 'p' }, sk: { S: 'b' } };
  const operationOf = (request: object): string => {
    if ('FilterExpression' in request) return 'Scan';
    return 'Key' in request ? 'DeleteItem' : 'Query';
  };
  const judged = (request: object, ours: object, other: object) =>
    differencesOf({
      ...{
        operation: `DynamoDB_20120810.${operationOf(request)}`,
        request: Buffer.from(JSON.stringify(request)),
      },
      answer: { status: 200, body: Buffer.from(JSON.stringify(ours)) },
      other: { status: 200, body: Buffer.from(JSON.stringify(other)) },
    }).map((difference) => judgementOf(difference)?.what);
  const [short, long] = [{ Items: [item('a')], LastEvaluatedKey: key }, { Items: [item('a'), item('b')] }];
  expect(judged({ Limit: 9 }, short, long)).toEqual([
    'where a page of 1 MB ends',
    'where a page of 1 MB ends',
  ]);
  expect(judged({ IndexName: 'due' }, { ...short, Items: [item('c')] }, short)).toEqual([
    'a page of an index',
  ]);
  expect(judged({ Key: key }, {}, { ConsumedCapacity: {} })).toEqual([
    'the capacity of a request that asks for none',
  ]);
  expect(judged({ Key: key, ReturnConsumedCapacity: 'TOTAL' }, {}, { ConsumedCapacity: {} })).toEqual([
    undefined,
  ]);
  expect(judged({ FilterExpression: '#expiry < :now' }, { Count: 0 }, { Count: 1 })).toEqual([
    'the search for expired items',
  ]);
  expect(judged({ FilterExpression: '#name = :name' }, { Count: 0 }, { Count: 1 })).toEqual([undefined]);
  expect(judged({ IndexName: 'due' }, { Items: [item('a')] }, { Items: [item('b')] })).toEqual([undefined]);
  expect(judged({}, { ...short, Items: [item('b')] }, short)).toEqual([undefined]);
});
