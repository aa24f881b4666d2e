import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { defineAction, defineActionTool } from './action-tool.ts';
import type { CallContext } from './define-tool.ts';

const plant = defineActionTool({
  name: 'plant',
  description: 'Plants.',
  actions: {
    sow: defineAction({
      needs: 'own:write',
      input: z.strictObject({ seed: z.string(), depth: z.number().optional() }),
      output: z.object({ id: z.string() }),
      run: async ({ seed }) => ({ id: seed }),
    }),
    list: defineAction({
      needs: 'own:read',
      input: z.strictObject({}),
      output: z.object({ plants: z.array(z.string()) }),
      run: async () => ({ plants: ['rose'] }),
    }),
  },
  annotations: { title: 'Plant', destructiveHint: true, openWorldHint: true },
});
const run = (input: unknown, scope = 'admin') =>
  plant.run(input, { principal: { scope } } as unknown as CallContext);

test('the named action runs with its own arguments', async () => {
  expect(await run({ action: 'sow', seed: 'fern' })).toEqual({ id: 'fern' });
  expect(await run({ action: 'list' })).toEqual({ plants: ['rose'] });
});

test.each([
  [undefined, 'action parameter is required for plant tool; valid actions: sow, list'],
  [{}, 'action parameter is required for plant tool; valid actions: sow, list'],
  [{ action: null }, 'action parameter is required for plant tool; valid actions: sow, list'],
  [{ action: 'dig' }, "unknown action 'dig' for plant tool; valid actions: sow, list"],
  [{ action: 'toString' }, "unknown action 'toString' for plant tool; valid actions: sow, list"],
])('%j is refused with the valid actions', async (input, message) => {
  await expect(run(input)).rejects.toMatchObject({ code: 'invalid_request', message });
});

test('each action checks its own permission before its arguments', async () => {
  expect(plant.needs).toEqual({ sow: 'own:write', list: 'own:read' });
  expect(await run({ action: 'list' }, 'admin:ro')).toEqual({ plants: ['rose'] });
  await expect(run({ action: 'sow' }, 'admin:ro')).rejects.toMatchObject({ code: 'forbidden' });
});

test('an empty field of another action is ignored, as clients that fill every field send it', async () => {
  expect(await run({ action: 'list', seed: '', depth: null })).toEqual({ plants: ['rose'] });
  await expect(run({ action: 'list', leaf: '' })).rejects.toMatchObject({ code: 'invalid_request' });
});

test('a client sees the actions that its token allows, and their fields', () => {
  const shown = plant.shownTo((permission) => permission === 'own:read');
  expect(shown).toEqual({
    name: 'plant',
    description: 'Plants. Actions and their fields, * required: list ().',
    inputSchema: {
      type: 'object',
      properties: { action: { type: 'string', enum: ['list'], description: 'Action to perform.' } },
      required: ['action'],
      additionalProperties: false,
    },
    outputSchema: expect.anything(),
    annotations: { title: 'Plant', readOnlyHint: true, openWorldHint: false },
  });
  expect(plant.annotations).toEqual({
    title: 'Plant',
    readOnlyHint: false,
    destructiveHint: true,
    openWorldHint: true,
  });
  expect(plant.shownTo(() => false)).toBe(undefined);
});

test('a field that two actions describe differently needs one description', () => {
  const action = (description: string) =>
    defineAction({
      needs: 'any',
      input: z.strictObject({ id: z.string().describe(description) }),
      output: z.object({}),
      run: async () => ({}),
    });
  const tool = {
    ...{ name: 'x', description: 'X.', actions: { a: action('One.'), b: action('Two.') } },
    annotations: { title: 'X', openWorldHint: false },
  };
  expect(() => defineActionTool(tool)).toThrow('x: actions describe id differently');
  const described = defineActionTool({ ...tool, fields: { id: 'Both.' } });
  expect(described.inputSchema.properties?.['id']).toEqual({ type: 'string', description: 'Both.' });
});

test('a field of another action is refused', async () => {
  await expect(run({ action: 'list', seed: 'fern' })).rejects.toMatchObject({ code: 'invalid_request' });
});

test('the client sees the fields of all actions, and the actions of each field', () => {
  expect(plant.description).toBe(
    'Plants. Actions and their fields, * required: sow (seed*, depth); list ().',
  );
  expect(plant.inputSchema).toEqual({
    type: 'object',
    properties: {
      action: { type: 'string', enum: ['sow', 'list'], description: 'Action to perform.' },
      seed: { type: 'string' },
      depth: { type: 'number' },
    },
    required: ['action'],
    additionalProperties: false,
  });
  expect(plant.outputSchema).toEqual({
    type: 'object',
    anyOf: [
      { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      {
        type: 'object',
        properties: { plants: { type: 'array', items: { type: 'string' } } },
        required: ['plants'],
      },
    ],
  });
});

describe('an action with the fields of an earlier one', () => {
  const texts = (...names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, z.string().optional()]));
  const five = ['b', 'c', 'd', 'e', 'f'] as const;
  const action = (input: z.ZodObject) =>
    defineAction({ needs: 'own:write', input, output: z.object({}), run: async () => ({}) });
  const described = (update: z.ZodObject): string | undefined =>
    defineActionTool({
      ...{ name: 'x', description: 'X.', annotations: { title: 'X', openWorldHint: false } },
      actions: {
        create: action(z.strictObject({ a: z.string(), ...texts(...five), only: z.number().optional() })),
        update: action(update),
      },
    }).description.split('; ')[1];

  test('names its own fields, and those that it has not', () => {
    const own = { id: z.string(), ...texts('a', ...five, 'clear') };
    expect(described(z.strictObject(own))).toBe(
      'update (id*, clear, and those of create but only, as optional).',
    );
  });

  test('names all of them where one is required, or where fewer are shared', () => {
    expect(described(z.strictObject({ a: z.string(), ...texts(...five) }))).toBe(
      'update (a*, b, c, d, e, f).',
    );
    expect(described(z.strictObject(texts(...five)))).toBe('update (b, c, d, e, f).');
  });
});
