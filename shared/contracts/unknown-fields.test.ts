/** Unknown fields of a value, through every kind of schema that bodies are made of. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { addServerBody, changeServerBody } from './mcp-server.ts';
import { createSessionBody } from './rest/bodies.ts';
import { unknownFields } from './unknown-fields.ts';

const inner = z.object({ a: z.string() });
const schema = z.object({
  plain: z.string(),
  optional: inner.optional(),
  nullish: inner.nullish(),
  byDefault: inner.default({ a: '' }),
  list: z.array(inner),
  named: z.record(z.string(), inner),
  either: z.union([inner, z.object({ b: z.number() })]),
  piped: inner.transform(({ a }) => a),
  free: z.unknown(),
  loose: z.looseObject({ a: z.string() }),
});

test.each([
  [{ zz: 1 }, ['zz']],
  [{ optional: { a: '', zz: 1 }, nullish: { zz: 1 } }, ['optional.zz', 'nullish.zz']],
  [{ nullish: null, byDefault: { zz: 1 } }, ['byDefault.zz']],
  [{ list: [{ a: '' }, { zz: 1 }, 'text'] }, ['list.1.zz']],
  [{ named: { any: { zz: 1 } } }, ['named.any.zz']],
  [{ either: { b: 1 } }, []],
  [{ either: { b: 1, zz: 1 } }, ['either.zz']],
  [{ piped: { zz: 1 } }, ['piped.zz']],
  [{ free: { zz: 1 }, loose: { zz: 1 } }, []],
  [{ plain: { zz: 1 } }, []],
  [JSON.parse('{"__proto__": 1, "toString": 1}'), ['__proto__', 'toString']],
  [['zz'], []],
  ['zz', []],
])('%j', (value, expected) => {
  expect(unknownFields(schema, value)).toEqual(expected);
});

test('what is the client`s own may hold anything', () => {
  const config = { transport: 'http', headers: { zz: '1' }, env: { zz: '1' }, args: ['zz'] };
  expect(unknownFields(addServerBody, { name: 'n', config })).toEqual([]);
  expect(unknownFields(changeServerBody, { headers: { zz: null } })).toEqual([]);
  const tools = [{ name: 't', inputSchema: { type: 'object', properties: { zz: { zz: 1 } } } }];
  expect(unknownFields(createSessionBody, { callerTools: { callerId: 'c', tools } })).toEqual([]);
});
