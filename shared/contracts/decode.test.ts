import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { decode, decodeJson, decodeStored } from './decode.ts';

const schema = z.object({ name: z.string().max(5), size: z.number().int() });

describe('decoding', () => {
  test('gives the value, without what nobody asked for', () => {
    expect(decode(schema, { name: 'a', size: 1, extra: true })).toEqual({
      ok: true,
      value: { name: 'a', size: 1 },
    });
    expect(decodeJson(schema, '{"name":"a","size":1}')).toEqual({ ok: true, value: { name: 'a', size: 1 } });
  });

  test('names each wrong field and what was expected', () => {
    expect(decode(schema, { name: 5 })).toEqual({
      ok: false,
      problem:
        'name: Invalid input: expected string, received number; size: Invalid input: expected number, received undefined',
    });
    expect(decode(schema, [])).toEqual({
      ok: false,
      problem: 'Invalid input: expected object, received array',
    });
  });

  test('names five problems at most', () => {
    const result = decode(z.array(z.string()), [1, 2, 3, 4, 5, 6, 7]);
    expect(!result.ok && result.problem.split('; ')).toHaveLength(5);
  });

  test.each(['', '{', 'undefined', '{"name": secret}'])('%j is not JSON, and is not repeated', (text) => {
    expect(decodeJson(schema, text)).toEqual({ ok: false, problem: 'the text is not JSON' });
  });

  test('takes a character whole or not at all', () => {
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

test('what is said of a wrong value never holds the value', () => {
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

test('a stored record of another shape stops the handler, without its value', () => {
  expect(decodeStored(schema, { name: 'a', size: 1 })).toEqual({ name: 'a', size: 1 });
  expect(() => decodeStored(schema, { name: 'a', size: 'secret' })).toThrow(
    new Error('a stored record has an unknown shape: size: Invalid input: expected number, received string'),
  );
});
