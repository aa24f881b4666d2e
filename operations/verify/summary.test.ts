import { expect, test } from 'vitest';
import { exitCodeOf, type Row, summaryOf } from './summary.ts';

const row = (name: string, more: Partial<Row> = {}): Row => ({
  ...{ name, result: 'proved', version: '', seconds: 0, faults: 0, differences: [] },
  ...more,
});

test('each part has its version, result and time, and each difference what became of it', () => {
  const differences = [{ what: 'a batch in its own order', became: 'Stays: the order is not promised.' }];
  const rows = [
    row('templates', { version: 'cfn-lint 1.58.0', seconds: 40.4 }),
    row('dynamodb', {
      version: 'DynamoDB Local 3.3.1',
      seconds: 200,
      result: 'failed',
      faults: 2,
      differences,
    }),
    row('openapi', { result: 'cannot be installed' }),
  ];
  expect(summaryOf(rows).split('\n')).toEqual([
    'part       result               faults  differences  time   held against',
    'templates  proved               0       0            40 s   cfn-lint 1.58.0',
    'dynamodb   failed               2       1            200 s  DynamoDB Local 3.3.1',
    'openapi    cannot be installed  0       0            0 s',
    '',
    'Differences, and what became of them:',
    '  dynamodb, a batch in its own order: Stays: the order is not promised.',
  ]);
});

test('a failure is 1, and a proof that was not made is 2', () => {
  expect(exitCodeOf([row('a')])).toBe(0);
  expect(exitCodeOf([row('a'), row('b', { result: 'left out' })])).toBe(2);
  expect(exitCodeOf([row('a', { result: 'cannot be installed' }), row('b', { result: 'failed' })])).toBe(1);
});
