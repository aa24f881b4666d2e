import { expect, test } from 'vitest';
import type { Chart, Table } from '#sdk/code-results.ts';
import { cellText, chartLabel, csvOf, gridOfChart, gridOfRecords, gridOfTable } from './result-grid.ts';

const table: Table = {
  fields: [
    { name: 'city', type: 'string' },
    { name: 'price', type: 'number' },
    { name: 'day', type: 'datetime' },
    { name: 'tags', type: 'any' },
  ],
  rows: [
    { city: 'Rome', price: 10, day: '2026-01-02T00:00:00.000', tags: ['a'] },
    { city: 'Oslo', price: null, day: '2026-01-02T10:30:00.000Z', tags: null },
  ],
  ...{ rowCount: 5000, columnCount: 300 },
};

test('a table has cells for people, and says what is not here', () => {
  expect(gridOfTable(table)).toEqual({
    columns: [
      { name: 'city', isNumber: false },
      { name: 'price', isNumber: true },
      { name: 'day', isNumber: false },
      { name: 'tags', isNumber: false },
    ],
    rows: [
      ['Rome', 10, '2026-01-02', '["a"]'],
      ['Oslo', null, '2026-01-02 10:30:00Z', null],
    ],
    ...{ rowCount: 5000, columnsLeftOut: 296 },
  });
  expect([1.23456789012, 1e21, 3, true, null, 'x'].map(cellText)).toEqual([
    ...['1.2345679', '1e+21', '3', 'true', '–', 'x'],
  ]);
});

test('records are a table, other lists are not', () => {
  expect(gridOfRecords([{ a: 1 }, { b: 'x' }])).toMatchObject({
    columns: [{ name: 'a' }, { name: 'b' }],
    rows: [
      [1, null],
      [null, 'x'],
    ],
  });
  for (const value of [null, [], [{ a: 1 }], [1, 2], [{ a: [1] }, { a: 1 }], [{}, {}], { a: 1 }])
    expect(gridOfRecords(value)).toBeUndefined();
});

const axes = { x: { label: 'epoch', scale: 'linear' }, y: { label: '', scale: 'linear' } };
const line = (label: string, points: readonly (readonly [number, number])[]) =>
  ({ type: 'line', label, points }) as const;
const chart = (series: Chart['series']): Chart => ({ type: 'line', title: 'Loss', axes, series });

test('series with the same places are side by side, others one below the other', () => {
  const shared = chart([
    line('train', [
      [1, 9],
      [2, 8],
    ]),
    line('', [
      [1, 7],
      [2, 6],
    ]),
  ]);
  expect(gridOfChart(shared)).toMatchObject({
    columns: [{ name: 'epoch' }, { name: 'train' }, { name: 'series 2' }],
    rows: [
      [1, 9, 7],
      [2, 8, 6],
    ],
  });
  expect(chartLabel(shared)).toBe('Line chart: Loss. train');
  expect(
    gridOfChart(
      chart([
        line('a', [
          [1, 9],
          [1, 8],
        ]),
      ]),
    ),
  ).toMatchObject({
    columns: [{ name: 'series' }, { name: 'epoch' }, { name: 'y' }],
    rows: [
      ['a', 1, 9],
      ['a', 1, 8],
    ],
  });
  const pie: Chart = {
    ...{ type: 'pie', title: '', axes: { x: { label: '', scale: '' }, y: { label: '', scale: '' } } },
    series: [{ type: 'pie', label: '', values: [{ label: 'tea', value: 0.25 }] }],
  };
  expect(gridOfChart(pie)).toMatchObject({
    columns: [{ name: 'label' }, { name: 'series 1' }],
    rows: [['tea', 0.25]],
  });
  expect(chartLabel(pie)).toBe('Pie chart');
});

test('CSV quotes what needs it', () => {
  const grid = gridOfRecords([
    { a: 'x, "y"', b: 1.5 },
    { a: null, b: false },
  ]);
  expect(grid && csvOf(grid)).toBe('a,b\n"x, ""y""",1.5\n,false\n');
});

test('a chart of any content is a table', () => {
  const forged = { axes: { x: {}, y: {} }, series: [{ points: [[{ a: 1 }, 2], []] }] } as unknown as Chart;
  expect(gridOfChart(forged)).toMatchObject({
    columns: [{ name: 'x' }, { name: 'series 1' }],
    rows: [
      ['{"a":1}', 2],
      [null, null],
    ],
  });
  expect(chartLabel(forged)).toBe('Chart');
});
