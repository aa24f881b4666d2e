/** The surface that clients rely on: names, fields, and which of them are required. */
import { expect, test } from 'vitest';
import { toolbox } from './toolbox.ts';

const execution = ['template', 'session_id', 'project_id', 'flavor', 'timeout', 'wait_seconds', 'evict_idle'];
const executed = ['session_id', 'stdout', 'stderr', 'exit_code', 'execution_time_ms', 'session_created'];

test('tools, their arguments and the fields of their results are frozen', () => {
  const surface = toolbox.map(({ name, inputSchema, outputSchema }) => [
    name,
    Object.keys(inputSchema.properties ?? {}),
    inputSchema.required ?? [],
    outputSchema.required ?? [],
  ]);
  expect(surface).toEqual([
    ['execute_code', ['code', ...execution], ['code'], executed],
    ['execute_command', ['command', 'args', ...execution], ['command'], executed],
    ['get_sessions', ['session_id'], [], ['sessions']],
    ['stop_session', ['session_id'], ['session_id'], ['session_id', 'success', 'message']],
    ['get_volume_path', ['session_id'], [], ['volume_path', 'description', 'available']],
    [
      'project',
      ['action', 'name', 'description', 'flavor', 'template', 'flavors_allowed', 'project_id', 'after'],
      ['action'],
      [],
    ],
    ['token', ['action', 'name', 'scope', 'expires_in_seconds', 'after', 'token_id'], ['action'], []],
  ]);
});

test('schemas show what values there are and name no dialect', () => {
  const text = JSON.stringify(toolbox.map(({ inputSchema, outputSchema }) => [inputSchema, outputSchema]));
  expect(text).not.toContain('$schema');
  expect(toolbox[0]?.inputSchema.properties).toMatchObject({
    template: { type: 'string', enum: ['python', 'node'] },
    flavor: { type: 'string', enum: ['micro', 'small', 'medium', 'large'] },
    timeout: { type: 'number', minimum: 1, maximum: 300, default: 30 },
  });
});
