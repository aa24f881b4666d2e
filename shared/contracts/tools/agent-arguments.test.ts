/** Arguments of an agent's own tools, as a person may change them. */
import { expect, test } from 'vitest';
import type { JsonObject } from '#shared/domain/json.ts';
import { argumentsProblem } from './agent-arguments.ts';

test.each<[string, JsonObject]>([
  ['execute_command', { command: 'echo', args: [], background: true, cwd: '' }],
  ['execute_code', { code: '1', language: 'python', timeout: 5 }],
  ['read_file', { path: 'a' }],
  ['write_file', { path: 'a', content: '' }],
  ['list_files', {}],
  ['process', { action: 'list' }],
  ['session', { action: 'list' }],
  ['server_tool', { anything: 1 }],
  ['toString', {}],
])('of %s are taken: %j', (name, args) => {
  expect(argumentsProblem(name, args)).toBeUndefined();
});

test.each<[string, JsonObject, string]>([
  ['execute_command', {}, 'command'],
  ['execute_command', { command: 'echo', nonsense: 1 }, 'nonsense'],
  ['execute_code', { code: '1', language: 'ruby' }, 'language'],
  ['execute_code', { code: '1', language: 'python', timeout: 0 }, 'timeout'],
  ['read_file', {}, 'path'],
  ['write_file', { path: 'a' }, 'content'],
  ['list_files', { path: 5 }, 'path'],
  ['process', { action: 'unknown' }, 'action'],
  ['session', { action: 'unknown' }, 'action'],
])('of %s are refused by name: %j', (name, args, field) => {
  expect(argumentsProblem(name, args)).toContain(field);
});
