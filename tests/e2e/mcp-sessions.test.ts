/** `session` and `workspace` of `/mcp`, black-box: agents in workspaces, spoken to by either generation of client. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from './embedded-cloud.ts';
import {
  connect,
  errorOf,
  type Fields,
  fieldsOf,
  generations,
  type McpClient,
  type Notified,
} from './mcp-clients.ts';
import { type Server, startServer } from './server.ts';

let server: Server;
let client: McpClient;
let project_id: string;
beforeAll(async () => {
  server = await startServer({ variables: { MSB_MAX_SESSIONS: '50' } });
  client = await connect(server);
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

const call = async (name: string, args: Fields): Promise<Fields> => fieldsOf(await client.call(name, args));
const refusal = async (name: string, args: Fields) => errorOf(await client.call(name, args));
const session = (action: string, args: Fields = {}): Promise<Fields> => call('session', { action, ...args });
const newProject = async (options: Fields = {}): Promise<string> =>
  String((await call('project', { action: 'create', name: 'a test', ...options }))['id']);
const end = (session_id: unknown): Promise<Fields> => session('end', { session_id });

/** Says something, and gives what was answered. */
const said = async (message: string, args: Fields = {}): Promise<Fields> => {
  const answer = await session('message', { message, wait: true, autonomy_level: 'off', ...args });
  expect(answer).toMatchObject({ finished: true, stop_reason: 'end_turn' });
  return answer;
};

describe('the resolution table', () => {
  beforeEach(async () => {
    project_id = await newProject();
  });
  const message = (args: Fields) => session('message', { message: 'hello', project_id, ...args });

  test('no id, no create: the default workspace, which exists implicitly', async () => {
    const [listed] = (await call('workspace', { action: 'list', project_id }))['workspaces'] as Fields[];
    expect(listed).toMatchObject({ is_default: true, project_id });
    const answer = await message({});
    expect(answer).toMatchObject({
      workspace_id: listed?.['id'],
      spawned: true,
      workspace_created: false,
      last_event_index: -1,
    });
    expect(await message({})).toMatchObject({ session_id: answer['session_id'], spawned: false });
  });

  test('no id, create: a new one each time', async () => {
    const first = await message({ create_workspace: true, external_id: 'thread 1', source: 'a chat' });
    const second = await message({ create_workspace: true });
    expect([first['workspace_created'], second['workspace_created']]).toEqual([true, true]);
    expect(first['workspace_id']).not.toBe(second['workspace_id']);
    const { workspaces } = await call('workspace', { action: 'list', project_id });
    expect(workspaces).toContainEqual(
      expect.objectContaining({
        id: first['workspace_id'],
        is_default: false,
        external_id: 'thread 1',
        source: 'a chat',
      }),
    );
  });

  test('an existing id: that one, with create or without', async () => {
    const { workspace_id, session_id } = await message({ create_workspace: true });
    for (const create_workspace of [false, true])
      expect(await message({ workspace_id, create_workspace })).toMatchObject({
        session_id,
        workspace_id,
        spawned: false,
        workspace_created: false,
      });
  });

  test('an unknown id, no create: refused by name', async () => {
    const workspace_id = crypto.randomUUID();
    const error = await refusal('session', { action: 'message', message: 'x', project_id, workspace_id });
    expect([error.type, error.message]).toEqual([
      'workspace_not_found',
      `workspace ${workspace_id} not found`,
    ]);
  });

  test('an unknown id, create: created with that id', async () => {
    const workspace_id = crypto.randomUUID();
    const answer = await message({ workspace_id, create_workspace: true });
    expect(answer).toMatchObject({ workspace_id, spawned: true, workspace_created: true });
  });

  test('another project’s is not found, and cannot be created', async () => {
    const other = await newProject();
    const { workspace_id } = await message({ create_workspace: true });
    const asked = { action: 'message', message: 'x', project_id: other, workspace_id };
    expect((await refusal('session', asked)).type).toBe('workspace_not_found');
    expect((await refusal('session', { ...asked, create_workspace: true })).type).toBe('conflict');
  });
});

test('spawn continues the session that answers, unless a new one is requested or it has ended', async () => {
  const project = await newProject();
  const place = { project_id: project };
  const first = await session('spawn', place);
  expect(first).toMatchObject({ spawned: true, summary: expect.stringContaining('New session created') });
  const again = await session('spawn', { ...place, message: 'hello' });
  expect(again).toMatchObject({ spawned: false, session_id: first['session_id'] });
  expect(again['summary']).toContain('resumed');
  const other = await session('spawn', { ...place, new_session: true });
  expect(other['session_id']).not.toBe(first['session_id']);
  expect(other['workspace_id']).toBe(first['workspace_id']);
  expect(await end(other['session_id'])).toMatchObject({ status: 'completed' });
  expect(
    (
      await refusal('session', {
        action: 'approve',
        ...{ session_id: other['session_id'], call_id: 'x', approved: true },
      })
    ).type,
  ).toBe('no_pending_tool_call');
  const after = await session('message', { ...place, message: 'hello' });
  expect(after).toMatchObject({ spawned: true, workspace_id: first['workspace_id'] });
});

