import { describe, expect, test } from 'vitest';
import type { ProjectId } from '../ids.ts';
import { nameTools } from './naming.ts';
import type { McpServer, McpTool, Namespacing } from './server.ts';

const inputSchema = { type: 'object' };
const toolsOf = (...names: string[]): McpTool[] => names.map((name) => ({ name, inputSchema }));
const server = (name: string, tools?: readonly McpTool[], change: Partial<McpServer> = {}): McpServer => ({
  project: 'p' as ProjectId,
  name,
  config: { transport: 'http', url: 'https://a' },
  isEnabled: true,
  health: { status: 'healthy', consecutiveFailures: 0, attempts: 0 },
  ...(tools === undefined ? {} : { tools }),
  createdAt: 0,
  version: 0,
  ...change,
});
const prefixed = (name: string, toolPrefix: string, ...tools: string[]): McpServer =>
  server(name, toolsOf(...tools), { config: { transport: 'http', url: 'https://a', toolPrefix } });
const named = (servers: readonly McpServer[], namespacing: Namespacing = 'auto', builtIn = ['read_file']) =>
  nameTools({ servers, builtIn, namespacing });
const routesOf = (...given: Parameters<typeof named>) =>
  Object.fromEntries(
    [...named(...given).routes].map(([name, { server: one, tool }]) => [name, `${one} ${tool}`]),
  );

const open = { status: 'reconnecting', consecutiveFailures: 3, attempts: 0 } as const;
const given = { status: 'disconnected', consecutiveFailures: 8, attempts: 5, error: 'no answer' } as const;

describe('auto', () => {
  test('leaves the tools of one server their names', () => {
    expect(routesOf([server('a', toolsOf('x', 'b'))])).toEqual({ b: 'a b', x: 'a x' });
  });

  test('prefixes those of several, by prefix or name', () => {
    expect(routesOf([server('b', toolsOf('x')), prefixed('a', 'pre', 'x', 'y')])).toEqual({
      pre_x: 'a x',
      pre_y: 'a y',
      b_x: 'b x',
    });
  });

  test('prefixes all of one that clashes with a built-in tool', () => {
    expect(routesOf([server('a', toolsOf('read_file', 'x'))])).toEqual({
      a_read_file: 'a read_file',
      a_x: 'a x',
    });
  });

  test('counts enabled servers with tools, whatever their health', () => {
    const one = server('a', toolsOf('x'));
    expect(routesOf([one, server('b'), server('c', [])])).toEqual({ x: 'a x' });
    expect(routesOf([one, server('b', toolsOf('x'), { isEnabled: false })])).toEqual({ x: 'a x' });
    expect(routesOf([one, server('b', toolsOf('x'), { health: given })])).toEqual({ a_x: 'a x' });
  });
});

test('prefix prefixes always', () => {
  expect(routesOf([server('a', toolsOf('x'))], 'prefix')).toEqual({ a_x: 'a x' });
});

test('none prefixes only what clashes', () => {
  const servers = [server('a', toolsOf('x', 'y', 'read_file')), server('b', toolsOf('x', 'z'))];
  expect(routesOf(servers, 'none')).toEqual({
    a_x: 'a x',
    y: 'a y',
    a_read_file: 'a read_file',
    b_x: 'b x',
    z: 'b z',
  });
});

describe('names that would be equal', () => {
  test('of prefixes get a number, which no other tool has', () => {
    const servers = [
      prefixed('a', 'p', 'x'),
      prefixed('b', 'p', 'x'),
      prefixed('c', 'p', 'x'),
      prefixed('d', 'p2', 'x'),
    ];
    expect(routesOf(servers)).toEqual({ p_x: 'a x', p3_x: 'b x', p4_x: 'c x', p2_x: 'd x' });
  });

  test('of prefix and tool together get a number', () => {
    const servers = [server('a', toolsOf('b_c')), server('a_b', toolsOf('c', 'c_2'))];
    expect(routesOf(servers)).toEqual({ a_b_c_3: 'a b_c', a_b_c_4: 'a_b c', a_b_c_2: 'a_b c_2' });
  });

  test('after invalid characters were replaced get a number', () => {
    expect(routesOf([server('a', toolsOf('x.y', 'x y', 'é', ''))])).toEqual({
      tool: 'a ',
      x_y_2: 'a x y',
      x_y_3: 'a x.y',
      _: 'a é',
    });
  });

  test('are cut to 64 characters with their number', () => {
    const long = 'n'.repeat(70);
    const names = Object.keys(routesOf([server('a', toolsOf(`${long}1`, `${long}2`))]));
    expect(names).toEqual([`${'n'.repeat(62)}_2`, `${'n'.repeat(62)}_3`]);
    const [name] = Object.keys(routesOf([server('s'.repeat(64), toolsOf('tool'))], 'prefix'));
    expect(name).toBe(`${'s'.repeat(32)}_tool`);
  });
});

test('a tool is offered with its server’s description', () => {
  const [one, other] = named([
    server('a', [
      { name: 'x', description: 'does x', inputSchema },
      { name: 'y', inputSchema },
    ]),
  ]).tools;
  expect(one).toEqual({ name: 'x', description: 'does x', inputSchema });
  expect(other).toEqual({ name: 'y', description: 'y, a tool of the MCP server a', inputSchema });
});

test('tools of unhealthy servers are not offered, with a list of the servers and reasons', () => {
  const servers = [
    server('down', toolsOf('x'), { health: given }),
    server('off', toolsOf('x'), { isEnabled: false }),
    server('open', toolsOf('x'), { health: open }),
    server('new', undefined, { health: { ...open, consecutiveFailures: 0 } }),
    server('shaky', toolsOf('x'), { health: { ...open, status: 'unhealthy', consecutiveFailures: 2 } }),
    server('well', toolsOf('x')),
  ];
  expect(routesOf(servers)).toEqual({ shaky_x: 'shaky x', well_x: 'well x' });
  expect(named(servers).unavailable).toEqual([
    { name: 'down', status: 'disconnected', tools: ['down_x'], error: 'no answer' },
    { name: 'new', status: 'reconnecting', tools: [] },
    { name: 'off', status: 'disabled', tools: [] },
    { name: 'open', status: 'reconnecting', tools: ['open_x'] },
  ]);
});
