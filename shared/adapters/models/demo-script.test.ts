import { expect, test } from 'vitest';
import { describeCall, scriptedCalls } from './demo-script.ts';

test.each([
  ['a command', '$ echo a', [{ name: 'execute_command', args: { command: 'echo a' } }]],
  [
    'two commands are two calls, in order',
    '$ echo a\n$ echo b',
    [
      { name: 'execute_command', args: { command: 'echo a' } },
      { name: 'execute_command', args: { command: 'echo b' } },
    ],
  ],
  ['a dollar without a blank is prose', '$echo a', []],
  ['a dollar inside a line is prose', 'run $ echo a', []],
  ['an indented dollar is prose', '  $ echo a', []],
  [
    'lines may end as on Windows',
    '$ pwd\r\nlist\r\n',
    [
      { name: 'execute_command', args: { command: 'pwd' } },
      { name: 'list_files', args: {} },
    ],
  ],
  ['a file is read', 'read notes/a.txt', [{ name: 'read_file', args: { path: 'notes/a.txt' } }]],
  ['a sentence that starts with read is prose', 'read me a story', []],
  [
    'a file is written, its text kept with its blanks',
    'write a.txt  two  words ',
    [{ name: 'write_file', args: { path: 'a.txt', content: ' two  words ' } }],
  ],
  ['a write without text is prose', 'write a.txt', []],
  ['the workspace is listed', 'list', [{ name: 'list_files', args: {} }]],
  ['a folder is listed', 'list src', [{ name: 'list_files', args: { path: 'src' } }]],
  ['a word that starts with list is prose', 'listen', []],
  [
    'python runs',
    '```python\nprint(1)\nprint(2)\n```',
    [{ name: 'execute_code', args: { code: 'print(1)\nprint(2)', language: 'python' } }],
  ],
  [
    'node runs',
    '```node\n1 + 1\n```\n',
    [{ name: 'execute_code', args: { code: '1 + 1', language: 'node' } }],
  ],
  [
    'lines inside a block are code only',
    '```python\n$ echo a\nread b\n```',
    [{ name: 'execute_code', args: { code: '$ echo a\nread b', language: 'python' } }],
  ],
  [
    'a block in another language is text, and so are its lines',
    '```bash\n$ rm -r x\n```\n$ pwd',
    [{ name: 'execute_command', args: { command: 'pwd' } }],
  ],
  [
    'a block that nobody closes ends with the message',
    '```node\n1\n$ echo a',
    [{ name: 'execute_code', args: { code: '1\n$ echo a', language: 'node' } }],
  ],
  [
    'a longer fence holds a shorter one',
    '````python\n```\n````',
    [{ name: 'execute_code', args: { code: '```', language: 'python' } }],
  ],
  ['anything else asks for nothing', 'What can you do?', []],
])('%s', (_title, message, calls) => {
  expect(scriptedCalls(message)).toEqual(calls);
});

test.each([
  ['call search', [{ name: 'search', args: {} }]],
  ['call search {"text": "two words"}', [{ name: 'search', args: { text: 'two words' } }]],
  ['call search {"text": }', []],
  ['call search now', []],
  ['call another {}', []],
  [' call search', []],
])('an offered tool is called by its name: %s', (message, calls) => {
  expect(scriptedCalls(message, new Set(['search']))).toEqual(calls);
});

test.each([
  [{ name: 'execute_command', args: { command: 'echo b' } }, 'execute_command `$ echo b`'],
  [{ name: 'execute_code', args: { code: '1', language: 'node' } }, 'execute_code (node)'],
  [{ name: 'read_file', args: { path: 'a.txt' } }, 'read_file `a.txt`'],
  [{ name: 'list_files', args: {} }, 'list_files'],
  [
    { name: 'execute_command', args: { command: '😀'.repeat(150) } },
    `execute_command \`$ ${'😀'.repeat(100)}…\``,
  ],
])('a call is described in a few words: %j', (call, words) => {
  expect(describeCall(call)).toBe(words);
});
