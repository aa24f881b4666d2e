import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ProjectId } from '#shared/domain/ids.ts';
import type { McpHealth, McpServer } from '#shared/domain/mcp/server.ts';
import { decode } from '../decode.ts';
import { mcpServerRecord } from '../stored/project-records.ts';
import {
  addServerBody,
  changedFields,
  healthAnswer,
  healthView,
  savedView,
  serverAnswer,
  serverView,
  testAnswer,
  testView,
} from './mcp-server-view.ts';

const text = fc.string();
const natural = fc.maxSafeNat();
const texts = fc.dictionary(fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,8}$/), text);
const common = { description: text, toolPrefix: text, timeout: natural };
const config = fc.oneof(
  fc.record(
    { transport: fc.constantFrom('http', 'sse'), url: text, headers: texts, ...common },
    { requiredKeys: ['transport', 'url'] },
  ),
  fc.record(
    {
      transport: fc.constant('stdio'),
      command: text,
      args: fc.array(text),
      env: texts,
      cwd: text,
      ...common,
    },
    { requiredKeys: ['transport', 'command'] },
  ),
);
const health = fc.record(
  {
    status: fc.constantFrom('healthy', 'unhealthy', 'reconnecting', 'disconnected'),
    lastCheck: natural,
    lastSuccess: natural,
    consecutiveFailures: natural,
    attempts: natural,
    error: text,
  },
  { requiredKeys: ['status', 'consecutiveFailures', 'attempts'] },
);
const tool = fc.record(
  { name: text, description: text, inputSchema: fc.dictionary(text, fc.jsonValue()) },
  { requiredKeys: ['name', 'inputSchema'] },
);
const record = fc.record(
  {
    project: fc.uuid(),
    name: fc.string({ minLength: 1 }),
    config,
    isEnabled: fc.boolean(),
    health,
    tools: fc.array(tool, { maxLength: 3 }),
    createdAt: natural,
    version: natural,
  },
  { requiredKeys: ['project', 'name', 'config', 'isEnabled', 'health', 'createdAt', 'version'] },
);

test('a stored server is decoded unchanged', () => {
  fc.assert(
    fc.property(record, (server) => {
      const written = JSON.parse(JSON.stringify(server));
      expect(decode(mcpServerRecord(), written)).toEqual({ ok: true, value: written });
    }),
  );
});

const well: McpHealth = {
  status: 'healthy',
  lastCheck: 2000,
  lastSuccess: 1000,
  consecutiveFailures: 0,
  attempts: 0,
};
const server = (change: Partial<McpServer> = {}): McpServer => ({
  project: 'p' as ProjectId,
  name: 'one',
  config: { transport: 'http', url: 'https://a/', headers: { Authorization: 'x' }, timeout: 500 },
  isEnabled: true,
  health: well,
  tools: [{ name: 'search', inputSchema: {} }],
  createdAt: 0,
  version: 7,
  ...change,
});
const unseen: McpHealth = { status: 'reconnecting', consecutiveFailures: 0, attempts: 0 };

describe('a server is shown', () => {
  test('with its health and the names of its tools, without its secrets', () => {
    const view = serverView(server());
    expect(view).toEqual({
      name: 'one',
      enabled: true,
      status: 'healthy',
      config: {
        transport: 'http',
        url: 'https://a/',
        headers: { Authorization: '***' },
        timeout: 500,
        enabled: true,
      },
      tools: ['search'],
      lastCheck: '1970-01-01T00:00:02.000Z',
      lastSuccess: '1970-01-01T00:00:01.000Z',
      consecutiveFailures: 0,
      createdAt: '1970-01-01T00:00:00.000Z',
    });
    expect(serverAnswer.parse(view)).toEqual(view);
  });

  test('as disabled, without fields that it never had', () => {
    const health = { ...unseen, error: 'no answer', httpStatus: 503 };
    const { tools: _, ...bare } = server({ isEnabled: false, health });
    const view = serverView(bare);
    const said = { error: 'no answer', httpStatus: 503 };
    expect(view).toMatchObject({ enabled: false, status: 'disabled', tools: [], ...said });
    expect('lastCheck' in view || 'lastSuccess' in view).toBe(false);
    expect(serverAnswer.parse(view)).toEqual(view);
  });
});

test('a server that puts a secret into sandboxes is shown and saved with a warning', () => {
  const config = { transport: 'stdio' as const, command: 'x', env: { TOKEN: `\${KEY}` } };
  const said = expect.stringContaining('can read KEY');
  expect(serverView(server({ config }))).toMatchObject({ config: { env: config.env }, warning: said });
  expect(savedView(server({ config }), 'saved')).toEqual({ message: 'saved', name: 'one', warning: said });
  expect(savedView(server(), 'saved')).toEqual({ message: 'saved', name: 'one' });
});

test('the health summary counts enabled servers', () => {
  const failing = (status: McpHealth['status']): McpHealth => ({
    ...unseen,
    status,
    consecutiveFailures: 3,
    error: 'no answer',
  });
  const servers = [
    server(),
    server({ name: 'two', health: unseen }),
    server({ name: 'three', health: failing('unhealthy') }),
    server({ name: 'four', health: { ...failing('disconnected'), httpStatus: 401 } }),
    server({ name: 'five', isEnabled: false }),
  ];
  const view = healthView(servers);
  expect(view.summary).toEqual({ total: 4, healthy: 1, unhealthy: 1, reconnecting: 1, disconnected: 1 });
  expect(view.mcps.map(({ name }) => name)).toEqual(['one', 'two', 'three', 'four']);
  expect(view.mcps.slice(0, 3)).toEqual([
    {
      name: 'one',
      status: 'healthy',
      lastCheck: '1970-01-01T00:00:02.000Z',
      lastSuccess: '1970-01-01T00:00:01.000Z',
      consecutiveFailures: 0,
    },
    { name: 'two', status: 'reconnecting', lastCheck: null, lastSuccess: null, consecutiveFailures: 0 },
    {
      name: 'three',
      status: 'unhealthy',
      lastCheck: null,
      lastSuccess: null,
      consecutiveFailures: 3,
      error: 'no answer',
    },
  ]);
  expect(view.mcps[3]).toMatchObject({ error: 'no answer', httpStatus: 401 });
  expect(healthAnswer.parse(view)).toEqual(view);
});

test('a test is answered with names and descriptions, or with the reason of its failure', () => {
  const tools = [
    { name: 'a', description: 'd', inputSchema: {} },
    { name: 'b', inputSchema: {} },
  ];
  const answers = [
    testView({ ok: true, tools }),
    testView({ ok: true }),
    testView({ ok: false, error: 'no answer' }),
    testView({ ok: false, error: 'it refused', httpStatus: 401 }),
  ];
  expect(answers).toEqual([
    { ok: true, tools: [{ name: 'a', description: 'd' }, { name: 'b' }] },
    { ok: true, tools: [] },
    { ok: false, error: 'no answer' },
    { ok: false, error: 'it refused', httpStatus: 401 },
  ]);
  for (const answer of answers) expect(testAnswer.parse(answer)).toEqual(answer);
});

test('the fields of a change may be under `config` or at the top', () => {
  expect(changedFields({ config: { url: 'x' }, url: 'y' })).toEqual({ url: 'x' });
  expect(changedFields({ url: 'y' })).toEqual({ url: 'y' });
  expect(changedFields({ config: null })).toBeNull();
});

test('the documented body can be added', () => {
  const body = { name: 'a', config: { transport: 'stdio', command: 'npx', args: ['x'], enabled: false } };
  expect(addServerBody.parse(body)).toEqual(body);
});
