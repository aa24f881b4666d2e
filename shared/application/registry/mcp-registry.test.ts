/** The registry's use cases over the adapters of production, on the table in memory and a clock of the test's own. */

import { beforeEach, describe, expect, test } from 'vitest';
import type { AuditLog } from '#shared/ports/access.ts';
import type { Invoker } from '#shared/ports/invoker.ts';
import type { RemoteMcp } from '#shared/ports/mcp-servers.ts';
import type { ProjectSecrets } from '#shared/ports/projects.ts';
import { newSession } from '../../../tests/conformance/session-fixture.ts';
import { fake } from '../../../tests/fake.ts';
import { openMemoryTable, tableOver } from '../../../tests/simulation/memory-table.ts';
import { makeApprovalStore } from '../../adapters/aws/dynamo/approvals.ts';
import { makeConnectionStore } from '../../adapters/aws/dynamo/connection-store.ts';
import { makeEventLog } from '../../adapters/aws/dynamo/event-log.ts';
import { makeInbox } from '../../adapters/aws/dynamo/inbox.ts';
import { makeMcpServerStore } from '../../adapters/aws/dynamo/mcp-servers.ts';
import { makeProjectStore } from '../../adapters/aws/dynamo/project-store.ts';
import { makeSessionStore } from '../../adapters/aws/dynamo/session-store.ts';
import type { ConnectionId, MessageId, OwnerId, ProjectId } from '../../domain/ids.ts';
import type { McpTool } from '../../domain/mcp/server.ts';
import type { Principal, Scope } from '../../domain/principal.ts';
import { AppError } from '../../errors.ts';
import type { McpServerStore, RemoteTarget } from '../../ports/mcp-servers.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { Deps, ExecutionDeps, RegistryChangeDeps, RegistryDeps } from '../deps.ts';
import { testMcpServer } from '../execution/test-mcp-server.ts';
import type { SessionDefaults } from '../session/create-session.ts';
import { checkServer, recordUse } from './check-mcp-server.ts';
import {
  addMcpServer,
  changeMcpServer,
  listMcpServers,
  removeMcpServer,
  switchMcpServer,
} from './manage-mcp-servers.ts';
import { sweepMcpServers } from './sweep-mcp-servers.ts';

const projectId = '11111111-2222-4333-8444-555555555555' as ProjectId;
const otherId = '99999999-2222-4333-8444-555555555555' as ProjectId;
const tools: readonly McpTool[] = [{ name: 'search', inputSchema: { type: 'object' } }];
const http = { transport: 'http', url: 'https://mcp.example.com/mcp' };
const times = { checkMs: 60_000 };
const start = 1_000_000;

const principal = (scope: Scope): Principal => ({
  owner: (scope.startsWith('project') ? projectId : 'deployment') as OwnerId,
  scope,
  tokenHash: 'ab'.repeat(32),
});
const owner = principal(`project:${projectId}`);
const asked = (who = owner, project?: string) => ({ principal: who, project });

/** A server's answer: its tools, or a failure; and the times of its requests, in seconds from the start. */
type Remote = { answer: (target: RemoteTarget) => Promise<readonly McpTool[]>; readonly askedAt: number[] };

const session = newSession({ owner: projectId as string as OwnerId, project: projectId });

type ProbePorts = Deps<'mcpServers' | 'projects' | 'remoteMcp' | 'secrets'>;
/** None of these servers runs inside a sandbox: what that takes is not there. */
const outside = <P extends ProbePorts>(ports: P) => ports as P & ExecutionDeps & RegistryDeps;
const trial = (name: string) => ({ name, times, defaults: {} as SessionDefaults });

