import { expect, test } from 'vitest';
import * as z from 'zod';
import { meaningfulEmpty, withoutAbsent } from './absent-arguments.ts';

const schema = z.strictObject({
  name: z.string(),
  note: z.string().optional(),
  size: z.preprocess((value) => value, z.enum(['small', 'large'])).optional(),
  count: z.int().default(3),
  list: z.array(z.string()).max(3).optional(),
  targets: z.array(z.strictObject({ id: z.string(), path: z.string().optional() })).optional(),
  anything: z.unknown().optional(),
  tools: z.array(z.string()).optional().register(meaningfulEmpty, { meaning: 'withdraws' }),
});

test.each([[null], [''], [[]]])('an optional field with %j is absent', (empty) => {
  const given = { name: 'a', note: empty, size: empty, count: empty, list: empty, targets: empty };
  expect(withoutAbsent(schema, given)).toEqual({ name: 'a' });
});

test('a required field stays, whatever it is', () => {
  expect(withoutAbsent(schema, { name: '' })).toEqual({ name: '' });
  expect(withoutAbsent(schema, { name: [] })).toEqual({ name: [] });
});

test('values that say something stay', () => {
  const given = { name: 'a', note: ' ', count: 0, list: [''], targets: [{ id: 'x' }] };
  expect(withoutAbsent(schema, given)).toEqual(given);
});

test('fields of objects in lists are absent alike', () => {
  expect(withoutAbsent(schema, { name: 'a', targets: [{ id: '', path: '' }] })).toEqual({
    name: 'a',
    targets: [{ id: '' }],
  });
});

test('a value of any type is absent only as null, and a list whose emptiness means something not as that', () => {
  expect(withoutAbsent(schema, { name: 'a', anything: [], tools: [] })).toEqual({
    name: 'a',
    anything: [],
    tools: [],
  });
  expect(withoutAbsent(schema, { name: 'a', anything: null, tools: null })).toEqual({ name: 'a' });
  expect(withoutAbsent(schema, { name: 'a', anything: '', tools: '' })).toEqual({ name: 'a', anything: '' });
});

test('an unknown field stays to be refused, but for null', () => {
  expect(withoutAbsent(schema, { name: 'a', other: '', more: null })).toEqual({ name: 'a', other: '' });
});

test('the alternative of a union is the one that its literal names', () => {
  const union = z.discriminatedUnion('action', [
    z.object({ action: z.literal('one'), text: z.string() }),
    z.object({ action: z.literal('two'), text: z.string().optional() }),
  ]);
  expect(withoutAbsent(union, { action: 'one', text: '' })).toEqual({ action: 'one', text: '' });
  expect(withoutAbsent(union, { action: 'two', text: '' })).toEqual({ action: 'two' });
  expect(withoutAbsent(union, { action: 'three', text: '' })).toEqual({ action: 'three', text: '' });
});

test.each([undefined, 'text', 7, [1]])('%j, which is no object, stays', (value) => {
  expect(withoutAbsent(schema, value)).toEqual(value);
});
