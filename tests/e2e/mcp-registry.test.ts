/** MCP servers of a project, from their registration to their end: real servers on loopback, real sweeps, no shortcut. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makeMachine } from '../../cli/fixtures/run-cli.ts';
import {
  echoTool,
  type Loopback,
  listen,
  modernServer,
} from '../../shared/adapters/mcp/fixtures/loopback-servers.ts';
import { makeSession, systemEvents } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect } from './socket-client.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({
    variables: { MCP_ALLOWED_PRIVATE_HOSTS: '127.0.0.1', MCP_CHECK_SECONDS: '1' },
    sweepMs: 1000,
  });
});
afterAll(() => cloud.stop());

type Health = {
  readonly name: string;
  readonly status: string;
  readonly lastCheck: string | null;
  readonly lastSuccess: string | null;
  readonly consecutiveFailures: number;
  readonly error?: string;
};
type HealthAnswer = {
  readonly summary: Readonly<Record<string, number>>;
  readonly mcps: readonly Health[];
};
type Told = readonly [number, unknown];

const as = async (token: string, path: string, init: RequestInit = {}): Promise<Told> => {
  const response = await fetch(`${cloud.url}/api${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}` },
  });
  const body = (await response.json()) as { error?: string | { code: string; message: string } };
  const { error } = body;
  return [response.status, typeof error === 'object' ? `${error.code}: ${error.message}` : body];
};
const admin = (path: string, init?: RequestInit): Promise<Told> => as(cloud.token, path, init);
const post = (body?: unknown): RequestInit => ({ method: 'POST', body: JSON.stringify(body) ?? null });
const patch = (body: unknown): RequestInit => ({ method: 'PATCH', body: JSON.stringify(body) });
const remove: RequestInit = { method: 'DELETE' };

/** A project of its own for each test, and its token. */
const newProject = async () => {
  const { id } = await cloud.ask<{ id: string }>('/api/projects', post({ name: 'of servers' }));
  const { token } = await cloud.ask<{ token: string }>(
    '/api/tokens',
    post({ name: 't', scope: `project:${id}` }),
  );
  const of = (path: string, init?: RequestInit): Promise<Told> => as(token, path, init);
  const health = async (): Promise<HealthAnswer> => (await of('/mcp/health'))[1] as HealthAnswer;
  return {
    id,
    token,
    of,
    health,
    add: (name: string, config: unknown) => of('/mcp/add', post({ name, config })),
    untilStatus: (name: string, status: string, msMax = 60_000) =>
      eventually(
        async () => (await health()).mcps.find((one) => one.name === name),
        (one) => one?.status === status,
        msMax,
      ),
  };
};

const serving = async (starting: Promise<Loopback>): Promise<Loopback> => {
  const server = await starting;
  onTestFinished(() => server.stop().catch(() => undefined));
  return server;
};

const http = (url: string, more: object = {}) => ({ transport: 'http', url, ...more });

