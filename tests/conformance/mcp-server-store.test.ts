/** Registered MCP servers against a real DynamoDB engine: one of a name, no more than may be, each version written once. */
import { describe, expect, test } from 'vitest';
import { makeMcpServerStore } from '#shared/adapters/aws/dynamo/mcp-servers.ts';
import type { ProjectId } from '#shared/domain/ids.ts';
import type { McpServer } from '#shared/domain/mcp/server.ts';
import { atOnce, farAway, tally } from './session-fixture.ts';
import { openFileTable, sentTwice } from './table-fixture.ts';

const fixture = openFileTable();

const store = () => makeMcpServerStore(fixture.table);
const newProject = () => crypto.randomUUID() as ProjectId;
const serverOf = (project: ProjectId, name: string, change: Partial<McpServer> = {}): McpServer => ({
  project,
  name,
  config: { transport: 'http', url: 'https://mcp.example.com/mcp' },
  isEnabled: true,
  health: { status: 'reconnecting', consecutiveFailures: 0, attempts: 0 },
  createdAt: 1000,
  version: 0,
  ...change,
});
const added = async (name = 'one', change: Partial<McpServer> = {}, dueAt?: number): Promise<McpServer> => {
  const server = serverOf(newProject(), name, change);
  const options = { serversMax: 20, ...(dueAt === undefined ? {} : { dueAt }) };
  expect(await store().add(server, options)).toBe('added');
  return server;
};
const isDue = async ({ project }: McpServer, now: number): Promise<boolean> =>
  (await store().due(now, 10_000)).some((server) => server.project === project);

describe('a server', () => {
  test.each<[string, Partial<McpServer>]>([
    ['small', {}],
    [
      'whole',
      {
        config: {
          transport: 'sse',
          url: 'http://a',
          headers: { Authorization: 'Bearer x', 'X-Empty': '' },
          description: '',
          toolPrefix: 'p',
          timeout: 100,
        },
        isEnabled: false,
        health: {
          status: 'disconnected',
          lastCheck: 5,
          lastSuccess: 4,
          consecutiveFailures: 8,
          attempts: 5,
          error: 'é',
        },
        tools: [{ name: 'x', description: 'd', inputSchema: { type: 'object', properties: {} } }],
        version: 3,
      },
    ],
    [
      'inside',
      { config: { transport: 'stdio', command: 'x', args: [], env: { A: '' }, cwd: '.' }, tools: [] },
    ],
  ])('%s is read back as it was added', async (name, change) => {
    const server = await added(name, change);
    expect(await store().get(server.project, name)).toEqual(server);
    expect(await store().list(server.project)).toEqual([server]);
  });

  test('stores 256 KB of tools that do not compress, and a project stores twenty of those', async () => {
    const project = newProject();
    const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(65_536))).toString('base64');
    const tools = [0, 1, 2].map((index) => ({
      name: `t${index}`,
      description: noise.slice(index) + noise.slice(0, index),
      inputSchema: {},
    }));
    for (let index = 0; index < 20; index += 1)
      await store().add(serverOf(project, `s${index}`, { tools }), { serversMax: 20 });
    const listed = await store().list(project);
    expect(listed.map(({ tools: kept }) => kept)).toEqual(Array(20).fill(tools));
  });

  test('that was not added is not found', async () => {
    const server = await added();
    expect(await store().get(server.project, 'other')).toBeUndefined();
    expect(await store().get(newProject(), server.name)).toBeUndefined();
    expect(await store().list(newProject())).toEqual([]);
    expect(await store().remove(server.project, 'other')).toBeUndefined();
  });

  test('is added by one of twenty', async () => {
    const project = newProject();
    const adds = await atOnce(20, () => store().add(serverOf(project, 'same'), { serversMax: 20 }));
    expect(tally(adds)).toEqual({ added: 1, exists: 19 });
  });

  test('is listed by name', async () => {
    const project = newProject();
    for (const name of ['b', 'B', 'a-1', 'a']) await store().add(serverOf(project, name), { serversMax: 20 });
    expect((await store().list(project)).map(({ name }) => name)).toEqual(['B', 'a', 'a-1', 'b']);
  });
});

