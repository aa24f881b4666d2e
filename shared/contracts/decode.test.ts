/** Unknown fields of a value, through every kind of schema that bodies are made of. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { decode, decodeJson, decodeStored, unknownFields } from './decode.ts';
import { createSessionBody } from './rest/bodies.ts';
import { addServerBody, changeServerBody } from './rest/mcp-server-view.ts';

const schema = z.object({ name: z.string().max(5), size: z.number().int() });

describe('decoding', () => {
  test('returns the value, without unknown fields', () => {
    expect(decode(schema, { name: 'a', size: 1, extra: true })).toEqual({
      ok: true,
      value: { name: 'a', size: 1 },
    });
    expect(decodeJson(schema, '{"name":"a","size":1}')).toEqual({ ok: true, value: { name: 'a', size: 1 } });
  });

  test('names each wrong field and what was expected', () => {
    expect(decode(schema, { name: 5 })).toEqual({
      ok: false,
      problem: 'name: must be a text, not a number; size: is required',
    });
    expect(decode(schema, [])).toEqual({
      ok: false,
      problem: 'the value must be an object, not a list',
    });
  });

  test('names five problems at most', () => {
    const result = decode(z.array(z.string()), [1, 2, 3, 4, 5, 6, 7]);
    expect(!result.ok && result.problem.split('; ')).toHaveLength(5);
  });

  test.each(['', '{', 'undefined', '{"name": secret}'])('%j is not JSON, and is not repeated', (text) => {
    expect(decodeJson(schema, text)).toEqual({ ok: false, problem: 'the text is not JSON' });
  });

  test('accepts a whole character or none', () => {
    const decoded = (name: string) => decodeJson(schema, `{"name":"${name}","size":1}`);
    expect(decoded('\\ud83d\\ude00')).toEqual({ ok: true, value: { name: '😀', size: 1 } });
    expect(decoded('\\\\uD8')).toEqual({ ok: true, value: { name: '\\uD8', size: 1 } });
    const problem = 'the text has half of a character: a surrogate without its pair';
    expect(decoded('\\uD83D')).toEqual({ ok: false, problem });
    expect(decoded('\\ude00\\ud83d')).toEqual({ ok: false, problem });
    expect(decodeJson(schema, '{"name":"a","size":1,"more":[{"\\ud83d":1}]}')).toEqual({
      ok: false,
      problem,
    });
  });
});

test('the message about a wrong value never contains the value', () => {
  const strict = z.object({
    kind: z.enum(['a', 'b']),
    id: z.uuid(),
    short: z.string().max(3),
    literal: z.literal('x'),
    count: z.number().max(9),
  });
  const secret = fc.stringMatching(/^secret-[0-9a-f]{8}$/);
  fc.assert(
    fc.property(secret, (value) => {
      const wrong = { kind: value, id: value, short: value, literal: value, count: value };
      const result = decode(strict, wrong);
      expect(result.ok).toBe(false);
      expect(JSON.stringify(result)).not.toContain(value);
    }),
  );
});

test('a stored record of another schema stops the handler, without its value', () => {
  expect(decodeStored(schema, { name: 'a', size: 1 })).toEqual({ name: 'a', size: 1 });
  expect(() => decodeStored(schema, { name: 'a', size: 'secret' })).toThrow(
    new Error('a stored record has an unknown shape: size: must be a number, not a text'),
  );
});

describe('unknown fields', () => {
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
    [JSON.parse('{"named": {"a": {}, "__proto__": {}}}'), ['named.__proto__']],
    [['zz'], []],
    ['zz', []],
  ])('%j', (value, expected) => {
    expect(unknownFields(schema, value)).toEqual(expected);
  });

  test('the client`s own objects may have any fields', () => {
    const config = { transport: 'http', headers: { zz: '1' }, env: { zz: '1' }, args: ['zz'] };
    expect(unknownFields(addServerBody, { name: 'n', config })).toEqual([]);
    expect(unknownFields(changeServerBody, { headers: { zz: null } })).toEqual([]);
    const tools = [{ name: 't', inputSchema: { type: 'object', properties: { zz: { zz: 1 } } } }];
    expect(unknownFields(createSessionBody, { callerTools: { callerId: 'c', tools } })).toEqual([]);
  });
});
