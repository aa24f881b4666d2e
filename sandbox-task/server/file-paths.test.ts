/** Names that no file can have, and odd ones that a file can: over every tool and route that takes a path. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
let runner: readonly number[] = [];
beforeAll(async () => {
  sandbox = await startTestSandbox();
  runner = await sandbox.pids();
});
afterAll(() => sandbox.stop());

const impossible = {
  'half a character': 'a\ud800',
  'the other half': '\udc00/a',
  'halves the wrong way round': '\udc00\ud800',
  'a NUL': 'a\0b',
  'a NUL in a folder': 'a\0/b',
  'a name of 300 characters': 'n'.repeat(300),
  'a name of 256 bytes': 'ü'.repeat(128),
  'more than 4095 bytes': 'd/'.repeat(2048),
  'more than 4095 bytes in fewer characters': 'ü/'.repeat(1400),
  'more characters than a request may have': 'd/'.repeat(4000),
  'nothing but control characters': '\u0001'.repeat(4000),
} as const;

const tools = {
  read_file: (path: string) => ({ path }),
  write_file: (path: string) => ({ path, content: 'x' }),
  list_files: (path: string) => ({ path }),
  mcp_list: (path: string) => ({ server: { name: 'm', command: 'node', cwd: path } }),
} as const;

const codeOfTool = async (name: keyof typeof tools, path: string): Promise<string> => {
  const { isError, content } = await sandbox.callTool(name, tools[name](path));
  if (isError !== true) return 'done';
  return (JSON.parse(content[0]?.text ?? '') as { readonly error: { readonly type: string } }).error.type;
};

/** Each character as UTF-8 would have it, were half a character one. */
const encode = (path: string): string =>
  [...path]
    .map((character) =>
      character.isWellFormed()
        ? encodeURIComponent(character)
        : `%ED%${(0x80 | ((character.charCodeAt(0) >> 6) & 0x3f)).toString(16)}%80`,
    )
    .join('');

const routes = {
  'GET /files': (path: string) => ({ method: 'GET', url: `/files?path=${encode(path)}` }),
  'GET /files/': (path: string) => ({ method: 'GET', url: `/files/${encode(path)}` }),
  'PUT /files/': (path: string) => ({ method: 'PUT', url: `/files/${encode(path)}` }),
  'PUT in parts': (path: string) => ({ method: 'PUT', url: `/files/${encode(path)}`, range: 'bytes 0-0/2' }),
  'DELETE /files/': (path: string) => ({ method: 'DELETE', url: `/files/${encode(path)}` }),
} as const;

const codeOfRoute = async (name: keyof typeof routes, path: string): Promise<string> => {
  const { method, url, range }: { method: string; url: string; range?: string } = routes[name](path);
  const headers = range === undefined ? {} : { 'content-range': range };
  const { status, body } = await sandbox.ask(method, url, {
    headers,
    ...(method === 'PUT' ? { body: 'x' } : {}),
  });
  if (status < 300) return 'done';
  return (JSON.parse(body.toString()) as { readonly error: { readonly code: string } }).error.code;
};

const every = async (path: string): Promise<Readonly<Record<string, string>>> => {
  const answers: Record<string, string> = {};
  for (const name of Object.keys(tools) as (keyof typeof tools)[])
    answers[name] = await codeOfTool(name, path);
  for (const name of Object.keys(routes) as (keyof typeof routes)[])
    answers[name] = await codeOfRoute(name, path);
  return answers;
};

test.each(Object.entries(impossible))('%s is an invalid request for every tool', async (_name, path) => {
  expect(await every(path)).toEqual({
    read_file: 'invalid_request',
    write_file: 'invalid_request',
    list_files: 'invalid_request',
    mcp_list: 'invalid_request',
    'GET /files': 'invalid_request',
    'GET /files/': 'invalid_request',
    'PUT /files/': 'invalid_request',
    'PUT in parts': 'invalid_request',
    'DELETE /files/': 'invalid_request',
  });
  expect(await sandbox.pids()).toEqual(runner);
});

test('a path outside is reported as such, also a long one', async () => {
  for (const path of ['../x', '/etc/passwd', 'a/../../b', `/${'\u0001'.repeat(4000)}`.slice(0, 255)])
    expect([await codeOfTool('read_file', path), await codeOfTool('write_file', path)]).toEqual([
      'path_outside_workspace',
      'path_outside_workspace',
    ]);
  expect(await sandbox.pids()).toEqual(runner);
});

test.each([
  ['steps that lead nowhere', './plain//./one'],
  ['a way down and up', 'plain/deep/../one'],
  ['letters in two parts', 'plain/e\u0301'],
  ['control characters', 'plain/a\n\u001b[31mb'],
  ['255 bytes', `plain/${'n'.repeat(255)}`],
])('%s are ordinary paths', async (_name, path) => {
  expect(await codeOfTool('write_file', path)).toBe('done');
  expect(await codeOfTool('read_file', path)).toBe('done');
  expect([await codeOfRoute('GET /files/', path), await codeOfRoute('DELETE /files/', path)]).toEqual([
    'done',
    'done',
  ]);
});

test.each([
  ['PUT', '/files/../environment'],
  ['PUT', '/files/%2e%2e/environment'],
  ['GET', '/files/a/../../logs'],
  ['DELETE', '/files/../contexts/default'],
])('%s %s is about a file, and leads to no other route', async (method, path) => {
  const body = method === 'PUT' ? { body: '{"variables":{"TAKEN":"1"}}' } : {};
  const answer = await sandbox.ask(method, path, body);
  expect(JSON.parse(answer.body.toString()).error.code).toBe('path_outside_workspace');
  const { structuredContent } = await sandbox.callTool('execute_command', { command: 'echo "<$TAKEN>"' });
  expect(structuredContent?.['stdout']).toBe('<>\n');
});
