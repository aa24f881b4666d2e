import { expect, test } from 'vitest';
import { chartsOf, chartType, tableOf, tableType } from './code-results.ts';

const schema = { fields: [{ name: 'index', type: 'integer' }, { name: 'a' }], primaryKey: ['index'] };

test('a data frame is a table with its columns in order', () => {
  const data = [{ index: 0, a: 1.5 }];
  expect(tableOf({ 'text/plain': '…', [tableType]: { schema, data, rows: 9, columns: 1 } })).toEqual({
    fields: schema.fields,
    rows: data,
    ...{ rowCount: 9, columnCount: 1 },
  });
  expect(tableOf({ [tableType]: { schema, data } })).toMatchObject({ rowCount: 1, columnCount: 2 });
});

test.each([
  {},
  { 'text/plain': '1' },
  { [tableType]: null },
  { [tableType]: { schema: {}, data: [] } },
  { [tableType]: { schema, data: 1 } },
])('no table is in %j', (bundle) => {
  expect(tableOf(bundle)).toBeUndefined();
});

const axes = { x: { label: '', scale: 'linear' }, y: { label: 'y', scale: 'log' } };
const line = { type: 'line', label: 'a', points: [[1, 2]] };
const chart = { type: 'line', title: 'T', axes, series: [line] };
const bars = {
  ...chart,
  type: 'bar',
  series: [{ type: 'bar', label: '', values: [{ label: 'x', value: 1 }] }],
};

test('a figure is one chart or several', () => {
  expect(chartsOf({ [chartType]: chart })).toEqual([chart]);
  expect(chartsOf({ [chartType]: { type: 'figure', title: '', charts: [chart, bars] } })).toEqual([
    chart,
    bars,
  ]);
});

test.each([
  {},
  { [chartType]: 'line' },
  { [chartType]: { ...chart, series: 'line' } },
  { [chartType]: { type: 'figure', charts: [null] } },
])('no chart is in %j', (bundle) => {
  expect(chartsOf(bundle)).toEqual([]);
});
