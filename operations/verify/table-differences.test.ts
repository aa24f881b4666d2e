/** What counts as a difference between two engines, and what DynamoDB leaves open. */
import { expect, test } from 'vitest';
import { differencesOf } from './table-differences.ts';

const found = (ours: object, other: object, statuses = [200, 200] as const) =>
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
  expect(found({ Items: [item('a')] }, { Items: [item('a', { x: { S: '1' } })] })).toEqual([
    ['.Items[].x', 'absent', '{"S":"1"}'],
  ]);
  expect(found({}, { __type: 'a#ValidationException' }, [200, 400])).toEqual([
    ['status', '200', '400'],
    ['.__type', 'absent', '"ValidationException"'],
  ]);
});
