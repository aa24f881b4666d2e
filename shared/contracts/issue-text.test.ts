import { expect, test } from 'vitest';
import * as z from 'zod';
import { describeIssues, inPlainWords } from './issue-text.ts';

const problemOf = (schema: z.ZodType, value: unknown): string => {
  const { error } = z.object({ f: schema }).safeParse({ f: value }, inPlainWords);
  return describeIssues(error?.issues ?? [], 'the value');
};

const choice = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('a') }),
  z.object({ kind: z.literal('b') }),
]);

test.each<[schema: z.ZodType, value: unknown, problem: string]>([
  [z.string(), undefined, 'f: is required'],
  [z.string(), 5, 'f: must be a text, not a number'],
  [z.string(), null, 'f: must be a text, not null'],
  [z.string(), [], 'f: must be a text, not a list'],
  [z.number(), '5', 'f: must be a number, not a text'],
  [z.number(), Number.NaN, 'f: must be a number'],
  [z.coerce.number(), 'x', 'f: must be a number'],
  [z.int(), 1.5, 'f: must be a whole number'],
  [z.int(), '1', 'f: must be a number, not a text'],
  [z.boolean(), 'true', 'f: must be true or false, not a text'],
  [z.array(z.string()), {}, 'f: must be a list, not an object'],
  [z.array(z.string()), ['a', 1], 'f.1: must be a text, not a number'],
  [z.object({}), true, 'f: must be an object, not true or false'],
  [z.record(z.string(), z.string()), 1, 'f: must be an object, not a number'],
  [z.record(z.string().max(2), z.string()), { long: 'x' }, 'f.long: is no allowed name'],
  [z.never(), 1, 'f: is not allowed'],
  [z.date(), 'x', 'f: must be a time, not a text'],
  [z.literal('x'), 'y', 'f: must be "x"'],
  [z.literal(1), 2, 'f: must be 1'],
  [z.enum(['a', 'b']), 'c', 'f: must be one of "a", "b"'],
  [z.string().min(1), '', 'f: must not be empty'],
  [z.string().min(3), 'a', 'f: must have at least 3 characters'],
  [z.string().max(1), 'abc', 'f: must have at most 1 character'],
  [z.string().length(2), 'abc', 'f: must have exactly 2 characters'],
  [z.array(z.int()).max(2), [1, 2, 3], 'f: must have at most 2 items'],
  [z.array(z.int()).min(1), [], 'f: must not be empty'],
  [z.number().min(1), 0, 'f: must be at least 1'],
  [z.number().max(9), 10, 'f: must be at most 9'],
  [z.number().gt(1), 1, 'f: must be more than 1'],
  [z.number().lt(9), 9, 'f: must be less than 9'],
  [z.number().multipleOf(5), 4, 'f: must be a multiple of 5'],
  [z.uuid(), 'x', 'f: must be a UUID'],
  [z.guid(), 'x', 'f: must be a UUID'],
  [z.url(), 'x', 'f: must be a URL'],
  [z.iso.datetime(), 'x', 'f: must be a time in ISO 8601'],
  [z.base64(), '%', 'f: must be a text in base64'],
  [z.jwt(), 'x', 'f: has a form that is not allowed'],
  [z.string().regex(/^[a-z]+$/), '1', 'f: must match /^[a-z]+$/'],
  [z.string().regex(/^[a-z]+$/, 'has small letters only'), '1', 'f: has small letters only'],
  [z.string().startsWith('/'), 'x', 'f: must begin with "/"'],
  [z.string().endsWith('/'), 'x', 'f: must end with "/"'],
  [z.string().includes('/'), 'x', 'f: must contain "/"'],
  [z.strictObject({}), { a: 1 }, 'f: has no field "a"'],
  [z.strictObject({}), { a: 1, b: 2 }, 'f: has no field "a" and no field "b"'],
  [z.union([z.string(), z.int()]), true, 'f: must be a text or a number'],
  [z.union([z.literal('x'), z.object({ a: z.string() })]), { a: 1 }, 'f.a: must be a text, not a number'],
  [z.union([z.literal('x'), z.object({ a: z.string() })]), {}, 'f.a: is required'],
  [z.union([z.literal('x'), z.object({ a: z.string() })]), 'y', 'f: must be "x" or an object'],
  [z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), {}, 'f: is not allowed'],
  [z.union([z.string(), z.int()], { error: 'use a name or a number' }), true, 'f: use a name or a number'],
  [choice, { kind: 'c' }, 'f.kind: must be one of "a", "b"'],
  [choice, {}, 'f.kind: must be one of "a", "b"'],
  [z.custom((value) => value === 1), 2, 'f: is not allowed'],
  [z.string().refine(() => false), 'x', 'f: is not allowed'],
  [z.string().refine(() => false, 'ends too soon'), 'x', 'f: ends too soon'],
])('%#: %o refused: %o', (...[schema, value, problem]) => {
  expect(problemOf(schema, value)).toBe(problem);
});

test('a problem of the whole value has it as its subject', () => {
  const whole = (schema: z.ZodType, value: unknown): string =>
    describeIssues(schema.safeParse(value, inPlainWords).error?.issues ?? [], 'the value');
  expect(whole(z.object({}), [])).toBe('the value must be an object, not a list');
  expect(whole(z.strictObject({}), { a: 1 })).toBe('the value has no field "a"');
  const name = z.object({}).refine(() => false, 'name a field');
  expect(whole(name, {})).toBe('name a field');
});