test('a message with an id is sent once, even if its session has ended since', async () => {
  const project = await newProject();
  const spoken = { project_id: project, create_workspace: true, message: 'hello', message_id: 'once' };
  const first = await session('message', spoken);
  const again = await said('hello', spoken);
  expect(again).toMatchObject({
    session_id: first['session_id'],
    workspace_id: first['workspace_id'],
    spawned: false,
    message_id: 'once',
  });
  await end(first['session_id']);
  expect(await said('hello', spoken)).toMatchObject({ session_id: first['session_id'], spawned: false });
  const { turns } = await session('get', { session_id: first['session_id'] });
  expect(turns).toHaveLength(1);
});

test('of 20 concurrent messages to a new workspace one creates the session and all reach it', async () => {
  const project = await newProject();
  const workspace_id = crypto.randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      session('message', {
        message: `hello ${index}`,
        project_id: project,
        workspace_id,
        create_workspace: true,
      }),
    ),
  );
  expect(new Set(answers.map((answer) => answer['session_id'])).size).toBe(1);
  expect(answers.filter(({ spawned }) => spawned)).toHaveLength(1);
  expect(answers.filter((answer) => answer['workspace_created'])).toHaveLength(1);
  const { sessions } = await session('list', { project_id: project });
  expect(sessions).toHaveLength(1);
  const session_id = answers[0]?.['session_id'];
  const { turns } = await eventually(
    () => session('get', { session_id }),
    (got) => (got['turns'] as Fields[]).filter(({ finished }) => finished).length === 20,
    60_000,
  );
  expect(new Set((turns as Fields[]).map(({ request }) => request)).size).toBe(20);
});

test('two sessions of one workspace share its files and one sandbox; another workspace has neither, nor their events', async () => {
  const project = await newProject();
  const place = { project_id: project, create_workspace: true };
  const one = await said('$ echo mine > note; hostname', place);
  const shared = { project_id: project, workspace_id: one['workspace_id'] };
  const two = await session('spawn', { ...shared, new_session: true, autonomy_level: 'off' });
  const reads = await said('$ cat note; hostname', shared);
  expect(reads['session_id']).toBe(two['session_id']);
  expect(reads['text']).toContain('mine');
  const apart = await said('$ cat note; true', place);
  expect(apart['workspace_id']).not.toBe(one['workspace_id']);
  expect(apart['text']).toContain('No such file');
  const logs = await Promise.all(
    [one, reads, apart].map(async ({ session_id }) => {
      const { events } = await session('events', { session_id });
      return JSON.stringify((events as Fields[]).filter(({ type }) => type === 'message'));
    }),
  );
  expect(logs.map((log) => [log.includes('echo mine'), log.includes('cat note; hostname')])).toEqual([
    [true, false],
    [false, true],
    [false, false],
  ]);
  // The first ends: the sandbox is the second's still.
  await end(one['session_id']);
  expect((await said('$ cat note', shared))['text']).toContain('mine');
  for (const { session_id } of [two, apart]) await end(session_id);
});

describe.each(generations)('a client of %s that waits', (generation) => {
  let waiting: McpClient;
  const heard: Notified[] = [];
  beforeAll(async () => {
    waiting = await connect(server, generation, (notified) => heard.push(notified));
  });
  afterAll(() => waiting.close());

  test('receives calls, their outputs and the completion, and has the answer in the result', async () => {
    const project = await newProject({ autonomy: 'off' });
    heard.length = 0;
    const phases: (string | undefined)[] = [];
    const result = await waiting.call(
      'session',
      { action: 'message', project_id: project, message: '$ echo to-you', wait: true },
      { onProgress: ({ message }) => phases.push(message) },
    );
    expect(fieldsOf(result)).toMatchObject({
      finished: true,
      stop_reason: 'end_turn',
      text: expect.stringContaining('to-you'),
      pending_approvals: [],
      usage: { input_tokens: expect.any(Number) },
    });
    const { session_id, last_event_index } = fieldsOf(result);
    expect(heard.map(({ logger, data }) => [logger, data['type'], data['session_id']])).toEqual(
      ['tool:call', 'tool:output', 'completion'].map((type) => ['sallyport.session', type, session_id]),
    );
    expect(heard.at(-1)?.data).toMatchObject({
      index: last_event_index,
      final_response: expect.stringContaining('to-you'),
    });
    expect(heard[1]?.data).toMatchObject({
      tool_name: 'execute_command',
      text: expect.stringContaining('to-you'),
    });
    expect(phases).toContain('[completion]');
    await end(session_id);
  });

  test('receives a call that needs approval, and can decide it', async () => {
    const project = await newProject();
    heard.length = 0;
    const asked = { action: 'spawn', project_id: project, message: '$ echo careful', wait: true };
    const first = fieldsOf(await waiting.call('session', { ...asked, stop_at_approval: true }));
    const { session_id } = first;
    expect(first).toMatchObject({
      finished: false,
      pending_approvals: [{ name: 'execute_command', args: { command: 'echo careful' } }],
    });
    expect(heard.map(({ data }) => data['type'])).toEqual(['tool:call']);
    const [pending] = first['pending_approvals'] as Fields[];
    const decided = { session_id, call_id: pending?.['call_id'] };
    expect(await session('approve', { ...decided, approved: false })).toMatchObject({ session_id });
    expect((await refusal('session', { action: 'approve', ...decided, approved: true })).type).toBe(
      'no_pending_tool_call',
    );
    await eventually(
      () => session('get', { session_id }),
      ({ status }) => status === 'idle',
    );
    await end(session_id);
  });
});

