import { expect, test } from 'vitest';
import { showHidden, summarizeCall } from './call-summary.js';

test.each([
  ['execute_command', { command: 'ls -l' }, { title: 'Run a command', details: 'ls -l' }],
  ['execute_code', { language: 'node', code: '1' }, { title: 'Run Node.js code', details: '1' }],
  ['write_file', { path: 'a.txt', content: 'x' }, { title: 'Write a.txt', details: 'x' }],
  ['read_file', { path: 'a.txt' }, { title: 'Read a.txt', details: '' }],
  ['list_files', {}, { title: 'List the workspace', details: '' }],
  ['other', { a: 1 }, { title: 'Call other', details: '{\n  "a": 1\n}' }],
])('%s is told in words', (name, args, summary) => {
  expect(summarizeCall(name, args)).toEqual(summary);
});

test('an argument that a summary would hide makes all of them visible', () => {
  expect(summarizeCall('execute_command', { command: 'ls', args: ['-l', '/'] })).toEqual({
    title: 'Call execute_command',
    details: '{\n  "command": "ls",\n  "args": [\n    "-l",\n    "/"\n  ]\n}',
  });
  expect(summarizeCall('read_file', { path: 'a', encoding: 'x' }).title).toBe('Call read_file');
});

test('a time limit is told beside', () => {
  expect(summarizeCall('execute_command', { command: 'ls', timeout: 9 })).toEqual({
    title: 'Run a command, 9 s at most',
    details: 'ls',
  });
});

test('what cannot be seen is shown by its number', () => {
  expect(showHidden('a\u202Eb\u200Bc\u001Bd\re\tf\n')).toBe('a⟦U+202E⟧b⟦U+200B⟧c⟦U+001B⟧d⟦U+000D⟧e\tf\n');
  expect(showHidden('grüße 世界 👋')).toBe('grüße 世界 👋');
});
