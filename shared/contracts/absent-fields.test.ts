import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { withoutNulls } from './absent-fields.ts';
import { decode } from './decode.ts';
import { changeServerBody } from './rest/mcp-server-view.ts';
import { updateProjectBody } from './rest/project-bodies.ts';
import { updateSessionBody } from './rest/session-bodies.ts';

const schema = z.object({
  name: z.string(),
  note: z.string().optional(),
  exact: z.string().exactOptional(),
  count: z.int().default(3),
  list: z.array(z.object({ id: z.string(), path: z.string().optional() })).optional(),
  inner: z.object({ size: z.number().optional() }).optional(),
  texts: z.record(z.string(), z.string()).optional(),
  anything: z.unknown().optional(),
  checked: z
    .unknown()
    .refine((value) => value !== null)
    .optional(),
  either: z
    .union([z.literal('none'), z.object({ allow: z.string(), more: z.string().optional() })])
    .optional(),
});

describe('null', () => {
  test.each([
    [{ name: 'a', note: null, exact: null, count: null, list: null, checked: null }, { name: 'a' }],
    [{ list: [{ id: 'x', path: null }, { path: null }] }, { list: [{ id: 'x' }, {}] }],
    [{ inner: { size: null } }, { inner: {} }],
    [{ either: { allow: 'a', more: null } }, { either: { allow: 'a' } }],
  ])('in an optional field is absent: %j', (given, left) => {
    expect(withoutNulls(schema, given)).toEqual(left);
  });

  test.each([
    { name: null },
    { other: null },
    { anything: null },
    { anything: { deep: null } },
    { texts: { key: null } },
    { list: [null] },
    { list: [{ id: null }] },
    { either: { allow: null } },
    null,
    [null],
    'text',
  ])('stays in %j', (value) => {
    expect(withoutNulls(schema, value)).toEqual(value);
  });

  test.each([
    [updateSessionBody, { title: null, network: null }],
    [updateProjectBody, { name: null, model: null, limits: { maxCostUsd: null } }],
    [changeServerBody, { config: { transport: null, url: null, headers: { key: null } } }],
    [changeServerBody, { description: null }],
  ])('stays where null removes other fields', (body, value) => {
    expect(withoutNulls(body, value)).toEqual(value);
  });
});

test('an empty text or list says something', () => {
  const given = { name: '', note: '', list: [], anything: '' };
  expect(withoutNulls(schema, given)).toEqual(given);
});

test('a field named __proto__ stays a field', () => {
  const given = JSON.parse('{"name": "a", "note": null, "__proto__": {"count": 1}}');
  expect(JSON.stringify(withoutNulls(schema, given))).toBe('{"name":"a","__proto__":{"count":1}}');
});

test('a wrong field is named by the path that it had', () => {
  const given = { name: 'a', note: null, list: [{ id: 'x', path: null }, { id: null }] };
  expect(decode(schema, withoutNulls(schema, given))).toEqual({
    ok: false,
    problem: 'list.1.id: must be a text, not null',
  });
});