describe('adding refuses, with the contract’s message,', () => {
  const url = 'https://mcp.example.com/mcp';
  test.each<[unknown, string]>([
    [{}, 'Name is required and must be a string'],
    [[], 'Name is required and must be a string'],
    [{ name: 5, config: http(url) }, 'Name is required and must be a string'],
    [{ name: 'a' }, 'Config is required and must be an object'],
    [{ name: 'a b', config: 'http' }, 'Config is required and must be an object'],
    [{ name: 'a b', config: {} }, 'Name can only contain letters, numbers, hyphens, and underscores'],
    [{ name: 'a', config: {} }, 'Valid transport type is required (http, sse, stdio)'],
    [
      { name: 'a', config: { transport: 'stdio-docker' } },
      'Valid transport type is required (http, sse, stdio)',
    ],
    [{ name: 'a', config: { transport: 'http' } }, 'URL is required for HTTP/SSE transport'],
    [{ name: 'a', config: { transport: 'sse', url: '' } }, 'URL is required for HTTP/SSE transport'],
    [{ name: 'a', config: http('ws://x') }, 'URL must start with http:// or https://'],
    [{ name: 'a', config: { transport: 'stdio' } }, 'Command is required for stdio transport'],
  ])('%j', async (body, message) => {
    expect(await admin('/mcp/add', post(body))).toEqual([400, `invalid_request: ${message}`]);
  });

  test.each(['169.254.169.254', '10.0.0.1', 'localhost', '[::1]', '167772161', '0xa.1', '192.168.0.1:8080'])(
    'http://%s, which is private',
    async (host) => {
      const [status, text] = await admin('/mcp/add', post({ name: 'a', config: http(`http://${host}/`) }));
      expect(status).toBe(400);
      expect(text).toContain('is private, loopback or link-local');
    },
  );

  test('a duplicate, and the twenty-first', async () => {
    const { add } = await newProject();
    // Switched off: no sandbox is to start for a look at it.
    const stdio = { transport: 'stdio', command: 'npx', enabled: false };
    for (let index = 0; index < 20; index += 1)
      expect(await add(`s${index}`, stdio)).toEqual([
        201,
        { message: 'MCP server added successfully', name: `s${index}` },
      ]);
    expect(await add('s0', stdio)).toEqual([409, "conflict: MCP server 's0' already exists"]);
    expect(await add('s20', stdio)).toEqual([
      429,
      'resource_limit_exceeded: a project has at most 20 MCP servers',
    ]);
  });
});

test('a failing server is unhealthy, then reconnecting, then disconnected, and every session is told', async () => {
  const project = await newProject();
  const server = await serving(modernServer());
  const session = await makeSession(cloud, { project: project.id });
  const client = await connect({ url: cloud.url, token: cloud.token }, { sessionId: session.id });
  onTestFinished(() => client.close());
  client.send('message', { text: 'hello' });
  await client.untilType('completion');

  await project.add('tools', http(server.url));
  const healthy = await project.untilStatus('tools', 'healthy');
  expect(healthy).toEqual({
    name: 'tools',
    status: 'healthy',
    lastCheck: expect.stringMatching(/^\d{4}-.*Z$/),
    lastSuccess: healthy?.lastCheck,
    consecutiveFailures: 0,
  });
  expect(await project.of('/mcp')).toMatchObject([
    200,
    { servers: [{ name: 'tools', enabled: true, status: 'healthy', tools: [echoTool.name] }] },
  ]);

  await server.stop();
  await project.untilStatus('tools', 'unhealthy');
  expect((await project.health()).summary).toMatchObject({ total: 1 });
  await project.untilStatus('tools', 'reconnecting');
  const lost = await project.untilStatus('tools', 'disconnected');
  expect(lost).toMatchObject({ consecutiveFailures: 8, error: expect.any(String) });
  expect(Date.parse(lost?.lastCheck ?? '')).toBeGreaterThan(Date.parse(lost?.lastSuccess ?? ''));
  expect(await project.health()).toMatchObject({
    summary: { total: 1, healthy: 0, unhealthy: 0, reconnecting: 0, disconnected: 1 },
  });

  const other = await serving(modernServer());
  await project.of('/mcp/tools', patch({ config: { url: other.url } }));
  await project.untilStatus('tools', 'healthy');
  await project.of('/mcp/tools', remove);
  const statuses = [
    'reconnecting',
    'healthy',
    'unhealthy',
    'reconnecting',
    'disconnected',
    'reconnecting',
    'healthy',
    'removed',
  ];
  const told = await systemEvents(cloud, session.id, 'mcp_status');
  expect(told).toEqual(statuses.map((status) => ({ kind: 'mcp_status', name: 'tools', status })));
  await client.until(({ data }) => data.kind === 'mcp_status' && data.status === 'removed');
  const frames = client.frames.filter(({ type, data }) => type === 'system' && data.kind === 'mcp_status');
  expect(frames.map(({ data }) => data.status)).toEqual(statuses);
});

