import { describe, expect, test } from 'vitest';
import {
  type Fields,
  isElsewhere,
  isServerName,
  validateChange,
  validateConfig,
  validateServer,
} from './validate.ts';

const http = { transport: 'http', url: 'https://mcp.example.com/mcp' };
const stdio = { transport: 'stdio', command: 'npx' };
const problemOf = (name: unknown, config: unknown): string | undefined => {
  const result = validateServer(name, config);
  return result.ok ? undefined : result.problem;
};

describe('the first error is reported, in a fixed message', () => {
  const name = 'Name is required and must be a string';
  const config = 'Config is required and must be an object';
  const characters = 'Name can only contain letters, numbers, hyphens, and underscores';
  const transport = 'Valid transport type is required (http, sse, stdio)';
  const url = 'URL is required for HTTP/SSE transport';
  const scheme = 'URL must start with http:// or https://';
  const command = 'Command is required for stdio transport';
  test.each([
    [undefined, undefined, name],
    ['', {}, name],
    [7, {}, name],
    ['a b', undefined, config],
    ['a b', null, config],
    ['a b', [], config],
    ['a b', 'http', config],
    ['a b', {}, characters],
    ['ä', http, characters],
    ['a\n', http, characters],
    ['a', {}, transport],
    ['a', { transport: null, url: 1 }, transport],
    ['a', { transport: 'HTTP' }, transport],
    ['a', { transport: 'stdio-docker', containerImage: 'x' }, transport],
    ['a', { transport: 'http' }, url],
    ['a', { transport: 'sse', url: '' }, url],
    ['a', { transport: 'http', url: 7, headers: 7 }, url],
    ['a', { transport: 'http', url: 'ftp://x' }, scheme],
    ['a', { transport: 'sse', url: ' https://x' }, scheme],
    ['a', { transport: 'http', url: 'javascript:alert(1)' }, scheme],
    ['a', { transport: 'stdio' }, command],
    ['a', { transport: 'stdio', command: '  ' }, command],
    ['a', { transport: 'stdio', command: ['npx'], args: 7 }, command],
    ['a'.repeat(65), http, 'Name can have at most 64 characters'],
  ])('%j %j', (given, configuration, problem) => {
    expect(problemOf(given, configuration)).toBe(problem);
  });
});

describe('a URL', () => {
  test.each([
    ['https://', 'URL must be an address of at most 2048 characters without spaces'],
    ['https://a b/', 'URL must be an address of at most 2048 characters without spaces'],
    [`https://a/${'x'.repeat(2048)}`, 'URL must be an address of at most 2048 characters without spaces'],
    ['https://me:pass@a/', 'URL must not hold a user name or password: use headers'],
    ['https://a/?key=***', 'URL holds a masked value: give the value itself'],
  ])('%s', (url, problem) => {
    expect(problemOf('a', { transport: 'http', url })).toBe(problem);
  });

  test('may have an at sign in its path, and a scheme in capitals', () => {
    expect(problemOf('a', { transport: 'http', url: 'HTTPS://a/@me' })).toBeUndefined();
  });
});

const long = (length: number): string => 'x'.repeat(length);

