/** Projects and their workspaces over REST: defaults, sharing, whose they are, and what is left when they are deleted. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeEventLog } from '#shared/adapters/aws/dynamo/event-log.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { endSession, openAgent } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect, errorOf, type Fields, fieldsOf, type McpClient } from './mcp-clients.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { MSB_MAX_SESSIONS: '50' } });
});
afterAll(() => cloud.stop());

type Told = readonly [status: number, body: Fields];
const asking =
  (token: () => string) =>
  async (method: string, path: string, body?: object): Promise<Told> => {
    const response = await fetch(`${cloud.url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${token()}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return [response.status, (await response.json()) as Fields];
  };
const ask = asking(() => cloud.token);
const codeOf = ([status, body]: Told): string => `${status} ${(body['error'] as Fields)?.['code']}`;
const made = async (path: string, body: object): Promise<Fields> => {
  const [status, answer] = await ask('POST', path, body);
  if (status !== 201) throw new Error(JSON.stringify(answer));
  return answer;
};
const newProject = async (options: object = {}): Promise<string> =>
  String((await made('/projects', { name: 'a test', ...options }))['id']);

/** Count of a workspace's objects. */
const objectsOf = async (workspace: unknown): Promise<number> => {
  const records = join(cloud.home, 's3', 'sallyport-workspaces', 'records');
  const all = await Promise.all(
    (await readdir(records)).map((name) => readFile(join(records, name), 'utf8').catch(() => '')),
  );
  return all.filter((record) => record.includes(`workspaces/${workspace}/`)).length;
};

