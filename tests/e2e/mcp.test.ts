/** `/mcp`, black-box: what a program that runs code through us sees, in the protocol of this year and of an older one. */
import { Client, type ProgressCallback, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, expect, onTestFailed, test } from 'vitest';
import { eventually } from './embedded-cloud.ts';
import { type Server, startServer } from './server.ts';

const micro = { MSB_DEFAULT_FLAVOR: 'micro' };
let server: Server;
let client: Client;
beforeAll(async () => {
  server = await startServer({ variables: micro });
  client = await connect(server);
});
/** Tests count the sessions: those of a failed try are none of the next one's. */
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  const { sessions } = await call(client, 'get_sessions');
  for (const { id } of sessions as { id: string }[]) await call(client, 'stop_session', { session_id: id });
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

const connect = async ({ url, token }: Server): Promise<Client> => {
  const made = new Client({ name: 'e2e', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await made.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  await made.listTools();
  return made;
};

type Fields = Record<string, unknown>;
type CallResult = {
  isError?: boolean | undefined;
  content?: unknown;
  structuredContent?: unknown;
};
type Caller = { callTool(request: { name: string; arguments: Fields }): Promise<CallResult> };

/** A result's fields, which its text repeats. */
const call = async (caller: Caller, name: string, args: Fields = {}): Promise<Fields> => {
  const result = await caller.callTool({ name, arguments: args });
  expect(result.isError ?? false, JSON.stringify(result.content)).toBe(false);
  expect(JSON.parse(textOf(result))).toEqual(result.structuredContent);
  return result.structuredContent as Fields;
};

type ToolError = { type: string; message: string; suggestions: string[]; recovery_actions: string[] };

/** A refusal: an error in the text, and no fields. */
const refusal = async (caller: Caller, name: string, args: Fields = {}): Promise<ToolError> => {
  const result = await caller.callTool({ name, arguments: args });
  expect([result.isError, 'structuredContent' in result]).toEqual([true, false]);
  const { error } = JSON.parse(textOf(result)) as { error: ToolError };
  expect(Object.keys(error)).toEqual(['type', 'message', 'suggestions', 'recovery_actions']);
  return error;
};

const textOf = ({ content }: { content?: unknown }): string =>
  (content as { text: string }[]).map(({ text }) => text).join('');

/** A client of 2025, by hand: each request is answered by an event stream. */
const olderClient = (of: Server) => {
  let id = 0;
  const send = async (method: string, params: Fields): Promise<Fields> => {
    id += 1;
    const response = await of.request('/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(method === 'initialize' ? {} : { 'mcp-protocol-version': '2025-06-18' }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const data = /^data: (.*)$/m.exec(await response.text())?.[1] ?? '';
    const message = JSON.parse(data) as { id: number; result: Fields };
    expect(message.id).toBe(id);
    return message.result;
  };
  return { send, callTool: (params: Fields): Promise<CallResult> => send('tools/call', params) };
};

test('both protocols list the same tools', async () => {
  const names = [
    'execute_code',
    'execute_command',
    'get_sessions',
    'stop_session',
    'process',
    'get_volume_path',
    'read_file',
    'write_file',
    'list_files',
    'project',
    'session',
    'workspace',
    'schedule',
    'token',
    'config_limits',
    'caller_tool_response',
  ];
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(names);
  const older = olderClient(server);
  const hello = await older.send('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'older', version: '1' },
  });
  expect(hello).toMatchObject({ protocolVersion: '2025-06-18', serverInfo: { name: 'sallyport' } });
  const listed = (await older.send('tools/list', {})) as { tools: Fields[] };
  expect(listed.tools.map(({ name }) => name)).toEqual(names);
  for (const tool of listed.tools) expect(tool['outputSchema']).toMatchObject({ type: 'object' });
});

test('a request without a token must authenticate', async () => {
  const response = await fetch(`${server.url}/mcp`, { method: 'POST', body: '{}' });
  const metadata = `${server.url}/.well-known/oauth-protected-resource/mcp`;
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([
    401,
    `Bearer resource_metadata="${metadata}"`,
  ]);
  expect(await response.json()).toMatchObject({ error: { code: 'unauthenticated' } });
  // No issuer is configured: the platform gives tokens itself.
  expect(await (await fetch(metadata)).json()).toEqual({
    resource: `${server.url}/mcp`,
    resource_name: 'Sallyport',
    authorization_servers: [server.url],
    scopes_supported: ['own:write', 'own:ro'],
    bearer_methods_supported: ['header'],
  });
});

test('there is no protocol session to open or close', async () => {
  for (const method of ['GET', 'DELETE']) {
    const response = await server.request('/mcp', { method });
    expect([method, response.status]).toEqual([method, 405]);
  }
});

test.each(['this year', 'an older one'])('a program runs in a session of its own (%s)', async (year) => {
  const caller = year === 'this year' ? client : olderClient(server);
  const first = await call(caller, 'execute_command', { command: 'echo out; echo err >&2; echo kept > f' });
  expect(first).toEqual({
    session_id: expect.any(String),
    stdout: 'out\n',
    stderr: 'err\n',
    exit_code: 0,
    execution_time_ms: expect.any(Number),
    session_created: true,
    cpu_ms: expect.any(Number),
    memory_peak_mb: expect.any(Number),
  });
  const { session_id } = first;
  const run = (name: string, args: Fields) => call(caller, name, { ...args, session_id });
  const short = async (name: string, args: Fields) => {
    const { stdout, exit_code, session_created } = await run(name, args);
    return [stdout, exit_code, session_created];
  };
  expect(await short('execute_command', { command: 'cat f' })).toEqual(['kept\n', 0, false]);
  expect(await short('execute_command', { command: 'printf', args: ['%s', '$HOME *'] })).toEqual([
    '$HOME *',
    0,
    false,
  ]);
  const python = 'import sys\nprint(open("f").read().strip())\nsys.exit(3)';
  expect(await short('execute_code', { code: python })).toEqual(['kept\n', 3, false]);
  const node = 'console.log(typeof process.versions.node)';
  expect(await short('execute_code', { code: node, template: 'node' })).toEqual(['string\n', 0, false]);
  expect(await short('execute_code', { code: 'print(1 + 1)' })).toEqual(['2\n', 0, false]);
  expect((await run('execute_command', { command: 'no-such-program' }))['exit_code']).toBe(127);
  expect((await run('execute_command', { command: 'no-such', args: ['x'] }))['exit_code']).toBe(127);
  await call(caller, 'stop_session', { session_id });
});

test('a session of node runs node by default', async () => {
  const made = await call(client, 'execute_code', { code: 'console.log([1].at(-1))', template: 'node' });
  expect(made).toMatchObject({ stdout: '1\n', exit_code: 0 });
  const { session_id } = made;
  const again = await call(client, 'execute_code', { code: 'console.log([6 * 7].at(-1))', session_id });
  expect(again).toMatchObject({ stdout: '42\n', session_created: false });
  const { sessions } = await call(client, 'get_sessions', { session_id });
  expect(sessions).toMatchObject([{ id: session_id, language: 'node', flavor: 'micro' }]);
  await call(client, 'stop_session', { session_id });
});

test('output is streamed while the program runs', async () => {
  const heard: (string | undefined)[] = [];
  const onprogress: ProgressCallback = ({ message }) => heard.push(message);
  const command = 'for i in 1 2 3; do echo line $i; sleep 0.3; done';
  const result = await client.callTool({ name: 'execute_command', arguments: { command } }, { onprogress });
  const phases = heard.filter((message) => message?.startsWith('['));
  expect(phases).toEqual([
    `[session ${(result.structuredContent as Fields)['session_id']}]`,
    '[starting the sandbox]',
    expect.stringMatching(/^\[the sandbox is ready after \d+ ms/),
  ]);
  const output = heard.slice(phases.length);
  expect(output.length).toBeGreaterThan(1);
  expect(output.join('')).toBe('line 1\nline 2\nline 3\n');
  const { session_id } = result.structuredContent as Fields;
  await call(client, 'stop_session', { session_id });
});

test('a program over its limits is killed, and its session continues', async () => {
  const late = await call(client, 'execute_command', { command: 'echo begun; sleep 60', timeout: 1 });
  expect(late).toMatchObject({
    stdout: 'begun\n',
    exit_code: 124,
    error: {
      type: 'execution_timeout',
      recovery_actions: ['wait_and_retry', 'retry_with_optimization'],
    },
  });
  const { session_id } = late;
  const code = 'data = bytearray(600 * 1024 * 1024)\nprint(len(data))';
  const large = await call(client, 'execute_code', { code, session_id });
  expect(large).toMatchObject({
    stdout: '',
    exit_code: 137,
    error: { type: 'resource_limit_exceeded', message: expect.stringContaining('512 MB') },
  });
  const after = await call(client, 'execute_command', { command: 'echo alive', session_id });
  expect(after).toMatchObject({ stdout: 'alive\n', exit_code: 0, session_created: false });
  expect(after).not.toHaveProperty('state_lost');
  await call(client, 'stop_session', { session_id });
});

test('sessions are listed until they are stopped', async () => {
  const { session_id } = await call(client, 'execute_command', { command: 'true' });
  const { sessions } = await call(client, 'get_sessions');
  expect(sessions).toEqual([
    {
      id: session_id,
      language: 'python',
      flavor: 'micro',
      status: 'ready',
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      last_accessed: expect.stringMatching(/^\d{4}-.*Z$/),
      uptime_seconds: expect.any(Number),
    },
  ]);
  expect(await call(client, 'stop_session', { session_id })).toEqual({
    session_id,
    success: true,
    message: 'the session is stopped',
  });
  expect(await call(client, 'stop_session', { session_id })).toEqual({
    session_id,
    success: true,
    message: 'the session was stopped before',
  });
  expect(await call(client, 'get_sessions')).toEqual({ sessions: [] });
  expect(await call(client, 'get_sessions', { session_id })).toEqual({ sessions: [] });
  expect(await refusal(client, 'execute_command', { command: 'true', session_id })).toMatchObject({
    type: 'invalid_session_state',
    recovery_actions: ['create_new_session'],
  });
});

test('invalid calls are refused by name, in both protocols', async () => {
  const session_id = crypto.randomUUID();
  for (const caller of [client, olderClient(server)]) {
    const refused = async (name: string, args: Fields) => {
      const { type, message } = await refusal(caller, name, args);
      return [type, message];
    };
    expect(await refusal(caller, 'execute_code', { code: '1', session_id })).toMatchObject({
      type: 'session_not_found',
      recovery_actions: ['create_new_session'],
    });
    for (const name of ['get_sessions', 'stop_session'])
      expect((await refused(name, { session_id }))[0]).toBe('session_not_found');
    expect((await refused('get_sessions', { session_id: 'none' }))[0]).toBe('session_not_found');
    expect(await refused('execute_code', { code: '1', flavor: 'gigantic' })).toEqual([
      'invalid_flavor',
      'flavor: use one of micro, small, medium, large',
    ]);
    expect(await refused('execute_code', { code: '1', template: 'ruby' })).toEqual([
      'unsupported_language',
      'template: use one of python, node',
    ]);
    expect(await refused('execute_code', { code: '1', timeout: 3601 })).toEqual([
      'invalid_request',
      'timeout: a number of seconds from 1 to 3600',
    ]);
    expect(await refused('execute_command', {})).toEqual([
      'invalid_request',
      'command: a text of 1 to 120000 bytes',
    ]);
    expect((await refused('stop_session', { session_id, force: 1 }))[1]).toContain('"force"');
  }
  expect(await call(client, 'get_sessions')).toEqual({ sessions: [] });
});

test('projects are created, shown and listed, and enforce their allowed sizes', async () => {
  const made = await call(client, 'project', {
    action: 'create',
    name: 'small things',
    template: 'node',
    flavors_allowed: ['MICRO'],
  });
  onTestFailed(async () => {
    await client.callTool({ name: 'project', arguments: { action: 'delete', project_id: made['id'] } });
  });
  const project = {
    id: expect.any(String),
    name: 'small things',
    template: 'node',
    flavors_allowed: ['micro'],
    created_at: expect.any(String),
  };
  expect(made).toEqual(project);
  expect(await call(client, 'project', { action: 'get', project_id: made['id'] })).toEqual({
    ...made,
    secrets: [],
  });
  const { projects } = await call(client, 'project', { action: 'list' });
  expect(projects).toEqual([made, expect.objectContaining({ name: 'default' })]);
  const within = { project_id: made['id'] };
  const large = await refusal(client, 'execute_code', { code: '1', flavor: 'large', ...within });
  expect(large.type).toBe('invalid_flavor');
  const ran = await call(client, 'execute_code', { code: 'console.log([1].at(-1))', ...within });
  expect(ran).toMatchObject({ stdout: '1\n' });
  const again = { command: 'echo again', session_id: ran['session_id'] };
  expect(await call(client, 'execute_command', { ...again, ...within })).toMatchObject({ exit_code: 0 });
  const elsewhere = { ...again, project_id: '00000000-0000-4000-8000-000000000000' };
  expect((await refusal(client, 'execute_command', elsewhere)).type).toBe('invalid_session_state');
  await call(client, 'stop_session', { session_id: ran['session_id'] });
  const nowhere = { project_id: crypto.randomUUID() };
  expect((await refusal(client, 'execute_code', { code: '1', ...nowhere })).type).toBe('project_not_found');
  expect((await refusal(client, 'project', { action: 'get', ...nowhere })).type).toBe('project_not_found');
  expect((await refusal(client, 'project', { action: 'x' })).message).toBe(
    "unknown action 'x' for project tool; valid actions: create, list, get, update, delete, options",
  );
  expect((await refusal(client, 'project')).message).toBe(
    'action parameter is required for project tool; valid actions: create, list, get, update, delete, options',
  );
});

test('a deployment without a shared folder reports that', async () => {
  expect(await call(client, 'get_volume_path')).toMatchObject({ volume_path: '/shared', available: false });
});

test('sandboxes are limited: an idle one gives way, a busy one never, and a caller may wait', async () => {
  const small = await startServer({ variables: { ...micro, MSB_MAX_SESSIONS: '2' } });
  try {
    const caller = await connect(small);
    const listed = async (): Promise<Record<string, unknown>> => {
      const { sessions } = await call(caller, 'get_sessions');
      return Object.fromEntries((sessions as { id: string; status: string }[]).map((s) => [s.id, s.status]));
    };
    const make = async (): Promise<string> => {
      const made = await call(caller, 'execute_command', { command: 'echo kept > kept.txt' });
      return String(made['session_id']);
    };
    const [first, second] = [await make(), await make()];
    const third = await make();
    expect(await listed()).toEqual({ [first]: 'paused', [second]: 'ready', [third]: 'ready' });

    const back = await call(caller, 'execute_command', { command: 'cat kept.txt', session_id: first });
    expect(back).toMatchObject({ stdout: 'kept\n', session_created: false, state_lost: true });
    expect(await listed()).toEqual({ [first]: 'ready', [second]: 'paused', [third]: 'ready' });

    // It starts for a file, whose answer has no such field; a program in the background does not take the notice away.
    await call(caller, 'list_files', { session_id: second, path: '.' });
    const started = await call(caller, 'execute_command', {
      ...{ command: 'true', session_id: second, background: true },
    });
    expect(started).toMatchObject({ session_created: false, state_lost: true });
    const again = await call(caller, 'execute_command', { command: 'cat kept.txt', session_id: second });
    expect(again).toMatchObject({ stdout: 'kept\n', state_lost: true });
    const next = await call(caller, 'execute_command', { command: 'true', session_id: second });
    expect(next).not.toHaveProperty('state_lost');
    for (const id of [first, third])
      await call(caller, 'execute_command', { command: 'true', session_id: id });
    expect(await listed()).toEqual({ [first]: 'ready', [second]: 'paused', [third]: 'ready' });

    const until = { command: 'until [ -e go ]; do sleep 0.1; done' };
    // The stop of the first one ends its call.
    const busy = Promise.allSettled(
      [first, third].map((id) => call(caller, 'execute_command', { ...until, session_id: id })),
    );
    await eventually(listed, (now) => now[first] === 'running' && now[third] === 'running');
    const full = await refusal(caller, 'execute_command', { command: 'true' });
    expect(full.type).toBe('resource_limit_exceeded');
    expect(full.suggestions.length).toBeGreaterThan(0);
    expect(full.recovery_actions).toContain('stop_session');
    expect(Object.keys(await listed())).toHaveLength(3);

    const waiting = call(caller, 'execute_command', { command: 'echo at last', wait_seconds: 30 });
    await call(caller, 'stop_session', { session_id: first });
    expect(await waiting).toMatchObject({ stdout: 'at last\n', session_created: true });
    await call(caller, 'write_file', { session_id: third, path: 'go', content: '' });
    const [, ended] = await busy;
    expect(ended?.status).toBe('fulfilled');
    await caller.close();
  } finally {
    await small.stop();
  }
});
