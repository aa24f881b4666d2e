import { expect, test } from 'vitest';
import { shownBundle, shownContent } from './shown-results.ts';

const alt = 'Output of the tool';
const tableType = 'application/vnd.dataresource+json';
const chartType = 'application/vnd.sallyport.chart+json';
const table = { schema: { fields: [{ name: 'a' }] }, data: [{ a: 1 }], rows: 7 };
const axes = { x: { label: 'x', scale: 'linear' }, y: { label: '', scale: 'linear' } };
const chart = { type: 'line', title: 'T', axes, series: [{ type: 'line', label: 'l', points: [[1, 2]] }] };
const picture = { type: 'image', mimeType: 'image/png', data: 'AAAA' };
const resource = (mimeType: string, value: unknown) => ({
  type: 'resource',
  resource: { uri: 'sallyport:result', mimeType, text: JSON.stringify(value) },
  annotations: { audience: ['user'] },
});

test('a table of a result is a table, the data of a chart belong to the picture before it', () => {
  const shown = shownContent([
    { type: 'text', text: 'out' },
    resource(tableType, table),
    picture,
    resource(chartType, chart),
    picture,
  ]);
  expect(shown.map(({ kind }) => kind)).toEqual(['text', 'table', 'picture', 'chart', 'picture']);
  expect(shown[1]).toMatchObject({ grid: { rows: [[1]], rowCount: 7 } });
  expect(shown[2]).toMatchObject({ alt: 'Line chart: T. l' });
  expect(shown[3]).toMatchObject({ label: 'Line chart: T. l', grid: { rows: [[1, 2]] } });
  expect(shown[4]).toMatchObject({ alt });
});

test('what has lost its end waits for it, and what is no table shows nothing', () => {
  const shown = shownContent([{ type: 'text', text: 'out' }, picture, resource(tableType, table)], true);
  expect(shown.map(({ kind }) => kind)).toEqual(['text', 'cut', 'cut']);
  const unreadable = [
    { ...chart, axes: {} },
    { ...chart, series: [null] },
    { ...chart, series: [{ points: [1] }] },
  ];
  const forged = unreadable.map((one) => resource(chartType, one));
  expect(shownContent([resource(tableType, 'x'), resource(chartType, []), ...forged])).toEqual([]);
  expect(shownContent([resource(tableType, { schema: { fields: [null] }, data: [null] })])).toHaveLength(1);
  const broken = { type: 'resource', resource: { mimeType: tableType, text: '{"sche' } };
  expect(shownContent([broken])).toEqual([]);
});

test('a program that printed nothing has no empty text before what it displayed', () => {
  expect(shownContent([{ type: 'text', text: '' }, picture]).map(({ kind }) => kind)).toEqual(['picture']);
  expect(shownContent([{ type: 'text', text: '' }])).toEqual([]);
});

test('a result of code is shown in its best form', () => {
  const text = { 'text/plain': '42' };
  const kinds = (bundle: object) => shownBundle({ ...text, ...bundle }).map(({ kind }) => kind);
  expect(shownBundle(text)).toEqual([{ kind: 'text', text: '42\n' }]);
  expect(kinds({ [tableType]: table, 'text/html': '<table>' })).toEqual(['table']);
  expect(kinds({ 'image/png': 'AAAA', [chartType]: chart })).toEqual(['picture', 'chart']);
  expect(kinds({ 'image/png': 'no base64' })).toEqual(['text']);
  expect(kinds({ 'application/json': [{ a: 1 }, { a: 2 }] })).toEqual(['table']);
  expect(kinds({ 'application/json': [1, 2] })).toEqual(['text']);
  expect(shownBundle({ 'image/svg+xml': '<svg>é</svg>' })).toEqual([
    { kind: 'picture', url: `data:image/svg+xml;base64,${btoa('<svg>\u00c3\u00a9</svg>')}`, alt },
  ]);
  expect(shownBundle({ 'application/x': 1 })).toEqual([{ kind: 'json', text: '{\n  "application/x": 1\n}' }]);
});

test('text is text, a picture is a picture', () => {
  expect(
    shownContent([
      { type: 'text', text: 'hi' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    ]),
  ).toEqual([
    { kind: 'text', text: 'hi' },
    { kind: 'picture', url: 'data:image/png;base64,AAAA', alt },
  ]);
});

test('a drawing is a picture, the text of a resource is text, and sound is named', () => {
  expect(
    shownContent([
      { type: 'image', mimeType: 'image/svg+xml', data: 'AAAA' },
      { type: 'resource', resource: { uri: 'file:///a.csv', mimeType: 'text/csv', text: 'a,b' } },
      { type: 'audio', mimeType: 'audio/wav', data: 'A'.repeat(4096) },
    ]),
  ).toEqual([
    { kind: 'picture', url: 'data:image/svg+xml;base64,AAAA', alt },
    { kind: 'text', text: 'a,b' },
    { kind: 'text', text: '[audio/wav, 3.0 KB]' },
  ]);
});

test.each([
  { type: 'image', mimeType: 'text/html', data: 'AAAA' },
  { type: 'image', mimeType: 'image/png', data: 'AAA" onerror="x' },
  { type: 'image', mimeType: 'image/png', data: 'AAAAB' },
  { type: 'resource', uri: 'file:///etc/passwd' },
  { type: 'resource', resource: { uri: 'file:///a', blob: 'AAAA' } },
])('any other content is shown as its kind: %j', (block) => {
  expect(shownContent([block])).toEqual([{ kind: 'json', text: JSON.stringify(block, null, 2) }]);
});