describe('a project', () => {
  const options = {
    description: 'of tests',
    provider: 'demo',
    model: 'demo',
    flavor: 'micro',
    template: 'node',
    approvals: 'low',
    flavorsAllowed: ['micro', 'small'],
    limits: { maxRecursionDepth: 5, maxCostUsd: 0.5 },
    disabledTools: ['execute_code'],
    mcpNamespacing: 'prefix',
  };

  test('is created with defaults, changed field by field, and shows the names of its secrets', async () => {
    const project = await made('/projects', { name: 'first', ...options });
    const path = `/projects/${project['id']}`;
    expect(project).toMatchObject({ name: 'first', ...options });
    await ask('PUT', `${path}/secrets/A_KEY`, { value: 'x' });
    expect(await ask('GET', path)).toEqual([200, { ...project, secrets: ['A_KEY'] }]);
    const change = {
      name: 'second',
      description: null,
      autonomy: 'off',
      limits: { maxCostUsd: null, maxAgentsPerSession: 7 },
      disabledTools: null,
    };
    const [status, changed] = await ask('PATCH', path, change);
    const { description: _, disabledTools: __, maxCostUsd: ___, ...kept } = project;
    const now = {
      ...kept,
      name: 'second',
      approvals: 'auto',
      limits: { maxRecursionDepth: 5, maxAgentsPerSession: 7 },
      ...{ maxRecursionDepth: 5, maxAgentsPerSession: 7 },
    };
    expect([status, changed]).toEqual([200, now]);
    expect((await ask('GET', path))[1]).toEqual({ ...now, secrets: ['A_KEY'] });
  });

  test('takes each limit beside the others of its limits, too, and shows it in both places', async () => {
    const project = await made('/projects', { name: 'flat', maxCostUsd: 5 });
    expect(project).toMatchObject({ maxCostUsd: 5, limits: { maxCostUsd: 5 } });
    const path = `/projects/${project['id']}`;
    const change = { maxCostUsd: null, maxRecursionDepth: 2, limits: { maxAgentsPerSession: 7 } };
    const { maxCostUsd: _, ...kept } = project;
    const limits = { maxRecursionDepth: 2, maxAgentsPerSession: 7 };
    expect(await ask('PATCH', path, change)).toEqual([200, { ...kept, ...limits, limits }]);
  });

  test('gives its defaults to new sessions, and those keep them', async () => {
    const project = await newProject(options);
    const first = await made('/sessions', { project });
    expect(first).toMatchObject({ flavor: 'micro', template: 'node', approvals: 'low', provider: 'demo' });
    await ask('PATCH', `/projects/${project}`, { flavor: 'small', approvals: 'auto' });
    expect(await made('/sessions', { project })).toMatchObject({ flavor: 'small', approvals: 'auto' });
    expect((await ask('GET', `/sessions/${first['id']}`))[1]).toMatchObject({ approvals: 'low' });
    expect(await made('/sessions', { project, approvals: 'ask' })).toMatchObject({ approvals: 'ask' });
    expect(codeOf(await ask('POST', '/sessions', { project, flavor: 'large' }))).toBe('400 invalid_flavor');
  });

  test('reports its limits, and so does a session created before they changed', async () => {
    const project = await newProject(options);
    const { id } = await made('/sessions', { project });
    await ask('PATCH', `/projects/${project}`, { limits: { maxRecursionDepth: 1 } });
    const client = await connect(cloud);
    const limits = async (args: Fields) => fieldsOf(await client.call('config_limits', args));
    const depths = [
      await limits({ project_id: project }),
      await limits({ session_id: id }),
      await limits({}),
    ].map((told) => [told['max_recursion_depth'], told['max_cost_usd']]);
    expect(depths).toEqual([
      [1, 0.5],
      [5, 0.5],
      [3, 10],
    ]);
    await client.close();
  });

  test.each<[object, string]>([
    [{ flavor: 'large', flavorsAllowed: ['micro'] }, '400 invalid_flavor'],
    [{ limits: { maxRecursionDepth: 11 } }, '400 invalid_request'],
    [{ limits: { maxRecursionDepth: 1.5 } }, '400 invalid_request'],
    [{ limits: { maxAgentsPerSession: 0 } }, '400 invalid_request'],
    [{ limits: { maxCostUsd: -1 } }, '400 invalid_request'],
    [{ maxCostUsd: -1 }, '400 invalid_request'],
    [{ maxCostUsd: 1, limits: { maxCostUsd: 2 } }, '400 invalid_request'],
    [{ provider: 'nobody' }, '400 invalid_request'],
    [{ mcpNamespacing: 'other' }, '400 invalid_request'],
    [{ autonomy: 'full' }, '400 invalid_request'],
  ])('with %j is refused, made or changed', async (wrong, code) => {
    expect(codeOf(await ask('POST', '/projects', { name: 'x', ...wrong }))).toBe(code);
    expect(codeOf(await ask('PATCH', `/projects/${await newProject()}`, wrong))).toBe(code);
  });

  test('the default one is changed like any other, and never deleted', async () => {
    const path = '/projects/00000000-0000-4000-8000-000000000000';
    expect((await ask('PATCH', path, { description: 'for all' }))[1]).toMatchObject({
      description: 'for all',
    });
    expect((await ask('PATCH', path, { description: null }))[1]).not.toHaveProperty('description');
    expect(codeOf(await ask('DELETE', path))).toBe('409 conflict');
  });

  test('is deleted when none of its sessions is active, with secrets, servers, workspaces and their objects', async () => {
    const project = await newProject();
    const path = `/projects/${project}`;
    await ask('PUT', `${path}/secrets/A_KEY`, { value: 'x' });
    const server = { name: 'one', config: { transport: 'stdio', command: 'cat', enabled: false } };
    await made(`/mcp/add?project=${project}`, server);
    const token = (await made('/tokens', { name: 't', scope: `project:${project}` }))['token'];
    const schedule = await made('/schedules', {
      name: 's',
      cronExpr: '0 0 1 1 *',
      prompt: 'hello',
      targets: [{ projectId: project }],
    });
    const asToken = async (): Promise<number> => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${cloud.url}/api/sessions`, { headers })).status;
    };
    expect(await asToken()).toBe(200);
    const agent = await openAgent(cloud, { project, createWorkspace: true });
    await agent.run('$ echo kept > file');
    expect(await objectsOf(agent.workspace)).toBeGreaterThan(0);
    expect(codeOf(await ask('DELETE', path))).toBe('409 conflict');
    expect((await ask('GET', path))[0]).toBe(200);
    await agent.close();
    expect(await ask('DELETE', path)).toEqual([200, { id: project, message: 'the project is deleted' }]);
    expect(codeOf(await ask('GET', path))).toBe('404 project_not_found');
    expect(codeOf(await ask('POST', '/sessions', { project }))).toBe('404 project_not_found');
    expect(codeOf(await ask('PATCH', path, { name: 'x' }))).toBe('404 project_not_found');
    const { projects } = (await ask('GET', '/projects'))[1];
    expect((projects as Fields[]).map(({ id }) => id)).not.toContain(project);
    await eventually(
      () => objectsOf(agent.workspace),
      (objects) => objects === 0,
      30_000,
    );
    await eventually(
      () => ask('DELETE', path),
      (told) => codeOf(told) === '404 project_not_found',
      30_000,
    );
    expect(await asToken()).toBe(401);
    expect(codeOf(await ask('GET', `/schedules/${schedule['id']}`))).toBe('404 schedule_not_found');
    const { client, name: TableName } = cloud.table;
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': `PROJECT#${project}` },
      }),
    );
    const left = Items.map(({ sk }) => String(sk)).filter((sk) => /^(WORKSPACE#|MCP#|SCHEDULE#)/.test(sk));
    expect(left).toEqual([]);
    expect(Items.find(({ sk }) => sk === 'SECRETS')?.['names']).toEqual([]);
  });
});

