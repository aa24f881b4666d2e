import { expect, test } from 'vitest';
import type { Executed } from '#shared/application/execution/execute.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { Session } from '#shared/domain/session.ts';
import { displayedContent, toExecutionResult } from './execute.ts';

const finished = { stdout: 'hi\n', stderr: '', exit_code: 0, execution_time_ms: 12 };

const executed = (structured: JsonObject, more: Partial<Executed> = {}): Executed => ({
  session: { id: 's-1' } as unknown as Session,
  sessionCreated: false,
  content: [],
  structured,
  stateLost: false,
  generation: 1,
  notices: [],
  ...more,
});

const plain = {
  session_id: 's-1',
  stdout: 'hi\n',
  stderr: '',
  exit_code: 0,
  execution_time_ms: 12,
  session_created: false,
};
const resultOf = (structured: JsonObject, tool: 'execute_code' | 'execute_command' = 'execute_code') =>
  toExecutionResult(executed({ ...finished, ...structured }), tool);

test('a program that ended with 0 is a plain result, whatever it printed', () => {
  expect(resultOf({})).toEqual(plain);
  expect(resultOf({ stdout: 'out of memory' })).toEqual({ ...plain, stdout: 'out of memory' });
  expect(resultOf({ stderr: 'UserWarning: MemoryError' })).toEqual({
    ...plain,
    stderr: 'UserWarning: MemoryError',
  });
});

test('a program that ended otherwise is a result with an error and advice', () => {
  expect(resultOf({ exit_code: 3 })).toEqual({
    ...plain,
    exit_code: 3,
    error: {
      type: 'code_execution_error',
      message: 'it ended with exit code 3',
      suggestions: ['Read what it printed to stdout and stderr.'],
      recovery_actions: ['debug_and_retry'],
    },
  });
});

test.each([
  ['execute_code', { exit_code: 1, error_line: 'SyntaxError: no' }, 'compilation_error'],
  ['execute_code', { exit_code: 1, error_line: 'ValueError: no' }, 'runtime_error'],
  ['execute_code', { exit_code: 139, signal: 'SIGSEGV', state_lost: true }, 'system_error'],
  ['execute_code', { exit_code: 137 }, 'code_execution_error'],
  ['execute_command', { exit_code: 137 }, 'system_error'],
  ['execute_command', { exit_code: 127 }, 'system_error'],
] as const)('%s with %j is %s, and the reason is not shown', (tool, structured, type) => {
  const result = resultOf(structured, tool);
  expect(result.error?.type).toBe(type);
  expect(result).not.toHaveProperty('error_line');
  expect(result).not.toHaveProperty('signal');
});

test('a state that only the interpreter lost counts as lost', () => {
  expect(resultOf({ state_lost: true })).toEqual({ ...plain, state_lost: true });
});

test('measurements of the sandbox and lost state are reported', () => {
  const structured = {
    ...finished,
    stdout_truncated: true,
    cpu_ms: 4,
    memory_peak_mb: 30.5,
    something_new: 'dropped',
  };
  const more = { sessionCreated: true, stateLost: true, notices: ['[gone]'] };
  expect(toExecutionResult(executed(structured, more), 'execute_code')).toEqual({
    session_id: 's-1',
    stdout: 'hi\n',
    stderr: '',
    exit_code: 0,
    execution_time_ms: 12,
    session_created: true,
    stdout_truncated: true,
    cpu_ms: 4,
    memory_peak_mb: 30.5,
    state_lost: true,
    notices: ['[gone]'],
  });
});

test.each([
  ['execution_timeout', 124, ['wait_and_retry', 'retry_with_optimization']],
  ['resource_limit_exceeded', 137, ['create_new_session', 'retry_with_optimization']],
  ['cancelled', 137, ['retry_operation']],
])('a program killed for %s has an exit code and advice', (type, exitCode, recoveryActions) => {
  const structured = { ...finished, exit_code: null, error: { type, message: 'why' } };
  const result = toExecutionResult(executed(structured), 'execute_code');
  expect(result.exit_code).toBe(exitCode);
  expect(result.error).toEqual({
    type,
    message: 'why',
    suggestions: expect.arrayContaining([expect.any(String)]),
    recovery_actions: recoveryActions,
  });
});

test('a message of any length is cut', () => {
  const error = { type: 'system_error', message: 'x'.repeat(10_000) };
  expect(
    toExecutionResult(executed({ ...finished, error }), 'execute_code').error?.message.length,
  ).toBeLessThanOrEqual(500);
});

test.each([
  [{}],
  [{ ...finished, exit_code: '0' }],
  [{ ...finished, execution_time_ms: -1 }],
  [{ ...finished, error: { type: 'made_up', message: 'x' } }],
])('%j is not a result of a sandbox', (structured) => {
  expect(() => toExecutionResult(executed(structured), 'execute_code')).toThrow(
    'the sandbox gave a result of an unknown shape',
  );
});

const text = { type: 'text', text: 'the result' };
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };

test('content after the text of the result is shown', () => {
  expect(displayedContent([text, image, { type: 'text', text: 'more', extra: 1 }])).toEqual([
    image,
    { type: 'text', text: 'more' },
  ]);
  expect(displayedContent([text])).toEqual([]);
  expect(displayedContent([text, image], '2')).toEqual([image, { type: 'text', text: '2' }]);
  expect(displayedContent([text], { no: 'text' })).toEqual([]);
  expect(displayedContent([])).toEqual([]);
});

test.each([
  [{ type: 'image', data: 'no base64!', mimeType: 'image/png' }],
  [{ type: 'image', data: 'AAAA', mimeType: 'text/html' }],
  [{ type: 'image', data: 'AAAA', mimeType: 'image/png; x=y' }],
  [{ type: 'resource', uri: 'file:///etc/passwd' }],
  [{ type: 'text' }],
])('%j is dropped', (block) => {
  expect(displayedContent([text, block, image])).toEqual([image]);
});

test('data for people leaves room for what a model sees', () => {
  const data = { type: 'resource', resource: { uri: 'sallyport:result', text: '{}' } };
  const pairs = Array.from({ length: 9 }, () => [image, data]).flat();
  expect(displayedContent([text, ...pairs])).toHaveLength(9);
});

test('content over the sandbox’s own limits is dropped', () => {
  expect(displayedContent([text, ...Array.from({ length: 20 }, () => image)])).toHaveLength(10);
  const large = { ...image, data: 'A'.repeat(4 * 1_048_576) };
  expect(displayedContent([text, large, large, image])).toEqual([large]);
});
