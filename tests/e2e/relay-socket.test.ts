/** The relay's socket, black-box: a script inside a sandbox uses the platform within its session's rights, and no further. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect } from './mcp-clients.ts';

let cloud: EmbeddedCloud;
let id: string;

beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } });
  id = (await post<{ readonly id: string }>('/api/sessions', { provider: 'demo' })).id;
});
afterAll(() => cloud.stop());

type Fields = Record<string, unknown>;
const post = <T = Fields>(path: string, body: Fields): Promise<T> =>
  cloud.ask<T>(path, { method: 'POST', body: JSON.stringify(body) });
type Ran = { readonly exitCode: number; readonly stdout: string; readonly stderr: string };
const run = (command: string, session = id) => post<Ran>(`/api/sessions/${session}/exec`, { command });
const ask = async <T = Fields>(command: string): Promise<T> => {
  const { exitCode, stdout, stderr } = await run(`sallyport-client ${command}`);
  expect([stderr, exitCode]).toEqual(['', 0]);
  return JSON.parse(stdout) as T;
};
const refusal = async (command: string, session = id): Promise<string> => {
  const { exitCode, stdout, stderr } = await run(`sallyport-client ${command}`, session);
  expect([stdout, exitCode]).toEqual(['', 1]);
  return stderr.trim();
};

test('a script lists the tools, starts a child and reads its events', async () => {
  const { tools } = await ask<{ readonly tools: readonly { readonly name: string }[] }>('tools');
  expect(tools.map(({ name }) => name)).toEqual([
    'read_file',
    'write_file',
    'list_files',
    'project',
    'session',
    'workspace',
    'config_limits',
  ]);
  const child = await ask<{ readonly session_id: string; readonly text: string }>(
    'message "say hello" --wait',
  );
  expect(child).toMatchObject({ spawned: true, finished: true, stop_reason: 'end_turn' });
  const { events } = await ask<{ readonly events: readonly { readonly type: string }[] }>(
    `events ${child.session_id}`,
  );
  expect(events.map(({ type }) => type)).toContain('completion');
  const shown = await cloud.ask<Fields>(`/api/sessions/${child.session_id}`);
  expect(shown).toMatchObject({ parent: id, depth: 1, approvals: 'ask' });
  expect(await ask(`message again --session ${child.session_id}`)).toMatchObject({ spawned: false });
  expect(await ask(`call session '{"action":"get","session_id":"${child.session_id}"}'`)).toMatchObject({
    structuredContent: { session_id: child.session_id, depth: 1 },
  });
  const own = await ask<{ readonly events: readonly { readonly type: string }[] }>('events --children');
  expect(own.events.map(({ type }) => type)).toContain('completion');
});

const mayNot = 'a program inside a sandbox may not do this';

test('what a program may not do is refused (PS1, PS2)', async () => {
  const other = (await post<{ readonly id: string }>('/api/sessions', { provider: 'demo' })).id;
  const elsewhere = (await post<{ readonly id: string }>('/api/projects', { name: 'elsewhere' })).id;
  const refused: readonly (readonly [string, string])[] = [
    [`call session '{"action":"approve","session_id":"${id}","call_id":"c","approved":true}'`, mayNot],
    [`call session '{"action":"spawn","message":"x"}'`, mayNot],
    [`call session '{"action":"end","session_id":"${id}"}'`, 'there is no such session'],
    [`call session '{"action":"get","session_id":"${other}"}'`, 'there is no such session'],
    [`call read_file '{"session_id":"${other}","path":"a"}'`, 'there is no such session'],
    [`call project '{"action":"update","project_id":"x","network":["a.org"]}'`, mayNot],
    [`call project '{"action":"get","project_id":"${elsewhere}"}'`, 'there is no such project'],
    [`call token '{"action":"list"}'`, mayNot],
    [`call schedule '{"action":"create","name":"x"}'`, mayNot],
    [`call execute_command '{"command":"id"}'`, mayNot],
    [`events ${other}`, 'there is no such session'],
    [`message hello --session ${other}`, 'there is no such session'],
    [`message hello --session ${id}`, 'there is no such session'],
    ['message hello --approvals auto', 'approvals: at least as strict as those of this session, ask'],
    ['call nothing', 'there is no such tool'],
    ['caller-tool editor_open', 'no client of this session offers a tool editor_open'],
  ];
  for (const [command, sentence] of refused)
    expect([command, await refusal(command)]).toEqual([command, expect.stringContaining(sentence)]);
});

test('an execution session starts no agent', async () => {
  const body = { kind: 'execution', provider: 'demo' };
  const { id: execution } = await post<{ readonly id: string }>('/api/sessions', body);
  expect(await refusal('message hello', execution)).toContain('only the session of an agent starts others');
});

const send = (lines: string): string =>
  [
    'import socket',
    's = socket.socket(socket.AF_UNIX); s.connect("/run/sallyport/relay.sock")',
    `s.sendall(${lines}); s.shutdown(socket.SHUT_WR)`,
    'print(s.makefile().read(), end="")',
  ].join('\n');

test('messages that cannot be read are answered, and what follows is served', async () => {
  const lines = [
    'b"no json\\n{}\\n"',
    'b\'{"jsonrpc":"2.0","id":1,"method":"nothing"}\\n\'',
    'b\'{"jsonrpc":"2.0","id":2,"method":"session_message","params":{"message":"x","network":"none"}}\\n\'',
    'b\'{"jsonrpc":"2.0","method":"platform_tools"}\\n\'',
  ];
  const { stdout } = await run(`python3 -c '${send(lines.join(' + ')).replaceAll("'", `'"'"'`)}'`);
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly id: unknown; readonly error: { readonly code: number } });
  expect(answers.map(({ id: of, error: { code } }) => [of, code]).toSorted()).toEqual([
    [null, -32600],
    [null, -32700],
    [1, -32601],
    [2, -32602],
  ]);
  const long = await run(`python3 -c '${send('b"x" * 1048577')}' 2>&1`);
  expect(long.stdout).toContain('a message has at most 1048576 bytes');
});

test('TM8, TM9: a program gives a child a part of the budget, and no more than is left', async () => {
  const given = async (part: Fields): Promise<Fields> => {
    const params = { message: 'say hello', ...part };
    const line = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'session_message', params });
    const { stdout } = await run(`python3 - <<'END'\n${send(`b'${line}\\n'`)}\nEND`);
    return JSON.parse(stdout) as Fields;
  };
  const told = await given({ max_tool_calls: 2, max_total_tokens: 500_000, max_cost_usd: 0.5 });
  const { session_id: child } = told['result'] as { readonly session_id: string };
  const { sessions } = await cloud.ask<{ sessions: readonly Fields[] }>(`/api/sessions/${child}/tree`);
  expect(sessions).toMatchObject([
    { id: child, slice: { maxToolCalls: 2, maxTotalTokens: 500_000, maxCostUsd: 0.5 } },
  ]);
  expect(JSON.stringify(await given({ max_cost_usd: 1000 }))).toContain('is left of your budget');

  const { session_id: bounded } = await ask<{ readonly session_id: string }>(
    "message 'say hello' --workspace own --max-tool-calls 2 --max-cost-usd 0.5",
  );
  expect((await run('sallyport-client message hello --max-tool-calls many')).exitCode).toBe(2);
  const look = `call session '{"action":"get","session_id":"${bounded}"}'`;
  for (const _ of [1, 2]) expect((await run(`sallyport-client ${look}`, bounded)).exitCode).toBe(0);
  expect(await refusal(look, bounded)).toContain('no call of a tool is left of the budget of this session');
  expect((await run('sallyport-client tools', bounded)).exitCode).toBe(0);
  const tree = await cloud.ask<{ sessions: readonly Fields[] }>(`/api/sessions/${bounded}/tree`);
  expect(tree.sessions).toMatchObject([
    { id: bounded, slice: { maxToolCalls: 2, toolCalls: 2, maxCostUsd: 0.5 } },
  ]);
});

test('a process that nobody follows is told at once that nothing holds the relay (RL4)', async () => {
  const { id: alone } = await post<{ readonly id: string }>('/api/sessions', { provider: 'demo' });
  const wait = 'until [ -e go ]; do sleep 0.1; done';
  await run(`(${wait}; sallyport-client tools 2> said; touch done) > /dev/null 2>&1 &`, alone);
  await cloud.request(`/api/sessions/${alone}/files/go`, { method: 'PUT', body: 'x' });
  const said = await eventually(
    async () => (await cloud.request(`/api/sessions/${alone}/files/said`)).text(),
    (text) => text.includes('sallyport-client'),
  );
  expect(said).toContain('nothing holds the other end of the relay');
});

test('the client of the session answers a call of its tool, if the session lets it run unasked', async () => {
  const { id: trusting } = await post<{ readonly id: string }>('/api/sessions', {
    provider: 'demo',
    approvals: 'auto',
  });
  await offer(trusting);
  const called = run(`sallyport-client caller-tool editor_open '{"path":"a.txt"}'`, trusting);
  const [asked] = await eventually(
    async () => (await eventsOf(trusting)).filter(({ type }) => type === 'caller_tool:request'),
    (events) => events.length === 1,
  );
  expect(asked?.data).toMatchObject({ name: 'open', args: { path: 'a.txt' } });
  const answer = (result: string) =>
    cloud.request(`/api/sessions/${trusting}/caller-tools/${asked?.data['requestId']}`, {
      method: 'POST',
      body: JSON.stringify({ result }),
    });
  expect((await answer('opened')).status).toBe(200);
  expect((await answer('again')).status).toBe(409);
  expect(JSON.parse((await called).stdout)).toEqual({
    content: [{ type: 'text', text: 'opened' }],
    isError: false,
  });
  await offer(id);
  expect(await refusal('caller-tool editor_open')).toContain('needs an approval');
});

const offer = async (session: string) => {
  const client = await connect(cloud);
  await client.call('session', {
    action: 'message',
    session_id: session,
    message: 'hello',
    caller_id: 'editor',
    caller_tools: [{ name: 'open', description: 'Opens a file.' }],
    wait: true,
  });
  await client.close();
};

type Event = { readonly type: string; readonly data: Fields };
const eventsOf = async (session: string) =>
  (await cloud.ask<{ readonly events: readonly Event[] }>(`/api/sessions/${session}/events`)).events;

test('an agent of the sandbox has the platform by MCP over stdio', async () => {
  const messages = [
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}',
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","id":2,"method":"tools/list"}',
    '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"config_limits","arguments":{}}}',
    '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"token","arguments":{"action":"list"}}}',
  ];
  const python = [
    'import subprocess, sys',
    'p = subprocess.Popen(["sallyport-client"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)',
    'for line in sys.stdin:',
    '    p.stdin.write(line); p.stdin.flush()',
    '    if \'"id"\' in line: print(p.stdout.readline(), end="")',
    'p.stdin.close(); print(p.wait())',
  ].join('\n');
  const command = `cat > /tmp/ask.py <<'END'\n${python}\nEND\npython3 /tmp/ask.py <<'END'\n${messages.join('\n')}\nEND`;
  const { stdout } = await run(command);
  const [, listed = '', limits = '', token = '', exit] = stdout.trim().split('\n');
  const names = (JSON.parse(listed) as { result: { tools: { name: string }[] } }).result.tools.map(
    ({ name }) => name,
  );
  expect(names).toEqual(expect.arrayContaining(['session_message', 'platform_call_tool', 'session']));
  expect(JSON.parse(limits)).toMatchObject({ result: { isError: false } });
  expect(JSON.parse(token)).toMatchObject({
    result: { isError: true, content: [{ text: expect.stringContaining(mayNot) }] },
  });
  expect(exit).toBe('0');
});