describe('a session is placed', () => {
  test('in a private workspace, unless it requests another', async () => {
    const project = await newProject();
    const path = `/projects/${project}/workspaces`;
    const listed = async () => ((await ask('GET', path))[1]['workspaces'] as Fields[]).map(({ id }) => id);
    const [defaultId] = await listed();
    const own = [await made('/sessions', { project }), await made('/sessions', { project })];
    expect(own[0]?.['workspace']).not.toBe(own[1]?.['workspace']);
    expect(await listed()).toEqual([defaultId]);
    expect(await made('/sessions', { project, createWorkspace: false })).toMatchObject({
      workspace: defaultId,
    });
    expect(await made('/sessions', { project, workspace: defaultId })).toMatchObject({
      workspace: defaultId,
    });
    const named = await made('/sessions', { project, createWorkspace: true, externalId: 'x' });
    const id = crypto.randomUUID();
    const missing = { project, workspace: id };
    const [status, { error }] = await ask('POST', '/sessions', missing);
    expect([status, (error as Fields)['message']]).toEqual([404, `workspace ${id} not found`]);
    expect(await made('/sessions', { ...missing, createWorkspace: true })).toMatchObject({ workspace: id });
    expect(await listed()).toEqual([defaultId, named['workspace'], id]);
  });

  test('in a workspace whose id is a UUID by form alone: its files outlive its sandbox', async () => {
    const project = await newProject();
    const workspace = '11111111-2222-3333-4444-555555555555';
    const { id } = await made('/sessions', { project, workspace, createWorkspace: true });
    const file = `/api/sessions/${id}/files/kept.txt`;
    expect((await cloud.request(file, { method: 'PUT', body: 'kept' })).status).toBe(201);
    await endSession(cloud, String(id));
    const agent = await openAgent(cloud, { project, workspace });
    expect(await agent.run('$ cat kept.txt')).toContain('kept');
    const read = await cloud.request(`/api/sessions/${agent.id}/files/kept.txt`);
    expect([read.status, await read.text()]).toEqual([200, 'kept']);
    await agent.close();
  });

  test('beside another, also an execution: one sandbox, one set of files', async () => {
    const project = await newProject();
    const one = await openAgent(cloud, { project, createWorkspace: true });
    const options = { project, workspace: one.workspace, kind: 'execution', flavor: 'micro' };
    const two = await made('/sessions', options);
    await one.run('$ echo shared > file');
    const before = await cloud.runningTasks();
    const file = await cloud.request(`/api/sessions/${two['id']}/files/file`);
    expect(await file.text()).toBe('shared\n');
    expect(await cloud.runningTasks()).toEqual(before);
    const log = await cloud.ask<Fields>(`/api/sessions/${two['id']}/events`);
    expect(JSON.stringify(log)).not.toContain('echo shared');
    await one.client.close();
    await cloud.request(`/api/sessions/${one.id}`, { method: 'DELETE' });
    expect(await cloud.runningTasks()).toEqual(before);
    await endSession(cloud, String(two['id']));
  });
});