test('of twenty concurrent janitors one makes a check', async () => {
  const project = await newProject();
  const server = await serving(modernServer());
  await project.add('one', http(server.url, { enabled: false }));
  await project.of('/mcp/one/test', post());
  const each = server.requests.length;
  await project.of('/mcp/one/enable', post());
  await project.untilStatus('one', 'healthy');
  const before = server.requests.length;
  const startedAt = Date.now();
  await Promise.all(Array.from({ length: 20 }, () => cloud.janitor({ sweep: 'mcp' })));
  const seconds = Math.ceil((Date.now() - startedAt) / 1000) + 1;
  expect((server.requests.length - before) / each).toBeLessThanOrEqual(seconds);
});

test('testing connects now: a good server, a dead one, a private one, one in the sandbox', async () => {
  const project = await newProject();
  const good = await serving(modernServer());
  const inwards = await serving(
    listen((_, response) => response.writeHead(307, { location: 'http://10.0.0.1/mcp' }).end()),
  );
  const dead = await serving(modernServer());
  await dead.stop();
  await project.add('good', http(good.url));
  await project.add('inwards', http(inwards.url));
  await project.add('dead', http(dead.url));
  await project.add('inside', { transport: 'stdio', command: 'no-such-program' });
  await project.add('ending', { transport: 'stdio', command: 'false' });
  const tested = (name: string) => project.of(`/mcp/${name}/test`, post());
  const { name, description } = echoTool;
  expect(await tested('good')).toEqual([200, { ok: true, tools: [{ name, description }] }]);
  const failing = (error: string) => [200, { ok: false, error: expect.stringContaining(error) }];
  expect(await tested('inwards')).toEqual(failing('private, loopback or link-local'));
  expect(await tested('dead')).toEqual(failing('refused'));
  expect(await tested('inside')).toEqual(failing('no-such-program'));
  expect(await tested('ending')).toEqual(failing('it exited with code 1'));
  expect(await tested('none')).toEqual([404, 'mcp_server_not_found: there is no such MCP server']);
});

test('a header names a secret: it is sent, never shown, and named when it is missing', async () => {
  const project = await newProject();
  const server = await serving(modernServer());
  const headers = { Authorization: `Bearer \${GH_TOKEN}`, 'X-Api-Key': 'literal-key', 'X-Plain': 'plain' };
  await project.add('one', http(server.url, { headers }));
  expect(await project.of('/mcp/one/test', post())).toEqual([
    200,
    { ok: false, error: 'the project has no secret named GH_TOKEN' },
  ]);
  expect(server.requests).toEqual([]);
  const other = await newProject();
  await other.of(`/projects/${other.id}/secrets/GH_TOKEN`, {
    method: 'PUT',
    body: JSON.stringify({ value: 'top-secret-1' }),
  });
  await other.add('one', http(server.url, { headers }));
  await other.untilStatus('one', 'healthy');
  expect(server.requests.at(-1)?.headers).toMatchObject({
    authorization: 'Bearer top-secret-1',
    'x-api-key': 'literal-key',
  });
  const [, shown] = await other.of('/mcp');
  expect(shown).toMatchObject({
    servers: [
      {
        config: {
          headers: { Authorization: `Bearer \${GH_TOKEN}`, 'X-Api-Key': '***', 'X-Plain': 'plain' },
        },
      },
    ],
  });
  expect(cloud.printed()).not.toContain('top-secret-1');
});

