import { expect, test } from 'vitest';
import { visibleText } from '#shared/domain/visible-text.ts';
import { exitOf, summarizeCall } from './call-summary.ts';

const code = (language: string, text: string, field?: string) => ({
  kind: 'code',
  language,
  code: text,
  ...(field === undefined ? {} : { field }),
});

test.each([
  ['execute_command', { command: 'ls -l' }, 'Run a command', code('bash', 'ls -l', 'command')],
  ['execute_code', { language: 'node', code: '1' }, 'Run Node.js code', code('node', '1', 'code')],
  [
    'write_file',
    { path: 'a.txt', content: 'x' },
    'Write a.txt',
    { kind: 'file', path: 'a.txt', content: 'x', field: 'content' },
  ],
  ['read_file', { path: 'a.txt' }, 'Read a.txt', { kind: 'none' }],
  ['list_files', {}, 'List the workspace', { kind: 'none' }],
  [
    'session',
    { action: 'spawn', prompt: 'Count the files' },
    'Start another agent',
    code('text', 'Count the files', 'prompt'),
  ],
  [
    'execute_command',
    { command: 'make', background: true },
    'Run a command in the background',
    code('bash', 'make', 'command'),
  ],
  ['process', { action: 'list' }, 'List the processes', { kind: 'none' }],
  [
    'process',
    { action: 'output', process_id: 'p', offset: 5, wait_seconds: 9 },
    'Read the output of process p from byte 5 on, waiting 9 s at most',
    { kind: 'none' },
  ],
  [
    'process',
    { action: 'input', process_id: 'p', text: 'yes\n', eof: true },
    'Write to process p, and close its input',
    code('text', 'yes\n', 'text'),
  ],
  [
    'process',
    { action: 'signal', process_id: 'p', signal: 'SIGINT' },
    'Send SIGINT to process p',
    { kind: 'none' },
  ],
  ['process', { action: 'kill', process_id: 'p' }, 'End process p', { kind: 'none' }],
  ['other', { a: 1 }, 'Call other', code('json', '{\n  "a": 1\n}')],
])('%s is described in words', (name, args, ...[title, form]) => {
  expect(summarizeCall(name, args)).toMatchObject({ title, form });
});

test('an argument that a form would hide makes all of them visible', () => {
  expect(summarizeCall('execute_command', { command: 'ls', args: ['-l', '/'] })).toMatchObject({
    title: 'Call execute_command',
    form: code('json', '{\n  "command": "ls",\n  "args": [\n    "-l",\n    "/"\n  ]\n}'),
  });
  expect(summarizeCall('execute_command', { command: 'ls', path: '/etc' }).title).toBe(
    'Call execute_command',
  );
  expect(summarizeCall('read_file', { path: 'a', encoding: 'x' }).title).toBe('Call read_file');
  // Of a process in the background a timeout says nothing.
  const timed = { command: 'ls', timeout: 9, background: true };
  expect(summarizeCall('execute_command', timed).title).toBe('Call execute_command');
  expect(summarizeCall('process', { action: 'kill', process_id: 'p', text: 'x' }).title).toBe('Call process');
  expect(summarizeCall('process', { action: 'input', process_id: 'p', signal: 'x' }).title).toBe(
    'Call process',
  );
  expect(summarizeCall('session', { action: 'spawn', prompt: 'x', model: 'y' }).title).toBe('Call session');
});

test('a name that is too long for a title, or contains a line break, is shown with all arguments', () => {
  expect(summarizeCall('read_file', { path: 'a/'.repeat(101) }).title).toBe('Call read_file');
  expect(summarizeCall('write_file', { path: 'a\nb', content: '' }).title).toBe('Call write_file');
});

test('a timeout is shown beside it', () => {
  expect(summarizeCall('execute_command', { command: 'ls', timeout: 9 })).toMatchObject({
    title: 'Run a command, 9 s at most',
    form: code('bash', 'ls', 'command'),
  });
});

test('invisible characters are shown by number', () => {
  expect(visibleText('a\u202Eb\u200Bc\u001Bd\re\tf\n')).toBe('a⟦U+202E⟧b⟦U+200B⟧c⟦U+001B⟧d⟦U+000D⟧e\tf\n');
  expect(visibleText('grüße 世界 👋')).toBe('grüße 世界 👋');
});

test.each([
  ['execute_command', 'no such file\nExit code: 2', 2],
  ['execute_code', 'Exit code: 1', 1],
  ['execute_command', 'all is well', undefined],
  ['read_file', 'Exit code: 2', undefined],
])('the end of a program of %s with %j', (name, text, code) => {
  expect(exitOf({ name, content: [{ type: 'text', text }] })).toBe(code);
});