test('a workspace is created, shown and deleted: its sandbox and its objects are deleted, and it is empty when created again', async () => {
  const project = await newProject();
  const path = `/projects/${project}/workspaces`;
  const id = crypto.randomUUID();
  const options = { id, externalId: 'thread', source: 'a chat' };
  const workspace = await made(path, options);
  expect(workspace).toMatchObject({
    ...options,
    project,
    projectId: project,
    isDefault: false,
    activeSessions: 0,
  });
  expect((await ask('POST', path, options))[0]).toBe(200);
  expect(await ask('GET', `${path}/${id}`)).toEqual([200, workspace]);
  const agent = await openAgent(cloud, { project, workspace: id });
  await agent.run('$ echo kept > file');
  expect(codeOf(await ask('DELETE', `${path}/${id}`))).toBe('409 conflict');
  const before = await cloud.runningTasks();
  await agent.client.close();
  await cloud.request(`/api/sessions/${agent.id}`, { method: 'DELETE' });
  expect(await ask('DELETE', `${path}/${id}`)).toEqual([200, { id, message: 'the workspace is deleted' }]);
  expect(codeOf(await ask('GET', `${path}/${id}`))).toBe('404 workspace_not_found');
  await eventually(
    async () => [await objectsOf(id), (await cloud.runningTasks()).length],
    ([objects, tasks]) => objects === 0 && tasks === before.length - 1,
    30_000,
  );
  await eventually(
    () => ask('POST', path, { id }),
    ([status]) => status === 201,
    30_000,
  );
  const again = await openAgent(cloud, { project, workspace: id });
  expect(await again.run('$ cat file; true')).toContain('No such file');
  await again.close();
});

test('events that the log has dropped are refused with the number of the oldest', async () => {
  const { id } = await made('/sessions', {});
  const { append } = makeEventLog(cloud.table);
  const note = { type: 'system', data: { kind: 'note' } } as const;
  for (let index = 0; index < 26; index += 1)
    await append(
      id as SessionId,
      Array.from({ length: 40 }, () => note),
      Date.now(),
    );
  const [status, { error }] = await ask('GET', `/sessions/${id}/events?since_index=10`);
  expect([status, error]).toMatchObject([
    410,
    {
      code: 'events_purged',
      message: 'events before index 40 have been purged (oldest available: 40)',
      oldestIndex: 40,
    },
  ]);
  const client = await connect(cloud);
  const events = { action: 'events', session_id: id };
  const purged = errorOf(await client.call('session', { ...events, since_index: 10 }));
  expect([purged.type, purged.message]).toEqual([
    'events_purged',
    'events before index 40 have been purged (oldest available: 40)',
  ]);
  expect(fieldsOf(await client.call('session', { ...events, max_events: 1 }))).toMatchObject({
    events: [{ index: 40 }],
    dropped_events: 40,
    has_more: true,
  });
  await client.close();
});

test('sessions are listed by project and status, page by page, also a page that a filter left short', async () => {
  const project = await newProject();
  const ids: unknown[] = [];
  for (let index = 0; index < 3; index += 1) ids.unshift((await made('/sessions', { project }))['id']);
  await ask('DELETE', `/sessions/${ids[1]}`);
  const list = async (query: string) => {
    const { sessions } = (await ask('GET', `/sessions?project=${project}${query}`))[1];
    return (sessions as Fields[]).map(({ id }) => id);
  };
  expect(await list('')).toEqual(ids);
  expect(await list('&status=active')).toEqual([ids[0], ids[2]]);
  expect(await list('&status=completed')).toEqual([ids[1]]);
  expect(codeOf(await ask('GET', `/sessions?project=${crypto.randomUUID()}`))).toBe('404 project_not_found');
  const client = await connect(cloud);
  const seen: unknown[] = [];
  let after: unknown;
  do {
    const args = {
      action: 'list',
      project_id: project,
      status: 'active',
      limit: 1,
      ...(after ? { after } : {}),
    };
    const page = fieldsOf(await client.call('session', args));
    seen.push(...(page['sessions'] as Fields[]).map((session) => session['session_id']));
    after = page['next'];
  } while (after !== undefined);
  expect(seen).toEqual([ids[0], ids[2]]);
  await client.close();
});