describe('the other fields', () => {
  const header = (name: string, value: unknown) => ({ ...http, headers: { [name]: value } });
  const noText = 'must be a text of at most 4096 characters without line breaks';
  test.each<[object, string]>([
    [{ ...http, enabled: 'no' }, 'enabled must be true or false'],
    [{ ...http, description: 7 }, 'description must be a text of at most 2048 characters'],
    [{ ...http, description: long(2049) }, 'description must be a text of at most 2048 characters'],
    [{ ...http, toolPrefix: '' }, 'toolPrefix must be 1 to 32 letters, numbers, hyphens and underscores'],
    [
      { ...http, toolPrefix: long(33) },
      'toolPrefix must be 1 to 32 letters, numbers, hyphens and underscores',
    ],
    [{ ...http, toolPrefix: 7 }, 'toolPrefix must be 1 to 32 letters, numbers, hyphens and underscores'],
    [{ ...http, timeout: 99 }, 'timeout must be a whole number of milliseconds from 100 to 300000'],
    [{ ...http, timeout: 300_001 }, 'timeout must be a whole number of milliseconds from 100 to 300000'],
    [{ ...http, timeout: '1000' }, 'timeout must be a whole number of milliseconds from 100 to 300000'],
    [{ ...http, headers: [] }, 'headers must be an object of texts'],
    [header('A B', 'x'), 'headers has a name that is not allowed'],
    [header('', 'x'), 'headers has a name that is not allowed'],
    [header(long(129), 'x'), 'headers has a name that is not allowed'],
    [
      JSON.parse('{"transport":"http","url":"https://a","headers":{"__proto__":"x"}}'),
      'headers has a name that is not allowed',
    ],
    [header('Transfer-Encoding', 'x'), 'headers.Transfer-Encoding is set by the connection itself'],
    [header('HOST', 'x'), 'headers.HOST is set by the connection itself'],
    [header('A', 7), `headers.A ${noText}`],
    [header('A', 'x\r\nB: y'), `headers.A ${noText}`],
    [header('A', '名'), `headers.A ${noText}`],
    [header('A', long(4097)), `headers.A ${noText}`],
    [header('A', '***'), 'headers.A is a masked value: give the value itself, or leave it out'],
    [header('A', `Bearer \${to ken}`), `headers.A: \${ must be followed by the name of a secret and }`],
    [{ ...http, headers: { A: 'x', a: 'y' } }, 'headers.a is given twice'],
    [
      { ...http, headers: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`h${n}`, 'x'])) },
      'headers may have at most 50 entries',
    ],
    [{ ...stdio, env: { 'A-B': 'x' } }, 'env has a name that is not allowed'],
    [{ ...stdio, env: { A: 'x\ny' } }, `env.A ${noText}`],
    [{ ...stdio, env: { A: `\${` } }, `env.A: \${ must be followed by the name of a secret and }`],
    [{ ...stdio, args: 'x' }, 'args must be at most 50 texts of at most 4096 characters'],
    [{ ...stdio, args: [7] }, 'args must be at most 50 texts of at most 4096 characters'],
    [{ ...stdio, args: Array(51).fill('x') }, 'args must be at most 50 texts of at most 4096 characters'],
    [{ ...stdio, cwd: 'a\0b' }, 'cwd must be a text of at most 2048 characters'],
    [{ ...stdio, args: Array(5).fill(long(4000)) }, 'Config can have at most 16384 bytes'],
  ])('%j', (config, problem) => {
    expect(problemOf('a', config)).toBe(problem);
  });

  test('are kept when they are valid, for the transport only', () => {
    const fields = { description: 'd', toolPrefix: 'gh', timeout: 1000 };
    const headers = { Authorization: `Bearer \${GH_TOKEN}`, 'X-A': 'ü' };
    expect(validateServer('a', { ...http, ...fields, headers, command: 'no', colour: 7 })).toEqual({
      ok: true,
      value: { name: 'a', config: { ...http, ...fields, headers }, isEnabled: true },
    });
    const own = { args: ['-y', 'a b'], env: { A: 'x', a: 'y', T: `a\${B}c` }, cwd: 'sub' };
    expect(validateServer('B_-9', { ...stdio, ...own, url: 'no', enabled: false })).toEqual({
      ok: true,
      value: { name: 'B_-9', config: { ...stdio, ...own }, isEnabled: false },
    });
  });

  test('count as missing when null', () => {
    expect(validateConfig({ ...http, headers: null, enabled: null })).toEqual({
      ok: true,
      value: { config: http, isEnabled: true },
    });
  });
});

describe('an update', () => {
  const kept = validateConfig({ ...http, headers: { A: 'x' }, description: 'd', enabled: false });
  const change = (fields: Fields) => validateChange(kept.ok ? kept.value : (undefined as never), fields);

  test('replaces what it gives, removes what is null and leaves the rest', () => {
    expect(change({ url: 'https://b', headers: { B: 'y' }, description: null })).toEqual({
      ok: true,
      value: {
        config: { transport: 'http', url: 'https://b', headers: { B: 'y' } },
        isEnabled: false,
      },
    });
    expect(change({ enabled: true })).toMatchObject({ value: { isEnabled: true } });
  });

  test('must result in a valid server', () => {
    expect(change({ url: null })).toEqual({ ok: false, problem: 'URL is required for HTTP/SSE transport' });
    expect(change({ transport: 'stdio' })).toEqual({
      ok: false,
      problem: 'Command is required for stdio transport',
    });
    expect(change({ transport: 'stdio', command: 'x' })).toEqual({
      ok: true,
      value: { config: { transport: 'stdio', command: 'x', description: 'd' }, isEnabled: false },
    });
  });
});

test('a different address or command means another server', () => {
  const one = { transport: 'http', url: 'https://a' } as const;
  expect(isElsewhere(one, { ...one, description: 'd', toolPrefix: 'p', timeout: 1000 })).toBe(false);
  expect(isElsewhere(one, { ...one, url: 'https://b' })).toBe(true);
  expect(isElsewhere(one, { ...one, headers: { A: 'x' } })).toBe(true);
});

test.each([
  ['a', true],
  ['A-9_', true],
  ['x'.repeat(64), true],
  ['x'.repeat(65), false],
  ['', false],
  ['a/b', false],
  ['a#b', false],
])('%s as a name', (name, isOne) => {
  expect(isServerName(name)).toBe(isOne);
});