const openRegistry = async () => {
  const memory = openMemoryTable();
  const table = tableOver(async (command) => memory.execute(command).output);
  let now = start;
  const seen = {
    audited: [] as string[],
    woken: [] as string[],
    frames: [] as string[],
    counted: [] as string[],
    logged: [] as string[],
  };
  const remote: Remote = { answer: () => Promise.resolve(tools), askedAt: [] };
  const stored = makeMcpServerStore(table);
  const ports = {
    mcpServers: stored as McpServerStore,
    projects: makeProjectStore(table),
    sessions: makeSessionStore(table),
    eventLog: makeEventLog(table),
    connections: makeConnectionStore(table),
    approvals: makeApprovalStore(table),
    sockets: {
      post: (_: ConnectionId, frame: string) => {
        seen.frames.push(frame);
        return Promise.resolve('sent' as const);
      },
      close: () => Promise.resolve(),
    },
    auditLog: fake<AuditLog>({
      append: ({ action, subject, detail: { secretsInSandbox = [] } }) => {
        seen.audited.push([action, subject.split('/')[1], secretsInSandbox].flat().join(' '));
        return Promise.resolve();
      },
    }),
    addressGuard: {
      check: (url: string) =>
        url.includes('169.254')
          ? Promise.reject(new AppError('invalid_request', 'the address is private'))
          : Promise.resolve(),
    },
    invoker: fake<Invoker>({
      checkMcpServer: (_, name) => {
        seen.woken.push(name);
        return Promise.resolve();
      },
    }),
    remoteMcp: fake<RemoteMcp>({
      ready: () => Promise.resolve(),
      listTools: (target: RemoteTarget) => {
        remote.askedAt.push((now - start) / 1000);
        return remote.answer(target);
      },
    }),
    secrets: fake<ProjectSecrets>({ read: () => Promise.resolve({ TOKEN: 'abc-123', BROKEN: 'a\nb' }) }),
    telemetry: {
      info: () => undefined,
      warn: (message: string) => void seen.logged.push(message),
      error: (message: string) => void seen.logged.push(message),
      count: (metric: string) => void seen.counted.push(metric),
      duration: () => undefined,
    },
    world: {
      now: () => now,
      uuid: () => crypto.randomUUID(),
      sha256: (text: string) => text,
      // With a signal it is the limit of a check, which ends with the check; without one it is a wait.
      sleep: (ms: number, signal?: AbortSignal) => {
        if (signal !== undefined)
          return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        now += ms;
        return Promise.resolve();
      },
    },
  } satisfies RegistryChangeDeps & Deps<'sessions'>;
  for (const id of [projectId, otherId])
    await ports.projects.create({ id, owner: 'deployment' as OwnerId, name: 'p', createdAt: 1 });
  await ports.sessions.create(session, {
    workspace: {
      id: session.workspace,
      owner: session.owner,
      project: projectId,
      createdAt: 1,
      users: [session.id],
    },
  });
  const first = { messageId: 'm' as MessageId, text: 't', acceptedAt: 2, correlationId: 'c' };
  await makeInbox(table).accept(session, first, { slotsMax: 10, conversationsMax: 10 });
  await ports.connections.put({
    id: 'watching' as ConnectionId,
    sessionId: session.id,
    principal: owner,
    connectedAt: 1,
  });
  return {
    ports,
    seen,
    remote,
    add: (name = 'one', config: object = http) => addMcpServer(ports, asked(), { name, config }),
    get: (name = 'one') => stored.get(projectId, name),
    passMs: (ms: number) => {
      now += ms;
    },
    isDue: async (at: number) => (await stored.due(start + at, 10)).length > 0,
    /** The session's events, in order. */
    told: async () => {
      const { events } = await ports.eventLog.read(session.id, { since: -1, eventsMax: 100 });
      return events.flatMap(({ type, data }) =>
        type === 'system' && data.kind === 'mcp_status' ? [`${data['name']} ${data['status']}`] : [],
      );
    },
  };
};

let registry: Awaited<ReturnType<typeof openRegistry>>;
beforeEach(async () => {
  registry = await openRegistry();
});

const failWith = (error: Error) => () => Promise.reject(error);
const down = failWith(new AppError('mcp_server_unavailable', 'it did not answer'));
const refusedWith = (code: string, message: string) => expect.objectContaining({ code, message });

