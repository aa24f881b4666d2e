import { expect, test } from 'vitest';
import * as z from 'zod';
import { executeCodeArguments } from '#shared/contracts/tools/mcp-tools.ts';
import { createProjectArguments } from '#shared/contracts/tools/project-tool.ts';
import { isAppError } from '#shared/errors.ts';
import { type CallContext, defineTool, parseArguments } from './define-tool.ts';

const refusal = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    if (isAppError(error)) return { code: error.code, message: error.message, ...error.details };
  }
  return undefined;
};

test('an invalid size has its own code', () => {
  const invalid = {
    code: 'invalid_flavor',
    suggestions: ['Leave out the flavor to use the default.'],
    recoveryActions: ['use_small_flavor'],
  };
  expect(refusal(() => parseArguments(executeCodeArguments, { code: 'x', flavor: 'xl' }))).toEqual({
    ...invalid,
    message: 'flavor: use one of micro, small, medium, large',
  });
  expect(
    refusal(() => parseArguments(createProjectArguments, { name: 'p', flavors_allowed: ['xl'] })),
  ).toEqual({ ...invalid, message: 'flavors_allowed.0: use one of micro, small, medium, large' });
});

test('an invalid language has its own code', () => {
  expect(refusal(() => parseArguments(executeCodeArguments, { code: 'x', template: 'ruby' }))).toEqual({
    code: 'unsupported_language',
    message: 'template: use one of python, node',
    suggestions: ['Leave out the template to use the default.'],
    recoveryActions: ['use_python_template', 'use_node_template'],
  });
});

test('any other error is an invalid request that names the field', () => {
  expect(refusal(() => parseArguments(executeCodeArguments, { code: 'x', timeout: 0 }))).toEqual({
    code: 'invalid_request',
    message: 'timeout: a number of seconds from 1 to 3600',
    suggestions: ['Correct the arguments as the message says.'],
    recoveryActions: ['correct_arguments'],
  });
  expect(refusal(() => parseArguments(executeCodeArguments, { code: 'x', constructor: 1 }))?.code).toBe(
    'invalid_request',
  );
});

test('half of a character is refused, wherever it is, as in a body of the REST API', () => {
  const input = z.strictObject({ deep: z.array(z.strictObject({ text: z.string() })) });
  expect(refusal(() => parseArguments(input, { deep: [{ text: '\ud83d' }] }))).toEqual({
    code: 'invalid_request',
    message: 'the arguments have half of a character: a surrogate without its pair',
    suggestions: ['Correct the arguments as the message says.'],
    recoveryActions: ['correct_arguments'],
  });
  expect(parseArguments(input, { deep: [{ text: '\ud83d\ude00' }] })).toEqual({ deep: [{ text: '😀' }] });
});

test('an optional argument that says nothing is absent, and no arguments are an empty object', () => {
  const input = z.strictObject({ id: z.string().optional() });
  expect(parseArguments(input, { id: '' })).toEqual({});
  expect(parseArguments(input, { id: [] })).toEqual({});
  expect(parseArguments(input, { id: null })).toEqual({});
  expect(parseArguments(input, undefined)).toEqual({});
});

const annotations = { title: 'Double', readOnlyHint: false, openWorldHint: false };

test('a tool shows plain object schemas and runs with parsed arguments', async () => {
  const tool = defineTool({
    name: 'double',
    description: 'Doubles.',
    needs: 'own:write',
    input: z.strictObject({ value: z.number().default(2) }),
    output: z.object({ doubled: z.number(), intent: z.string() }),
    annotations,
    run: async ({ value }, { intent }) => ({ doubled: value * 2, intent }),
  });
  const { run, shownTo: _, ...shown } = tool;
  expect(shown).toEqual({
    name: 'double',
    description: 'Doubles.',
    needs: 'own:write',
    annotations,
    inputSchema: {
      type: 'object',
      properties: { value: { type: 'number', default: 2 } },
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: { doubled: { type: 'number' }, intent: { type: 'string' } },
      required: ['doubled', 'intent'],
    },
  });
  const contextOf = (scope: string) => ({ principal: { scope } }) as unknown as CallContext;
  expect(await run({}, contextOf('admin'))).toEqual({ doubled: 4, intent: 'write' });
  await expect(run({ value: 'x' }, contextOf('admin:ro'))).rejects.toMatchObject({ code: 'forbidden' });
});
