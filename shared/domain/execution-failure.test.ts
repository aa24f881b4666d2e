import fc from 'fast-check';
import { expect, test } from 'vitest';
import { classify, exitCodeIn, exitLine } from './execution-failure.ts';

test.each([
  [{ exitCode: 0 }, undefined],
  [{ exitCode: 0, errorLine: 'MemoryError' }, undefined],
  [{ exitCode: 1, errorLine: 'SyntaxError: invalid syntax' }, 'compilation_error'],
  [{ exitCode: 1, errorLine: 'SyntaxError' }, 'compilation_error'],
  [{ exitCode: 1, errorLine: 'IndentationError: unexpected indent' }, 'compilation_error'],
  [{ exitCode: 1, errorLine: 'TabError: inconsistent use of tabs' }, 'compilation_error'],
  [{ exitCode: 1, errorLine: 'my.SyntaxError: mine' }, 'runtime_error'],
  [{ exitCode: 1, errorLine: 'ValueError: SyntaxError: quoted' }, 'runtime_error'],
  [{ exitCode: 1, errorLine: 'ValueError: out of memory' }, 'runtime_error'],
  [{ exitCode: 1, errorLine: 'Uncaught 5' }, 'runtime_error'],
  [{ exitCode: 1, errorLine: '' }, 'code_execution_error'],
  [{ exitCode: 1, errorLine: 'MemoryError' }, 'resource_limit_exceeded'],
  [{ exitCode: 1, errorLine: 'MemoryError: no room' }, 'resource_limit_exceeded'],
  [{ exitCode: 1, errorLine: 'MemoryErrorLike: x' }, 'runtime_error'],
  [
    { exitCode: 134, signal: 'SIGABRT', errorLine: 'FATAL ERROR: x - JavaScript heap out of memory' },
    'resource_limit_exceeded',
  ],
  [{ exitCode: 134, signal: 'SIGABRT', errorLine: 'FATAL ERROR: something else' }, 'system_error'],
  [{ exitCode: 139, signal: 'SIGSEGV' }, 'system_error'],
  [{ exitCode: null }, 'system_error'],
  [{ exitCode: 126 }, 'system_error'],
  [{ exitCode: 127 }, 'system_error'],
  [{ exitCode: 1 }, 'code_execution_error'],
  [{ exitCode: 3 }, 'code_execution_error'],
  [{ exitCode: 137 }, 'code_execution_error'],
  [{ exitCode: 137, isCommand: true }, 'system_error'],
  [{ exitCode: 159, isCommand: true }, 'system_error'],
  [{ exitCode: 160, isCommand: true }, 'code_execution_error'],
  [{ exitCode: 128, isCommand: true }, 'code_execution_error'],
  [{ exitCode: null, limit: { type: 'execution_timeout', message: 'late' } }, 'execution_timeout'],
  [
    { exitCode: 1, errorLine: 'SyntaxError', limit: { type: 'resource_limit_exceeded', message: 'full' } },
    'resource_limit_exceeded',
  ],
  [{ exitCode: null, limit: { type: 'cancelled', message: 'cancelled' } }, 'cancelled'],
] as const)('%j is %s', (ending, type) => {
  expect(classify(ending)?.type).toBe(type);
});

test.each([
  [{ exitCode: 1, errorLine: 'ValueError: no' }, 'ValueError: no', ['debug_and_retry']],
  [{ exitCode: 1, errorLine: 'SyntaxError: x' }, 'SyntaxError: x', ['fix_syntax_and_retry']],
  [{ exitCode: 3 }, 'it ended with exit code 3', ['debug_and_retry']],
  [{ exitCode: 127 }, 'the program was not found (exit code 127)', ['retry_operation', 'create_new_session']],
  [
    { exitCode: 126 },
    'the program could not be run (exit code 126)',
    ['retry_operation', 'create_new_session'],
  ],
  [
    { exitCode: 137, isCommand: true },
    'killed by signal 9 (exit code 137)',
    ['retry_operation', 'create_new_session'],
  ],
  [{ exitCode: 139, signal: 'SIGSEGV' }, 'killed by SIGSEGV', ['retry_operation', 'create_new_session']],
  [{ exitCode: null }, 'killed', ['retry_operation', 'create_new_session']],
])('%j says what failed and what to do', (ending, message, recoveryActions) => {
  const failure = classify(ending);
  expect([failure?.message, failure?.recoveryActions]).toEqual([message, recoveryActions]);
  expect(failure?.suggestions.length).toBeGreaterThan(0);
});

const messageOf = (errorLine: string) => classify({ exitCode: 1, errorLine })?.message ?? '';

test('a message of five hundred characters is whole, a longer one ends after a word', () => {
  expect(messageOf('x'.repeat(500))).toBe('x'.repeat(500));
  expect(messageOf(`ValueError: ${'word '.repeat(200)}`)).toBe(
    `ValueError: ${'word '.repeat(93)}word... (truncated)`,
  );
});

test('a word that is too long to be left out is split', () => {
  expect(messageOf(`ValueError: ${'x'.repeat(600)}`)).toBe(`ValueError: ${'x'.repeat(473)}... (truncated)`);
});

test('a message without words is cut between code points', () => {
  expect(messageOf('x'.repeat(501))).toBe(`${'x'.repeat(485)}... (truncated)`);
  expect(messageOf(`x${'🙂'.repeat(400)}`)).toBe(`x${'🙂'.repeat(242)}... (truncated)`);
  expect(messageOf('🙂'.repeat(400))).toBe(`${'🙂'.repeat(242)}... (truncated)`);
});

test('a code is kept, whatever the text before it', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(255), (said, code) => {
      expect(exitCodeIn(`${said}\n${exitLine(code)}`)).toBe(code);
      expect(exitCodeIn(exitLine(code))).toBe(code);
    }),
  );
});

test.each(['', 'hello', 'Exit code: 3\nand more', 'my Exit code: 3', 'Exit code: none'])(
  'the end of %j has no note',
  (text) => {
    expect(exitCodeIn(text)).toBeUndefined();
  },
);
