/** The built-in tools as a language model is offered them. */
import { expect, test } from 'vitest';
import { agentProcessTool, sandboxToolSpecs } from './offered-tools.ts';
import { sandboxTools } from './sandbox-tools.ts';

const timeout = {
  type: 'integer',
  minimum: 1,
  maximum: 3600,
  description: 'Timeout in seconds, 30 by default.',
};
const background = {
  type: 'boolean',
  description: 'True: start it as a process and return its id at once; see the tool process. No timeout.',
};
const path = { type: 'string', description: 'Path in the workspace, relative to /workspace.' };
const object = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

test('a language model is offered the parameters within the bounds of the sandbox', () => {
  expect(Object.fromEntries(sandboxToolSpecs().map(({ name, inputSchema }) => [name, inputSchema]))).toEqual({
    execute_command: object(
      { command: { type: 'string', description: 'Bash line to run.' }, timeout, background },
      ['command'],
    ),
    execute_code: object(
      {
        code: { type: 'string', description: 'Code to run.' },
        language: { type: 'string', enum: ['python', 'node'] },
        timeout,
        background,
      },
      ['code', 'language'],
    ),
    read_file: object({ path }, ['path']),
    write_file: object({ path, content: { type: 'string', description: 'Complete new text.' } }, [
      'path',
      'content',
    ]),
    list_files: object(
      { path: { type: 'string', description: 'Path of the folder; absent: the workspace itself.' } },
      [],
    ),
  });
});

test('a call that follows the offer is parsed by the sandbox', () => {
  const calls = {
    execute_command: { command: 'ls', timeout: 3600 },
    execute_code: { code: 'print(1)', language: 'python' },
    read_file: { path: 'a' },
    write_file: { path: 'a', content: '' },
    list_files: {},
  } as const;
  for (const { name } of sandboxToolSpecs()) {
    const tool = name as keyof typeof sandboxTools;
    expect(sandboxTools[tool].input.safeParse(calls[tool]).success).toBe(true);
  }
});

test('the tool process has plain properties, which become a strict schema', () => {
  const { properties, required, additionalProperties } = agentProcessTool().inputSchema;
  expect({ required, additionalProperties }).toEqual({ required: ['action'], additionalProperties: false });
  const kinds = Object.entries(properties as object).map(([name, { type }]) => [name, type]);
  expect(Object.fromEntries(kinds)).toEqual({
    ...{ action: 'string', process_id: 'string', offset: 'integer', output_limit: 'integer' },
    ...{ wait_seconds: 'integer', text: 'string', eof: 'boolean', signal: 'string' },
  });
});