describe('a project', () => {
  test('holds at most its limit, however many are added concurrently', async () => {
    const project = newProject();
    const adds = await atOnce(12, (index) => store().add(serverOf(project, `s${index}`), { serversMax: 5 }));
    expect(tally(adds)).toEqual({ added: 5, full: 7 });
    expect(await store().list(project)).toHaveLength(5);
  });

  test('that is full reports an existing name as existing', async () => {
    const { project } = await added('one');
    expect(await store().add(serverOf(project, 'one'), { serversMax: 1 })).toBe('exists');
    expect(await store().add(serverOf(project, 'two'), { serversMax: 1 })).toBe('full');
  });

  test('has room again for each that was deleted, once', async () => {
    const { project } = await added('one');
    const removals = await atOnce(10, () => store().remove(project, 'one'));
    expect(removals.filter((removed) => removed !== undefined)).toHaveLength(1);
    expect(await store().add(serverOf(project, 'two'), { serversMax: 1 })).toBe('added');
    expect(await store().add(serverOf(project, 'three'), { serversMax: 1 })).toBe('full');
  });
});

describe('a write', () => {
  test('succeeds over the version that was read, once', async () => {
    const server = await added();
    const change = (index: number) =>
      store().replace({ ...server, isEnabled: index % 2 === 0 }, { version: 0 });
    const written = (await atOnce(10, change)).filter((one) => one !== undefined);
    expect(written).toHaveLength(1);
    expect(written[0]?.version).toBe(1);
    expect(await store().get(server.project, server.name)).toEqual(written[0]);
    expect(await store().replace(server, { version: 0 })).toBeUndefined();
    expect((await store().replace(server, { version: 1 }))?.version).toBe(2);
  });

  test('whose first answer was lost is made by its repeat, and by no other', async () => {
    const server = await added();
    const unheard = makeMcpServerStore(sentTwice(fixture.table));
    expect(await unheard.replace(server, { version: 0 })).toEqual({ ...server, version: 1 });
    expect(await unheard.replace(server, { version: 0 })).toBeUndefined();
    expect(await store().get(server.project, server.name)).toEqual({ ...server, version: 1 });
  });

  test('does not restore a deleted server, nor change one that came after it', async () => {
    const server = await added();
    expect(await store().remove(server.project, server.name)).toEqual(server);
    expect(await store().replace(server, { version: 0 })).toBeUndefined();
    const later = { ...server, createdAt: 2000 };
    await store().add(later, { serversMax: 20 });
    expect(await store().replace(server, { version: 0 })).toBeUndefined();
    expect(await store().get(server.project, server.name)).toEqual(later);
  });
});

describe('a due server', () => {
  test('is due from its time on, until a write changes or removes the time', async () => {
    const server = await added('one', {}, 5000);
    expect([await isDue(server, 4999), await isDue(server, 5000)]).toEqual([false, true]);
    await store().replace(server, { version: 0, dueAt: 9000 });
    expect([await isDue(server, 8999), await isDue(server, 9000)]).toEqual([false, true]);
    await store().replace(server, { version: 1 });
    expect(await isDue(server, farAway)).toBe(false);
  });

  test('has a time, and was not deleted', async () => {
    const [quiet, gone] = [await added('one'), await added('one', {}, 5000)];
    await store().remove(gone.project, gone.name);
    expect([await isDue(quiet, farAway), await isDue(gone, farAway)]).toEqual([false, false]);
  });

  test('is listed oldest first, up to the limit, whole', async () => {
    const tools = [{ name: 'x', inputSchema: { type: 'object' } }];
    const one = await added('one', { tools }, 20);
    const other = await added('other', { tools }, 10);
    expect(await store().due(100, 2)).toEqual([other, one]);
    expect(await store().due(100, 1)).toEqual([other]);
  });
});
