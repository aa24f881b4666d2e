import { expect, test } from 'vitest';
import { isAllowed, type Statement } from './policy-evaluation.ts';
import { rightsOf, unusedOf } from './rights.ts';

const action = 'dynamodb:BatchWriteItem';
const resource = 'arn:aws:dynamodb:us-east-1:000000000000:table/sallyport';
const batch = (...keys: readonly string[]): Statement => ({
  Effect: 'Allow',
  Action: action,
  Resource: resource,
  Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': keys } },
});
const writing = (...keys: readonly string[]) => ({
  action,
  resource,
  context: { 'dynamodb:LeadingKeys': keys },
});

test('a partition that no batch named is a right that no call used', () => {
  const [statement, both] = [batch('PROJECT#*', 'SESSION#*'), writing('SESSION#1', 'PROJECT#2')];
  expect(unusedOf([statement], [writing('SESSION#1')])).toEqual([
    'dynamodb:BatchWriteItem on dynamodb table/sallyport PROJECT#*',
  ]);
  expect(unusedOf([statement], [both])).toEqual([]);
});

test('without one of its partitions a batch is refused that names both', () => {
  const rights = rightsOf([batch('PROJECT#*', 'SESSION#*')]);
  const allowed = (...keys: readonly string[]) =>
    rights.map(({ without }) => isAllowed(without, writing(...keys)));
  expect(allowed('SESSION#1', 'PROJECT#2')).toEqual([false, false]);
  expect(allowed('SESSION#1')).toEqual([true, false]);
});