test('a client that disconnects ends only the wait', async () => {
  const project = await newProject();
  const leaving = new AbortController();
  const other = await connect(server);
  const asked = { action: 'message', project_id: project, message: '$ echo on', wait: true };
  const waits = expect(other.call('session', asked, { signal: leaving.signal })).rejects.toThrow();
  const { sessions } = await eventually(
    () => session('list', { project_id: project }),
    (listed) => (listed['sessions'] as Fields[]).length === 1,
  );
  const session_id = (sessions as Fields[])[0]?.['session_id'];
  leaving.abort();
  await waits;
  const { pending_approvals } = await eventually(
    () => session('get', { session_id }),
    (got) => (got['pending_approvals'] as Fields[]).length === 1,
  );
  await session('approve', {
    session_id,
    call_id: (pending_approvals as Fields[])[0]?.['call_id'],
    approved: true,
  });
  await eventually(
    () => session('get', { session_id }),
    ({ status }) => status === 'idle',
    30_000,
  );
  await end(session_id);
  await other.close();
});

test('events are polled by number, with their text', async () => {
  const project = await newProject();
  const { session_id } = await said('hello there', { project_id: project });
  const all = await session('events', { session_id });
  expect(all).toMatchObject({
    session_id,
    status: 'idle',
    completed: false,
    failed: false,
    dropped_events: 0,
  });
  const events = all['events'] as Fields[];
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'message', role: 'user', text: 'hello there', session_id }),
  );
  const since_index = events[1]?.['index'];
  const later = await session('events', { session_id, since_index, max_events: 1, include_children: true });
  expect((later['events'] as Fields[]).map(({ index }) => index)).toEqual([2]);
  expect(later['last_index']).toBe(2);
  await end(session_id);
  expect(await session('events', { session_id })).toMatchObject({ completed: true, status: 'completed' });
});

test('cancel stops the turn, end ends the session, cleanup deletes ended sessions', async () => {
  const project = await newProject();
  const first = await session('message', { project_id: project, message: '$ echo never' });
  const { session_id } = first;
  await eventually(
    () => session('get', { session_id }),
    (got) => (got['pending_approvals'] as Fields[]).length === 1,
  );
  await session('cancel', { session_id });
  const got = await session('get', { session_id });
  expect(got).toMatchObject({ status: 'idle', turns: [{ finished: true, stop_reason: 'cancelled' }] });
  const cleaned = { project_id: project, max_age_hours: 0 };
  expect(await session('cleanup', cleaned)).toMatchObject({ removed: 0 });
  expect(await end(session_id)).toMatchObject({ status: 'completed', message: 'the session has ended' });
  expect(await end(session_id)).toMatchObject({ message: 'the session had ended before' });
  expect(await session('list', { project_id: project, status: 'active' })).toEqual({ sessions: [] });
  expect(await session('cleanup', { project_id: project })).toMatchObject({ removed: 0 });
  expect(await session('cleanup', cleaned)).toEqual({
    removed: 1,
    has_more: false,
    message: '1 session(s) older than 0 hours removed',
  });
  expect((await refusal('session', { action: 'get', session_id })).type).toBe('session_not_found');
  expect(await session('list', { project_id: project })).toEqual({ sessions: [] });
});

test('a workspace is deleted when it is unused, the default one never', async () => {
  const project = await newProject();
  const { session_id, workspace_id } = await said('$ echo kept > file', {
    project_id: project,
    create_workspace: true,
  });
  const deleted = { action: 'delete', project_id: project, workspace_id };
  const used = await refusal('workspace', deleted);
  expect([used.type, used.message]).toEqual(['conflict', `workspace ${workspace_id} has active sessions`]);
  const { workspaces } = await call('workspace', { action: 'list', project_id: project });
  const [first] = workspaces as Fields[];
  const own = await refusal('workspace', { ...deleted, workspace_id: first?.['id'] });
  expect([own.type, own.message]).toEqual(['conflict', 'cannot delete default workspace']);
  await end(session_id);
  expect(await call('workspace', deleted)).toEqual({
    id: workspace_id,
    message: `workspace ${workspace_id} deleted successfully`,
  });
  expect((await refusal('workspace', deleted)).type).toBe('workspace_not_found');
  const speaks = { action: 'message', message: 'x', project_id: project, workspace_id };
  expect((await refusal('session', speaks)).type).toBe('workspace_not_found');
  expect(
    ((await call('workspace', { action: 'list', project_id: project }))['workspaces'] as Fields[]).length,
  ).toBe(1);
});