test('a server is changed, switched off and on, and removed; another project does not see it', async () => {
  const [mine, other] = [await newProject(), await newProject()];
  const server = await serving(modernServer());
  await mine.add('one', http(server.url, { description: 'mine' }));
  const done = (word: string) => [200, { message: `MCP server ${word} successfully`, name: 'one' }];
  expect(await mine.of('/mcp/one', patch({ config: { description: null, toolPrefix: 'p' } }))).toEqual(
    done('updated'),
  );
  expect(await mine.of('/mcp/one', patch({ timeout: 1000 }))).toEqual(done('updated'));
  expect(await mine.of('/mcp/one', patch({ config: 'x' }))).toEqual([
    400,
    'invalid_request: Config is required and must be an object',
  ]);
  expect(await mine.of('/mcp/one', patch({ config: { url: 'http://10.0.0.1' } }))).toEqual([
    400,
    'invalid_request: the address of 10.0.0.1 is private, loopback or link-local',
  ]);
  for (const word of ['disabled', 'disabled'])
    expect(await mine.of('/mcp/one/disable', post())).toEqual(done(word));
  expect(await mine.of('/mcp')).toMatchObject([
    200,
    {
      servers: [
        {
          name: 'one',
          enabled: false,
          status: 'disabled',
          config: { transport: 'http', url: server.url, toolPrefix: 'p', timeout: 1000, enabled: false },
        },
      ],
    },
  ]);
  expect(await mine.health()).toMatchObject({ summary: { total: 0 }, mcps: [] });
  expect(await mine.of('/mcp/one/enable', post())).toEqual(done('enabled'));
  await mine.untilStatus('one', 'healthy');

  const missing = [404, 'mcp_server_not_found: there is no such MCP server'];
  expect(await other.of('/mcp')).toEqual([200, { servers: [] }]);
  expect(await other.of('/mcp/one', remove)).toEqual(missing);
  expect(await other.of(`/mcp/one?project=${mine.id}`, remove)).toEqual([
    404,
    'project_not_found: there is no such project',
  ]);
  expect(await admin(`/mcp?project=${mine.id}`)).toMatchObject([200, { servers: [{ name: 'one' }] }]);
  expect(await mine.of('/mcp/one', remove)).toEqual([200, { message: 'MCP server removed successfully' }]);
  expect(await mine.of('/mcp/one', remove)).toEqual(missing);
});

test('the command line client does the same', async () => {
  const project = await newProject();
  const server = await serving(modernServer());
  const { run } = await makeMachine({ SALLYPORT_URL: cloud.url, SALLYPORT_TOKEN: project.token });
  const key = `\${KEY}`;
  const add = ['mcp', 'add', 'gh', '--url', server.url, '--header', `X-A=${key}`, '--prefix', 'g'];
  expect(await run(add)).toMatchObject({ code: 0, stdout: 'MCP server added successfully: gh\n' });
  expect(await run(add)).toMatchObject({ code: 1 });
  expect((await run(['mcp', 'test', 'gh'])).stdout).toBe(
    'gh does not work: the project has no secret named KEY\n  `sallyport mcp info gh` shows its configuration. To change it, remove the server and add it again.\n',
  );
  await project.of('/mcp/gh', patch({ headers: null }));
  expect((await run(['mcp', 'test', 'gh'])).stdout).toBe('gh works, with 1 tool: echo.\n');
  expect((await run(['mcp', 'info', 'gh'])).stdout).toContain('status        healthy');
  expect((await run(['mcp', 'list'])).stdout).toContain(server.url);
  expect((await run(['mcp', 'health'])).stdout).toContain('1 total, 1 healthy');
  expect((await run(['mcp', 'disable', 'gh'])).stdout).toBe('Disabled gh.\n');
  expect((await run(['mcp', 'list'])).stdout).toContain('disabled');
  expect((await run(['mcp', 'enable', 'gh'])).stdout).toBe('Enabled gh.\n');
  expect((await run(['mcp', 'remove', 'gh'])).stdout).toBe('Removed gh.\n');
  expect(await run(['mcp', 'info', 'gh'])).toMatchObject({ code: 1 });
  const inAdmin = await makeMachine({ SALLYPORT_URL: cloud.url, SALLYPORT_TOKEN: cloud.token });
  const named = ['--project', project.id];
  await inAdmin.run(['mcp', 'add', 'fs', '--command', 'npx', '--cwd', 'sub', ...named]);
  expect((await inAdmin.run(['mcp', 'list', ...named])).stdout).toContain('npx');
  expect((await inAdmin.run(['mcp', 'list'])).stdout).not.toContain('npx');
});
