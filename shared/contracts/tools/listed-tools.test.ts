import { expect, test } from 'vitest';
import { decodeTools } from './listed-tools.ts';

const inputSchema = { type: 'object', properties: { a: { type: 'string' } } };

test('a tool is its name, its description and its schema', () => {
  expect(
    decodeTools([
      {
        name: 'notes.search/v2',
        description: 'finds',
        inputSchema,
        annotations: { readOnlyHint: true },
        _meta: {},
      },
      { name: 'bare', inputSchema },
      { name: 'odd', description: 7, inputSchema },
    ]),
  ).toEqual([
    { name: 'notes.search/v2', description: 'finds', inputSchema },
    { name: 'bare', inputSchema },
    { name: 'odd', inputSchema },
  ]);
});

test('a description has no half of a character', () => {
  const [tool] = decodeTools([{ name: 'a', description: 'x\ud83d', inputSchema }]);
  expect(tool?.description).toBe('x\ufffd');
});

test('a long description is cut', () => {
  const [tool] = decodeTools([{ name: 'a', description: 'x'.repeat(10_000), inputSchema }]);
  expect(tool?.description?.length).toBeLessThanOrEqual(4000);
});

const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);

test.each([
  [{ name: '', inputSchema }],
  [{ name: 'a b', inputSchema }],
  [{ name: 'a\u0000', inputSchema }],
  [{ name: 'x'.repeat(129), inputSchema }],
  [{ name: 1, inputSchema }],
  [{ name: 'a' }],
  [{ name: 'a', inputSchema: 'x' }],
  [{ name: 'a', inputSchema: [] }],
  [{ name: 'a', inputSchema: null }],
  [{ name: 'a', inputSchema: { type: 'array' } }],
  [{ name: 'a', inputSchema: { type: 'object', x: 'y'.repeat(65_536) } }],
  [{ name: 'a', inputSchema: { type: 'object', x: nested(40) } }],
  [{ name: 'a', inputSchema: { type: 'object', description: '\ud83d' } }],
  [{ name: 'a', inputSchema: { type: 'object', properties: { '\udc00': {} } } }],
  [{ name: 'a', inputSchema: { type: 'object', x: nested(20_000) } }],
])('an invalid tool is left out', (tool) => {
  expect(decodeTools([tool, { name: 'good', inputSchema }])).toEqual([{ name: 'good', inputSchema }]);
});

test('the first tool of a name is kept', () => {
  expect(decodeTools([1, 2].map((n) => ({ name: 'a', description: `${n}`, inputSchema })))).toEqual([
    { name: 'a', description: '1', inputSchema },
  ]);
});