describe('adding', () => {
  test('stores it, audits it, notifies the sessions at once and starts a check', async () => {
    await registry.add();
    expect(await registry.get()).toEqual({
      project: projectId,
      name: 'one',
      config: http,
      isEnabled: true,
      health: { status: 'reconnecting', consecutiveFailures: 0, attempts: 0 },
      createdAt: start,
      version: 0,
    });
    const { audited, woken, frames } = registry.seen;
    expect({ audited, woken }).toEqual({ audited: ['mcp.add one'], woken: ['one'] });
    expect(await registry.told()).toEqual(['one reconnecting']);
    expect(frames.map((frame) => JSON.parse(frame).data)).toEqual([
      { kind: 'mcp_status', name: 'one', status: 'reconnecting' },
    ]);
    expect(await registry.isDue(0)).toBe(true);
  });

  test('a disabled one is not checked; one in sandboxes is, once', async () => {
    await registry.add('off', { ...http, enabled: false });
    await registry.add('inside', { transport: 'stdio', command: 'x' });
    expect(registry.seen.woken).toEqual(['inside']);
    expect(await registry.isDue(1e9)).toBe(false);
    expect(await registry.told()).toEqual(['off disabled', 'inside reconnecting']);
  });

  test('is refused for invalid fields, private addresses, duplicates and too many', async () => {
    const wrong = refusedWith('invalid_request', 'Valid transport type is required (http, sse, stdio)');
    await expect(registry.add('a', {})).rejects.toEqual(wrong);
    const inside = { transport: 'sse', url: 'http://169.254.169.254/' };
    await expect(registry.add('a', inside)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(registry.seen.audited).toEqual([]);
    await registry.add('s0');
    await expect(registry.add('s0')).rejects.toEqual(
      refusedWith('conflict', "MCP server 's0' already exists"),
    );
    for (let index = 1; index < 20; index += 1) await registry.add(`s${index}`);
    await expect(registry.add('s20')).rejects.toMatchObject({ code: 'resource_limit_exceeded' });
    expect(await listMcpServers(registry.ports, asked())).toHaveLength(20);
  });

  test('succeeds even if notifications and checks fail', async () => {
    const ports = {
      ...registry.ports,
      sessions: fake<SessionStore>({ listOfProject: failWith(new Error('no table')) }),
      invoker: fake<Invoker>({ checkMcpServer: failWith(new Error('no function')) }),
    };
    await addMcpServer(ports, asked(), { name: 'one', config: http });
    expect((await registry.get())?.name).toBe('one');
    expect(registry.seen.logged).toEqual([
      'the status of an MCP server was not published',
      'a check of an MCP server was not started',
    ]);
  });
});

describe('permissions', () => {
  test('a token works in its own project, an admin in any, and no token in a foreign one', async () => {
    await registry.add();
    await addMcpServer(registry.ports, asked(principal('admin'), otherId), { name: 'two', config: http });
    const names = async (who: Principal, project?: string) =>
      (await listMcpServers(registry.ports, asked(who, project))).map(({ name }) => name);
    expect(await names(owner)).toEqual(['one']);
    expect(await names(principal('admin:ro'), otherId)).toEqual(['two']);
    expect(await names(principal('admin'))).toEqual([]);
    const stranger = { code: 'project_not_found' };
    await expect(names(owner, otherId)).rejects.toMatchObject(stranger);
    await expect(removeMcpServer(registry.ports, asked(owner, otherId), 'two')).rejects.toMatchObject(
      stranger,
    );
  });

  test('a read-only token changes nothing', async () => {
    await registry.add();
    const reader = asked(principal(`project:${projectId}:ro`));
    const forbidden = { code: 'forbidden' };
    const { ports } = registry;
    await expect(addMcpServer(ports, reader, { name: 'b', config: http })).rejects.toMatchObject(forbidden);
    await expect(removeMcpServer(ports, reader, 'one')).rejects.toMatchObject(forbidden);
    await expect(testMcpServer(outside(ports), reader, trial('one'))).rejects.toMatchObject(forbidden);
    const options = { name: 'one', isEnabled: false };
    await expect(switchMcpServer(ports, reader, options)).rejects.toMatchObject(forbidden);
    await expect(changeMcpServer(ports, reader, { name: 'one', change: {} })).rejects.toMatchObject(
      forbidden,
    );
  });
});

/** As a check leaves it. */
const checked = async () => {
  await registry.add();
  const server = await registry.get();
  if (server !== undefined) await checkServer(registry.ports, server, times);
};

describe('changing', () => {
  const change = (fields: unknown) =>
    changeMcpServer(registry.ports, asked(), { name: 'one', change: fields });

  test('its texts keeps its health and tools, another address clears them', async () => {
    await checked();
    await change({ description: 'd', timeout: 500 });
    expect(await registry.get()).toMatchObject({
      config: { ...http, description: 'd', timeout: 500 },
      health: { status: 'healthy' },
      tools,
    });
    await change({ url: 'https://elsewhere.example.com', description: null });
    const server = await registry.get();
    expect(server?.config).toEqual({ transport: 'http', url: 'https://elsewhere.example.com', timeout: 500 });
    expect(server?.health).toEqual({
      status: 'reconnecting',
      lastCheck: start,
      lastSuccess: start,
      consecutiveFailures: 0,
      attempts: 0,
    });
    expect(server && 'tools' in server).toBe(false);
    expect(registry.seen.audited).toEqual(['mcp.add one', 'mcp.change one', 'mcp.change one']);
    expect(registry.seen.woken).toEqual(['one', 'one', 'one']);
  });

  test('is refused for invalid fields and private addresses, and leaves it unchanged', async () => {
    await registry.add();
    const before = await registry.get();
    await expect(change({ url: null })).rejects.toEqual(
      refusedWith('invalid_request', 'URL is required for HTTP/SSE transport'),
    );
    await expect(change('x')).rejects.toEqual(
      refusedWith('invalid_request', 'Config is required and must be an object'),
    );
    await expect(change({ url: 'http://169.254.1.1' })).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await registry.get()).toEqual(before);
  });

  test('is repeated after a concurrent write, and fails in the end', async () => {
    await registry.add();
    const { mcpServers } = registry.ports;
    let races = 2;
    const racing: McpServerStore = {
      ...mcpServers,
      get: async (...key) => {
        const server = await mcpServers.get(...key);
        if (server !== undefined && races > 0) {
          races -= 1;
          await mcpServers.replace({ ...server, health: { ...server.health, attempts: races } }, server);
        }
        return server;
      },
    };
    const ports = { ...registry.ports, mcpServers: racing };
    const options = { name: 'one', change: { description: 'd' } };
    await changeMcpServer(ports, asked(), options);
    expect(await registry.get()).toMatchObject({ config: { description: 'd' }, version: 3 });
    races = 100;
    await expect(changeMcpServer(ports, asked(), options)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('an unknown one is not found', async () => {
    const unknown = refusedWith('mcp_server_not_found', 'there is no such MCP server');
    const { ports } = registry;
    await expect(change({})).rejects.toEqual(unknown);
    await expect(switchMcpServer(ports, asked(), { name: 'one', isEnabled: true })).rejects.toEqual(unknown);
    await expect(removeMcpServer(ports, asked(), 'one')).rejects.toEqual(unknown);
    await expect(testMcpServer(outside(ports), asked(), trial('one'))).rejects.toEqual(unknown);
  });

  test.each(['a#b', '', 'x'.repeat(2000)])('an impossible name (%s) is not looked up', async (name) => {
    const mcpServers = { get: failWith(new Error('asked')), remove: failWith(new Error('asked')) };
    const ports = { ...registry.ports, mcpServers: { ...registry.ports.mcpServers, ...mcpServers } };
    const unknown = { code: 'mcp_server_not_found' };
    await expect(changeMcpServer(ports, asked(), { name, change: {} })).rejects.toMatchObject(unknown);
    await expect(switchMcpServer(ports, asked(), { name, isEnabled: true })).rejects.toMatchObject(unknown);
    await expect(removeMcpServer(ports, asked(), name)).rejects.toMatchObject(unknown);
    await expect(testMcpServer(outside(ports), asked(), trial(name))).rejects.toMatchObject(unknown);
  });
});

test('switching is done once, and switching on resets the health', async () => {
  await checked();
  const turn = (isEnabled: boolean) => switchMcpServer(registry.ports, asked(), { name: 'one', isEnabled });
  await turn(true);
  await turn(false);
  await turn(false);
  expect(await registry.isDue(1e9)).toBe(false);
  expect(await registry.get()).toMatchObject({ isEnabled: false, tools });
  await turn(true);
  expect(await registry.get()).toMatchObject({ isEnabled: true, health: { status: 'reconnecting' }, tools });
  expect(await registry.isDue(0)).toBe(true);
  expect(registry.seen.audited).toEqual(['mcp.add one', 'mcp.disable one', 'mcp.enable one']);
  expect(await registry.told()).toEqual([
    'one reconnecting',
    'one healthy',
    'one disabled',
    'one reconnecting',
  ]);
});

test('removing deletes it and notifies', async () => {
  await registry.add();
  await removeMcpServer(registry.ports, asked(), 'one');
  expect(await registry.get()).toBeUndefined();
  expect(registry.seen.audited).toEqual(['mcp.add one', 'mcp.remove one']);
  expect((await registry.told()).at(-1)).toBe('one removed');
  expect(registry.seen.woken).toEqual(['one']);
});

describe('a sweep', () => {
  const sweep = (forMs = 0) => sweepMcpServers(registry.ports, { times, forMs });

  test('sees a server fail: unhealthy, reconnecting, disconnected, each published once', async () => {
    await registry.add();
    expect(await sweep()).toEqual({ checked: 1, failed: 0 });
    registry.remote.answer = down;
    for (let second = 0; second < 400; second += 1) {
      registry.passMs(1000);
      await sweep();
    }
    expect(registry.remote.askedAt).toEqual([0, 60, 120, 180, 185, 195, 215, 255, 335]);
    expect(await registry.told()).toEqual([
      'one reconnecting',
      'one healthy',
      'one unhealthy',
      'one reconnecting',
      'one disconnected',
    ]);
    expect((await registry.get())?.health).toMatchObject({
      status: 'disconnected',
      error: 'it did not answer',
    });
    expect(registry.seen.counted.filter((metric) => metric.startsWith('Mcp'))).toEqual([
      ...Array(8).fill('McpChecksFailed'),
      'McpServersLost',
    ]);
  });

  test('R5: of ten that find the same servers due one makes each check', async () => {
    for (const name of ['a', 'b', 'c']) await registry.add(name);
    const due = await registry.ports.mcpServers.due(start, 10);
    const { ports } = registry;
    const found = { ...ports, mcpServers: { ...ports.mcpServers, due: () => Promise.resolve(due) } };
    const sweeps = Array.from({ length: 10 }, () => sweepMcpServers(found, { times, forMs: 0 }));
    const reports = await Promise.all(sweeps);
    expect(registry.remote.askedAt).toHaveLength(3);
    expect(reports.reduce((sum, { checked: count }) => sum + count, 0)).toBe(3);
  });

  test('waits for a lost server as long as its input says', async () => {
    await registry.add();
    registry.remote.answer = down;
    for (const waitMs of [0, 60_000]) {
      registry.passMs(waitMs);
      await sweep(50_000);
    }
    registry.passMs(60_000);
    registry.remote.askedAt.length = 0;
    await sweep(50_000);
    expect(registry.remote.askedAt).toEqual([120, 125, 135, 155]);
  });

  test('that runs every minute checks every minute, although a check takes time', async () => {
    await registry.add();
    registry.remote.answer = () => {
      registry.passMs(3000);
      return Promise.resolve(tools);
    };
    for (let minute = 0; minute < 4; minute += 1) {
      await sweep(50_000);
      registry.passMs(57_000);
    }
    expect(registry.remote.askedAt).toEqual([0, 60, 120, 180]);
  });

  test('continues when one server’s check throws, which is repeated', async () => {
    for (const name of ['a', 'b']) await registry.add(name);
    const { mcpServers } = registry.ports;
    const breaking = {
      ...mcpServers,
      replace: (...write: Parameters<McpServerStore['replace']>) =>
        write[0].name === 'a' && write[0].health.status === 'healthy'
          ? Promise.reject(new Error('no table'))
          : mcpServers.replace(...write),
    };
    const report = await sweepMcpServers({ ...registry.ports, mcpServers: breaking }, { times, forMs: 0 });
    expect(report).toEqual({ checked: 1, failed: 1 });
    expect((await registry.get('b'))?.health.status).toBe('healthy');
    registry.passMs(30_000);
    expect(await sweep()).toEqual({ checked: 1, failed: 0 });
    expect((await registry.get('a'))?.health.status).toBe('healthy');
  });

  test('lets a concurrent change win', async () => {
    await registry.add();
    registry.remote.answer = async () => {
      await changeMcpServer(registry.ports, asked(), {
        name: 'one',
        change: { url: 'https://b.example.com' },
      });
      return tools;
    };
    expect(await sweep()).toEqual({ checked: 0, failed: 0 });
    expect(await registry.get()).toMatchObject({
      config: { url: 'https://b.example.com' },
      health: { status: 'reconnecting' },
    });
  });
});

describe('a check', () => {
  const headers = (value: string) => ({ ...http, headers: { Authorization: value } });

  test('sends secrets, and shows none that is returned', async () => {
    await registry.add('one', headers(`Bearer \${TOKEN}`));
    const sent: unknown[] = [];
    registry.remote.answer = (target) => {
      sent.push(target);
      return Promise.reject(new AppError('mcp_server_unavailable', 'it said: bad token abc-123'));
    };
    await sweepMcpServers(registry.ports, { times, forMs: 0 });
    expect(sent).toEqual([
      { name: 'one', ...http, headers: { Authorization: 'Bearer abc-123' }, timeoutMs: 5000 },
    ]);
    expect((await registry.get())?.health.error).toBe('it said: bad token ***');
  });

  test.each([
    [`Bearer \${NONE}`, 'the project has no secret named NONE'],
    [`Bearer \${BROKEN}`, 'the secret BROKEN has characters that a header cannot contain'],
  ])('of %s fails by name and sends no request', async (value, error) => {
    await registry.add('one', headers(value));
    await sweepMcpServers(registry.ports, { times, forMs: 0 });
    expect((await registry.get())?.health).toMatchObject({ status: 'unhealthy', error });
    expect(registry.remote.askedAt).toEqual([]);
  });

  test('that throws an unknown error fails with the platform’s message', async () => {
    await registry.add();
    registry.remote.answer = failWith(new Error('ECONNRESET at /var/task'));
    await sweepMcpServers(registry.ports, { times, forMs: 0 });
    expect((await registry.get())?.health.error).toBe('it could not be checked');
  });

  test('records what a server says without half of a character, which no table takes', async () => {
    await registry.add();
    registry.remote.answer = failWith(new AppError('mcp_server_unavailable', 'it answered: \ud800!'));
    await sweepMcpServers(registry.ports, { times, forMs: 0 });
    expect((await registry.get())?.health.error).toBe('it answered: \ufffd!');
  });

  test('ends at its timeout although the client does not', async () => {
    await registry.add();
    registry.remote.answer = () => new Promise(() => undefined);
    const world = {
      ...registry.ports.world,
      sleep: (ms: number) => (ms === 5000 ? Promise.resolve() : Promise.reject(new Error(`${ms}`))),
    };
    await sweepMcpServers({ ...registry.ports, world }, { times, forMs: 0 });
    expect((await registry.get())?.health.error).toBe('it did not answer in 5000 ms');
  });

  test('has its time from the moment at which the function can connect', async () => {
    await registry.add();
    const order: string[] = [];
    const remoteMcp = {
      ...registry.ports.remoteMcp,
      ready: () => Promise.resolve(void order.push('loaded')),
    };
    const world = {
      ...registry.ports.world,
      sleep: (ms: number, signal?: AbortSignal) => {
        order.push(`${ms} ms begin`);
        return registry.ports.world.sleep(ms, signal);
      },
    };
    await sweepMcpServers({ ...registry.ports, remoteMcp, world }, { times, forMs: 0 });
    expect(order).toEqual(['loaded', '5000 ms begin']);
  });

  test('stores a hundred tools and the number of further ones', async () => {
    await registry.add();
    registry.remote.answer = () =>
      Promise.resolve(Array.from({ length: 101 }, (_, index) => ({ name: `t${index}`, inputSchema: {} })));
    await sweepMcpServers(registry.ports, { times, forMs: 0 });
    const server = await registry.get();
    expect(server?.tools).toHaveLength(100);
    expect(server?.health).toMatchObject({
      status: 'healthy',
      error: expect.stringContaining('1 of its tools'),
    });
  });
});

describe('testing', () => {
  const tested = (name = 'one') => testMcpServer(outside(registry.ports), asked(), trial(name));

  test('connects, answers and counts as a check', async () => {
    await registry.add();
    expect(await tested()).toEqual({ ok: true, tools });
    expect(await registry.get()).toMatchObject({ health: { status: 'healthy' }, tools });
    registry.remote.answer = down;
    expect(await tested()).toEqual({ ok: false, error: 'it did not answer' });
    expect((await registry.get())?.health).toMatchObject({ status: 'unhealthy', consecutiveFailures: 1 });
  });

  test('tells the status with which the server refused, and remembers it', async () => {
    await registry.add();
    const facts = { httpStatus: 401 };
    registry.remote.answer = failWith(new AppError('mcp_server_unavailable', 'it refused', { facts }));
    expect(await tested()).toEqual({ ok: false, error: 'it refused', httpStatus: 401 });
    expect((await registry.get())?.health).toMatchObject({ error: 'it refused', httpStatus: 401 });
    registry.remote.answer = down;
    expect(await tested()).not.toHaveProperty('httpStatus');
    expect((await registry.get())?.health).not.toHaveProperty('httpStatus');
  });

  test('returns a disconnected server to its checks', async () => {
    await registry.add();
    registry.remote.answer = down;
    for (let times_ = 0; times_ < 9; times_ += 1) await tested();
    expect((await registry.get())?.health.status).toBe('disconnected');
    expect(await registry.isDue(1e9)).toBe(false);
    registry.remote.answer = () => Promise.resolve(tools);
    await tested();
    expect((await registry.get())?.health.status).toBe('healthy');
    expect(await registry.isDue(60_000)).toBe(true);
  });

  test('counts over a concurrent sweep, but not over a change of address', async () => {
    await registry.add();
    registry.remote.answer = async () => {
      const server = await registry.get();
      if (server !== undefined) await registry.ports.mcpServers.replace(server, server);
      return tools;
    };
    await tested();
    expect((await registry.get())?.health.status).toBe('healthy');
    registry.remote.answer = async () => {
      await changeMcpServer(registry.ports, asked(), {
        name: 'one',
        change: { url: 'https://b.example.com' },
      });
      return tools;
    };
    expect(await tested()).toEqual({ ok: true, tools });
    expect((await registry.get())?.health.status).toBe('reconnecting');
  });
});

describe('the use in a turn', () => {
  const use = async (outcome: Parameters<typeof recordUse>[2]['outcome'], startedAt: number) => {
    const server = await registry.get();
    if (server !== undefined) await recordUse(registry.ports, server, { outcome, startedAt, times });
    return registry.get();
  };
  const failed = { ok: false, error: 'no answer' } as const;

  test('counts like a check, and of concurrent failures one counts', async () => {
    await checked();
    registry.passMs(1000);
    expect((await use(failed, start + 1))?.health).toMatchObject({
      status: 'unhealthy',
      consecutiveFailures: 1,
    });
    expect((await use(failed, start + 2))?.health.consecutiveFailures).toBe(1);
    expect((await use(failed, start + 1001))?.health.consecutiveFailures).toBe(2);
  });

  test('is written when it changes the health', async () => {
    await checked();
    const version = (await registry.get())?.version;
    expect((await use({ ok: true }, start + 1))?.version).toBe(version);
    expect((await use({ ok: true, tools }, start + 1))?.version).toBe(version);
    registry.passMs(1000);
    expect((await use({ ok: true, tools: [] }, start + 1))?.tools).toEqual([]);
  });

  test('heals a server inside sandboxes, which is never due', async () => {
    await registry.add('one', { transport: 'stdio', command: 'x' });
    expect(await use({ ok: true, tools }, start)).toMatchObject({ health: { status: 'healthy' }, tools });
    expect(await registry.isDue(1e9)).toBe(false);
  });

  test('is ignored for a deleted or changed server', async () => {
    await checked();
    const server = await registry.get();
    await changeMcpServer(registry.ports, asked(), { name: 'one', change: { url: 'https://b.example.com' } });
    const seen = { outcome: failed, startedAt: start + 1, times };
    if (server !== undefined) await recordUse(registry.ports, server, seen);
    expect((await registry.get())?.health.consecutiveFailures).toBe(0);
    await removeMcpServer(registry.ports, asked(), 'one');
    if (server !== undefined) await recordUse(registry.ports, server, seen);
    expect(await registry.get()).toBeUndefined();
  });
});