describe('a token of a project', () => {
  let own: string;
  let other: string;
  let token: string;
  let client: McpClient;
  const theirs = { session: '', workspace: '' };
  const asOwn = asking(() => token);
  beforeAll(async () => {
    [own, other] = [await newProject(), await newProject()];
    token = String((await made('/tokens', { name: 't', scope: `project:${own}` }))['token']);
    client = await connect({ url: cloud.url, token });
    const { id, workspace } = await made('/sessions', { project: other, createWorkspace: true });
    Object.assign(theirs, { session: id, workspace });
  });
  afterAll(() => client.close());

  test('lists the sessions of its project, whoever created them, and of no other', async () => {
    const shown = async () =>
      ((await asOwn('GET', '/sessions'))[1]['sessions'] as Fields[]).map(({ id }) => id);
    const before = await shown();
    expect(before).not.toContain(theirs.session);
    const byAdmin = await made('/sessions', { project: own });
    const [, byToken] = await asOwn('POST', '/sessions', {});
    const all = [byToken['id'], byAdmin['id'], ...before];
    expect(await shown()).toEqual(all);
    const listed = fieldsOf(await client.call('session', { action: 'list' }))['sessions'] as Fields[];
    expect(listed.map(({ session_id }) => session_id)).toEqual(all);
    expect(codeOf(await asOwn('GET', `/sessions?project=${other}`))).toBe('404 project_not_found');
  });

  test('shares named workspaces with the admin, and nothing with another project', async () => {
    const shared = await made(`/projects/${own}/workspaces`, {});
    const [status, session] = await asOwn('POST', '/sessions', { workspace: shared['id'] });
    expect([status, session['workspace']]).toEqual([201, shared['id']]);
    expect(codeOf(await asOwn('POST', '/sessions', { workspace: theirs.workspace }))).toBe(
      '404 workspace_not_found',
    );
  });

  test.each<[string, () => Fields, string]>([
    ['session', () => ({ action: 'message', message: 'x', project_id: other }), 'project_not_found'],
    [
      'session',
      () => ({ action: 'message', message: 'x', workspace_id: theirs.workspace }),
      'workspace_not_found',
    ],
    ['session', () => ({ action: 'spawn', project_id: other }), 'project_not_found'],
    ['session', () => ({ action: 'get', session_id: theirs.session }), 'session_not_found'],
    ['session', () => ({ action: 'events', session_id: theirs.session }), 'session_not_found'],
    ['session', () => ({ action: 'cancel', session_id: theirs.session }), 'session_not_found'],
    ['session', () => ({ action: 'end', session_id: theirs.session }), 'session_not_found'],
    [
      'session',
      () => ({ action: 'approve', session_id: theirs.session, call_id: 'x', approved: true }),
      'session_not_found',
    ],
    ['session', () => ({ action: 'list', project_id: other }), 'project_not_found'],
    ['session', () => ({ action: 'cleanup', project_id: other, max_age_hours: 0 }), 'project_not_found'],
    ['workspace', () => ({ action: 'list', project_id: other }), 'project_not_found'],
    ['workspace', () => ({ action: 'delete', workspace_id: theirs.workspace }), 'workspace_not_found'],
    [
      'workspace',
      () => ({ action: 'delete', project_id: other, workspace_id: theirs.workspace }),
      'project_not_found',
    ],
    ['project', () => ({ action: 'get', project_id: other }), 'project_not_found'],
    ['project', () => ({ action: 'update', project_id: own, name: 'x' }), 'forbidden'],
    ['project', () => ({ action: 'delete', project_id: own }), 'forbidden'],
  ])('%s %j is refused', async (tool, args, code) => {
    expect(errorOf(await client.call(tool, args())).type).toBe(code);
  });

  test.each<[string, () => string]>([
    ['GET', () => `/projects/${other}/workspaces`],
    ['POST', () => `/projects/${other}/workspaces`],
    ['GET', () => `/projects/${other}/workspaces/${theirs.workspace}`],
    ['DELETE', () => `/projects/${other}/workspaces/${theirs.workspace}`],
  ])('%s of another project is answered as of none', async (method, path) => {
    const [foreign, none] = await Promise.all(
      [path(), path().replace(other, crypto.randomUUID())].map((asked) =>
        asOwn(method, asked, method === 'POST' ? {} : undefined),
      ),
    );
    expect(codeOf(foreign as Told)).toBe('404 project_not_found');
    expect(codeOf(none as Told)).toBe('404 project_not_found');
  });

  test('cleans up its own sessions, and no others', async () => {
    await ask('DELETE', `/sessions/${theirs.session}`);
    const cleanUp = async () =>
      fieldsOf(await client.call('session', { action: 'cleanup', max_age_hours: 0 }));
    // That of a failed try.
    await cleanUp();
    const [, session] = await asOwn('POST', '/sessions', {});
    await asOwn('DELETE', `/sessions/${session['id']}`);
    expect(await cleanUp()).toMatchObject({ removed: 1 });
    expect((await ask('GET', `/sessions/${theirs.session}`))[0]).toBe(200);
  });
});
