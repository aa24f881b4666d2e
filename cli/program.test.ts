import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { errorRules } from '#shared/errors.ts';
import { type Routes, refusal, startFakeDeployment, type Talk } from './fixtures/fake-deployment.ts';
import { makeMachine } from './fixtures/run-cli.ts';

const token = `sp_${'a1'.repeat(32)}`;
const loggedIn = async (routes: Routes, talk?: Talk) => {
  const fake = await startFakeDeployment(routes, talk);
  const machine = await makeMachine({ SALLYPORT_URL: fake.url, SALLYPORT_TOKEN: token });
  return { fake, ...machine, [Symbol.asyncDispose]: fake[Symbol.asyncDispose] };
};

describe('wrong usage has exit code 2 and names the right usage', () => {
  test.each([
    [['sesions'], "unknown command 'sesions'", 'Did you mean `sallyport sessions`?'],
    [['token', 'creat'], "unknown command 'token creat'", 'Did you mean `sallyport token create`?'],
    [
      ['files'],
      "'files' needs a subcommand",
      'Subcommands: files ls, files get, files put, files rm, files mkdir, files mv, files cp, files link.',
    ],
    [['chat', '--aprovals', 'auto'], "Unknown option '--aprovals'", 'Did you mean --approvals?'],
    [['stop'], 'an argument is missing', 'Usage: sallyport stop <id…>'],
    [['sessions', 'get', 'a', 'b'], "unexpected argument 'b'", 'Usage: sallyport sessions get <id>'],
    [['chat', '- list the files'], "Unknown option '- '", 'Put `--` before arguments'],
    [['schedules', 'create', 'x', '--prompt', '- do it'], 'is ambiguous', 'is written --prompt=<value>.'],
    [['exec', 'ls', '-l'], "Unknown option '-l'", 'Put `--` before the command to run.'],
    [
      ['sessions', 'create', '--title', 'x'],
      "Unknown option '--title'",
      '--title is an option of `sallyport sessions update`',
    ],
    [
      ['exec', '--title', 'x', '--', 'ls'],
      "Unknown option '--title'",
      '--title is an option of `sallyport sessions update`',
    ],
    [
      ['schedules', 'create', '--name', 'x'],
      "Unknown option '--name'",
      '<name> is an argument: write it without --name.',
    ],
    [
      ['approvals', 'approv', 's', 'c'],
      "unknown command 'approvals approv'",
      '`sallyport approvals approve`?',
    ],
    [
      ['approvals', 'approve', 's', 'c'],
      'without a terminal, --digest',
      '`sallyport approvals show <session> <call>`',
    ],
    [['approvals', 'approve', 's'], 'an argument is missing', 'Usage: sallyport approvals approve'],
    [['sessions', 'approve', 's', 'c'], 'without a terminal, --digest', ''],
    [['approvals', 'reject', 's', 'c', '--alway'], "Unknown option '--alway'", ''],
    [['grants', 'withdrw', 's', 'g'], "unknown command 'grants withdrw'", '`sallyport grants withdraw`?'],
    [['audit', '--limit', 'x'], '--limit must be a whole number', ''],
    [['webhooks', 'create', 'https://x'], '--event is required', 'Events: approval_required'],
    [['mcp', 'add', 'x'], 'either --url or --command is required', ''],
    [['token', 'create', '--name', 'x'], '--name and --scope are required', 'Scopes: admin'],
    [['client', 'disconnect', ''], '<id> is empty', 'Usage: sallyport client disconnect <id> | --all'],
    [['stop', 'a', ''], '<id…> is empty', 'Usage: sallyport stop <id…>'],
    [['approvals', 'show', 's', ''], '<call> is empty', ''],
    [['workspaces', 'create', ''], '<id> is empty', ''],
    [['chat', '--session', '', 'hi'], '--session is empty', 'Usage: sallyport chat'],
    [['exec', '--session', '', '--', 'ls'], '--session is empty', 'Usage: sallyport exec'],
    [['sessions', '--project='], '--project is empty', ''],
    [['sessions', 'message', 's', '--attach', 'a', '--attach', '', 'hi'], '--attach is empty', ''],
    [
      ['chat', '--session', 's', '--approvals', 'auto', 'hi'],
      '--approvals cannot be combined with --session',
      '',
    ],
  ])('%j', async (args, message, advice) => {
    const { run } = await makeMachine({ SALLYPORT_URL: 'http://127.0.0.1:9', SALLYPORT_TOKEN: token });
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).toContain(advice);
  });
});

test('help names every command, and the version is the package’s', async () => {
  const { run } = await makeMachine();
  const { code, stdout } = await run(['help']);
  expect(code).toBe(0);
  for (const name of ['login', 'chat', 'exec', 'files put', 'token revoke', 'mcp health', 'setup cursor'])
    expect(stdout).toContain(`  ${name} `);
  expect(stdout.match(/^\w.*$/gm)?.slice(2, -4)).toEqual([
    'Log in',
    'Work with agents',
    'Run programs in sandboxes',
    'Set up projects',
    'Connect programs',
    'Operate a deployment',
  ]);
  expect((await run(['exec', '--help'])).stdout).toContain('Usage: sallyport exec');
  expect((await run(['mcp', '--help'])).stdout).toContain('  mcp add ');
  const explained = await run(['help', 'snapshot']);
  expect(explained.stdout).toContain('Usage: sallyport snapshot <session> [--name <text>]');
  expect(explained.stdout).toBe((await run(['snapshot', '--help'])).stdout);
  expect((await run(['help', 'token', 'create'])).stdout).toContain('Usage: sallyport token create');
  expect((await run(['help', 'setup'])).stdout).toContain('  setup cursor ');
  expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('the compiled program is kept in the cache of the user, and one that cannot be written is no error', async () => {
  const { folder } = await makeMachine();
  const start = async (variables: NodeJS.ProcessEnv) => {
    const program = [join(import.meta.dirname, 'sallyport.js'), '--version'];
    return (await promisify(execFile)(process.execPath, program, { env: variables })).stdout;
  };
  expect(await start({ HOME: folder })).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(await readdir(join(folder, '.cache', 'sallyport', 'compile-cache'))).toHaveLength(1);
  await writeFile(join(folder, 'file'), '');
  expect(await start({ XDG_CACHE_HOME: join(folder, 'file') })).toMatch(/^\d/);
});

describe('login', () => {
  test('the token is checked, stored for its owner alone, used, and deleted', async () => {
    await using fake = await startFakeDeployment({
      'GET /api/sessions': ({ headers }) =>
        headers.authorization === `Bearer ${token}`
          ? { body: { sessions: [] } }
          : { status: 401, body: refusal('unauthenticated', 'a valid token is required') },
      'GET /api/access': { body: { scope: 'project:p', project: 'p', name: 'ana', may: ['own:read'] } },
    });
    const { run, folder } = await makeMachine();
    const path = join(folder, '.config', 'sallyport', 'config.json');
    const wrong = await run(['login', '--url', fake.url], { stdin: 'sp_wrong\n' });
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toBe(
      'sallyport: a valid token is required (unauthenticated)\n  Give a valid token: `npm start` prints one, and an admin makes others with `sallyport token create`.\n',
    );
    await expect(stat(path)).rejects.toThrow('ENOENT');
    expect((await run(['login', '--url', `${fake.url}/#token=${token}`])).code).toBe(0);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ url: fake.url, token });
    expect(JSON.parse((await run(['whoami', '--json'])).stdout)).toEqual({
      url: fake.url,
      token: 'sp_a1a1a...a1a1',
      source: 'file',
      accepted: true,
      name: 'ana',
      scope: 'project:p',
    });
    expect((await run(['logout'])).stdout).toBe('Logged out.\n');
    expect((await run(['sessions'], { variables: { SALLYPORT_URL: fake.url } })).stderr).toContain(
      'no token for',
    );
  });

  test('a stored token is sent to no other URL', async () => {
    await using fake = await startFakeDeployment({ 'GET /api/sessions': { body: { sessions: [] } } });
    const { run } = await makeMachine();
    await run(['login', '--url', fake.url, '--token', token]);
    const elsewhere = await run(['sessions'], { variables: { SALLYPORT_URL: 'http://127.0.0.1:9' } });
    expect(elsewhere.stderr).toContain('no token for http://127.0.0.1:9');
  });
});

describe('errors', () => {
  test('an unreachable server is reported with the URL and advice', async () => {
    const { run } = await makeMachine({ SALLYPORT_URL: 'http://127.0.0.1:9', SALLYPORT_TOKEN: token });
    const { code, stderr } = await run(['stats']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/http:\/\/127\.0\.0\.1:9 cannot be reached.*\n {2}Start it with `npm start`/);
  });

  test('a refusal is shown with code and suggestions, without its control sequences', async () => {
    await using one = await loggedIn({
      'GET /api/stats': {
        status: 400,
        body: refusal('invalid_request', 'no\x1b]0;x\x07pe', ['Try \x1b[31mthis.']),
      },
    });
    expect((await one.run(['stats'])).stderr).toBe('sallyport: nope (invalid_request)\n  Try this.\n');
    const { stdout, stderr } = await one.run(['--json', 'stats']);
    expect([stdout, JSON.parse(stderr)]).toEqual([
      '',
      refusal('invalid_request', 'no\x1b]0;x\x07pe', ['Try \x1b[31mthis.']),
    ]);
  });

  test('an HTML page of another server is reported as an unexpected answer', async () => {
    await using one = await loggedIn({ 'GET /api/stats': { status: 502, body: '<html>' } });
    expect((await one.run(['stats'])).stderr).toContain('does not answer as a Sallyport does: HTTP 502');
  });

  test('a request refused by the rate limit is retried', async () => {
    let times = 0;
    await using one = await loggedIn({
      'GET /api/stats': () => {
        times += 1;
        return times === 1
          ? { status: 429, body: refusal('rate_limited', 'slow'), headers: { 'retry-after': '0.01' } }
          : { body: { limits: 'enforced' } };
      },
    });
    expect(JSON.parse((await one.run(['--json', 'stats'])).stdout)).toEqual({ limits: 'enforced' });
  });
});

test('tokens are created, listed and revoked as the contract says', async () => {
  await using one = await loggedIn({
    'POST /api/tokens': { status: 201, body: { id: 't1', token: 'sp_new', scope: 'admin:ro', name: 'ci' } },
    'GET /api/tokens': {
      body: { tokens: [{ id: 't1', name: 'ci', scope: 'admin:ro', token: 'sp_12345...abcd' }] },
    },
    'DELETE /api/tokens/t1': { body: {} },
  });
  const made = await one.run(['token', 'create', '--name', 'ci', '--scope', 'admin:ro', '--expires', '60']);
  expect([made.code, made.stdout]).toEqual([0, 'sp_new\n']);
  expect(JSON.parse(one.fake.asked[0]?.body ?? '')).toEqual({
    name: 'ci',
    scope: 'admin:ro',
    expiresInSeconds: 60,
  });
  expect((await one.run(['token', 'list'])).stdout).toBe(
    'ID  NAME  SCOPE     TOKEN            EXPIRES\nt1  ci    admin:ro  sp_12345...abcd  never\n',
  );
  expect((await one.run(['token', 'revoke', 't1'])).stdout).toBe('Revoked t1.\n');
});

test('MCP servers are added, shown with their secrets masked, tested and removed', async () => {
  const bearer = `Bearer \${KEY}`;
  const server = {
    name: 'gh',
    config: { transport: 'http', url: 'https://gh/mcp', headers: { A: bearer, B: 'x' } },
  };
  const summary = { total: 1, healthy: 1, unhealthy: 0, reconnecting: 0, disconnected: 0 };
  await using one = await loggedIn({
    'POST /api/mcp/add': { status: 201, body: { message: 'MCP server added successfully', name: 'gh' } },
    'GET /api/mcp': { body: { servers: [server] } },
    'GET /api/mcp/health': {
      body: { summary, mcps: [{ name: 'gh', status: 'healthy', consecutiveFailures: 0 }] },
    },
    'POST /api/mcp/gh/test': { body: { ok: false, error: 'no answer' } },
    'POST /api/mcp/gh/disable': { body: {} },
    'DELETE /api/mcp/gh': { body: { message: 'gone' } },
  });
  const args = ['mcp', 'add', 'gh', '--url', 'https://gh/mcp', '--header', `A=${bearer}`, '--header', 'B=x'];
  expect((await one.run(args)).stdout).toBe('MCP server added successfully: gh\n');
  expect(JSON.parse(one.fake.asked[0]?.body ?? '')).toEqual(server);
  expect((await one.run(['mcp', 'info', 'gh'])).stdout).toBe(
    [
      'name       gh',
      'transport  http',
      'enabled    yes',
      'url        https://gh/mcp',
      `header A   ${bearer}`,
      'header B   ***',
      'status     healthy',
      '',
    ].join('\n'),
  );
  expect((await one.run(['mcp', 'info', 'none'])).stderr).toContain('mcp_server_not_found');
  expect(await one.run(['mcp', 'test', 'gh'])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /^gh does not work: no answer\n {2}`sallyport mcp info gh` shows its configuration/,
    ),
  });
  const refused = { ok: false, error: 'in other words', httpStatus: 401 };
  await using other = await loggedIn({ 'POST /api/mcp/gh/test': { body: refused } });
  expect((await other.run(['mcp', 'test', 'gh'])).stdout).toMatch(
    /^gh does not work: in other words\n {2}It refused the credentials, .*`sallyport secret set`.*OAuth\) is not supported\.\n$/,
  );
  expect((await one.run(['mcp', 'disable', 'gh'])).stdout).toBe('Disabled gh.\n');
  expect((await one.run(['mcp', 'remove', 'gh'])).stdout).toBe('Removed gh.\n');
  expect((await one.run(['mcp', 'health'])).stdout).toContain('1 total, 1 healthy');
  const stdio = ['mcp', 'add', 'fs', '--command', 'npx', '--arg', 'fs', '--arg=-v', '--env', 'K=a=b'];
  await one.run(stdio);
  expect(JSON.parse(one.fake.asked.at(-1)?.body ?? '')).toEqual({
    name: 'fs',
    config: { transport: 'stdio', command: 'npx', args: ['fs', '-v'], env: { K: 'a=b' } },
  });
});

test('a server that takes a secret into sandboxes is added and shown with a warning', async () => {
  const warning = 'All code in the sandbox can read KEY';
  const summary = { total: 0, healthy: 0, unhealthy: 0, reconnecting: 0, disconnected: 0 };
  const server = { name: 'fs', status: 'healthy', config: { transport: 'stdio', command: 'npx' }, warning };
  await using one = await loggedIn({
    'POST /api/mcp/add': { status: 201, body: { message: 'added', name: 'fs', warning } },
    'GET /api/mcp': { body: { servers: [server] } },
    'GET /api/mcp/health': { body: { summary, mcps: [] } },
  });
  expect(await one.run(['mcp', 'add', 'fs', '--command', 'npx', '--env', `K=\${KEY}`])).toMatchObject({
    stdout: 'added: fs\n',
    stderr: `Warning: ${warning}\n`,
  });
  expect((await one.run(['mcp', 'info', 'fs'])).stdout).toContain(`warning    ${warning}\n`);
});

test('a missing model has exit code 1', async () => {
  await using one = await loggedIn({
    'GET /api/models/check?models=a%2Cb': {
      body: { provider: 'demo', models: { a: 'available', b: 'not_found' } },
    },
    'GET /api/models/available': { body: { provider: 'demo', models: [{ id: 'demo', name: 'Demo' }] } },
  });
  expect(await one.run(['models', 'check', 'a', 'b'])).toMatchObject({
    code: 1,
    stdout: 'MODEL  AT DEMO\na      available\nb      not_found\n',
  });
  expect((await one.run(['models'])).stdout).toBe('Models of demo:\nID    NAME\ndemo  Demo\n');
});

test('a list is read page by page', async () => {
  await using one = await loggedIn({
    'GET /api/projects': { body: { projects: [{ id: 'p1', name: 'a' }], next: 'n 1' } },
    'GET /api/projects?after=n%201': { body: { projects: [{ id: 'p2', name: 'b' }] } },
  });
  const { projects } = JSON.parse((await one.run(['projects', '--json'])).stdout);
  expect(projects.map(({ id }: { id: string }) => id)).toEqual(['p1', 'p2']);
});

test('a large file is sent in parts with their range', async () => {
  const path = '/api/sessions/s/files/dir/a%20b.bin';
  await using one = await loggedIn({ [`PUT ${path}`]: { status: 201, body: '' } });
  const bytes = 4 * 1_048_576 + 3;
  await writeFile(join(one.folder, 'large'), Buffer.alloc(bytes, 7));
  expect((await one.run(['files', 'put', 's', 'dir/a b.bin', 'large'])).stdout).toBe(
    `dir/a b.bin: ${bytes} bytes\n`,
  );
  expect(one.fake.asked.map(({ headers, body }) => [headers['content-range'], body.length])).toEqual([
    ['bytes 0-4194303/4194307', 4_194_304],
    ['bytes 4194304-4194306/4194307', 3],
  ]);
  const [id, ...others] = one.fake.asked.map(({ headers }) => headers['upload-id']);
  expect([id?.length, others]).toEqual([36, [id]]);
  await one.run(['files', 'put', 's', 'dir/a b.bin', '-'], { stdin: 'piped' });
  expect(one.fake.asked.at(-1)).toMatchObject({ body: 'piped' });
  expect((await one.run(['files', 'put', 's', 'dir/a b.bin', 'gone'])).stderr).toContain('file_not_found');
});

test('several sessions are stopped, each reported as it ends, also behind one that is refused', async () => {
  await using one = await loggedIn({
    'DELETE /api/sessions/a': { body: { id: 'a' } },
    'DELETE /api/sessions/b': { body: { id: 'b' } },
  });
  expect((await one.run(['stop', 'a', 'b'])).stdout).toBe('Stopped a.\nStopped b.\n');
  expect(JSON.parse((await one.run(['stop', '--json', 'a'])).stdout)).toEqual({ id: 'a' });
  expect(JSON.parse((await one.run(['stop', '--json', 'a', 'b'])).stdout)).toEqual({
    sessions: [{ id: 'a' }, { id: 'b' }],
  });
  expect(await one.run(['stop', 'a', 'gone', 'lost', 'b'])).toEqual({
    code: 1,
    stdout: 'Stopped a.\nStopped b.\n',
    stderr: 'sallyport: gone: there is no such route; lost: there is no such route (not_found)\n',
  });
  const { stdout, stderr } = await one.run(['stop', '--json', 'gone', 'b']);
  expect([JSON.parse(stdout), JSON.parse(stderr).error.code]).toEqual([
    { sessions: [{ id: 'b' }] },
    'not_found',
  ]);
});

test('an ended session is resumed, and one that cannot be says why', async () => {
  await using one = await loggedIn({
    'POST /api/sessions/a/resume': { body: { id: 'a', status: 'idle' } },
  });
  expect((await one.run(['resume', 'a'])).stdout).toBe('Resumed a: idle.\n');
  expect(JSON.parse((await one.run(['sessions', 'resume', '--json', 'a'])).stdout)).toEqual({
    id: 'a',
    status: 'idle',
  });
  expect((await one.run(['resume', 'gone'])).code).toBe(1);
});

test('a path that leads up is refused before it can become another address', async () => {
  await using one = await loggedIn({});
  for (const args of [
    ['get', 's', '../../etc/passwd'],
    ['put', 's', 'a/../../b', '-'],
    ['rm', 's', '/workspace/..'],
  ])
    expect((await one.run(['files', ...args])).stderr).toContain('(path_outside_workspace)');
  expect(one.fake.asked).toEqual([]);
});

test('a client’s settings keep their content, get a backup, and contain no token', async () => {
  const { run, folder } = await makeMachine({ SALLYPORT_URL: 'http://x:1', SALLYPORT_TOKEN: token });
  await mkdir(join(folder, '.cursor'));
  await writeFile(join(folder, '.mcp.json'), '{"mcpServers":{"theirs":{}}}');
  expect((await run(['setup', 'claude-code'])).code).toBe(0);
  const text = await readFile(join(folder, '.mcp.json'), 'utf8');
  expect(JSON.parse(text)).toEqual({
    mcpServers: {
      theirs: {},
      sallyport: {
        type: 'http',
        url: 'http://x:1/mcp',
        headers: { Authorization: `Bearer \${SALLYPORT_TOKEN}` },
      },
    },
  });
  const backups = (await readdir(folder)).filter((name) => name.endsWith('.bak'));
  expect(backups).toHaveLength(1);
  expect(await readFile(join(folder, backups[0] ?? ''), 'utf8')).toBe('{"mcpServers":{"theirs":{}}}');
  expect((await run(['setup', 'claude-code'])).stdout).toContain('already has this entry');
  await run(['setup', 'cursor', '--with-token']);
  expect((await stat(join(folder, '.cursor', 'mcp.json'))).mode & 0o777).toBe(0o600);
  expect(await readFile(join(folder, '.cursor', 'mcp.json'), 'utf8')).toContain(token);
  expect((await run(['setup', 'json'])).stdout).not.toContain(token);
});

/** Of `{"args":{},"callId":"c/1","name":"execute_command","turnId":"t"}`. */
const digestOfC1 = '026f83d08699073fb319aa790d4e87731c684a26137739bf89c6ea2d7a5ffd5e';

describe('a chat over an interrupted connection', () => {
  test('continues after the last event, and sends its message once', async () => {
    const said: string[] = [];
    const sinces: (string | null)[] = [];
    const talk: Talk = ({ query, send, drop, onAction }) => {
      sinces.push(query.get('since'));
      send({
        type: 'system:ready',
        data: { lastSeq: sinces.length === 1 ? 4 : 6, provider: 'p', model: 'm' },
      });
      onAction(({ action, text, messageId }) => {
        if (action !== 'message') return;
        said.push(String(text));
        send({ type: 'message', seq: 5, data: { messageId, role: 'user', text } });
        send({ type: 'delta', data: { messageId: 'a', offset: 0, text: 'Hel' } });
        drop();
      });
      if (sinces.length < 2) return;
      send({ type: 'completion', seq: 7, data: { turnId: 't', stopReason: 'end_turn', text: 'Hello' } });
      send({ type: 'message', seq: 6, data: { messageId: 'a', role: 'assistant', text: 'Hello' } });
    };
    await using one = await loggedIn({ 'POST /api/sessions': { status: 201, body: { id: 's' } } }, talk);
    const { code, stdout, stderr } = await one.run(['chat', '--model', 'm', 'hi', 'there']);
    expect([code, stdout, stderr]).toEqual([0, 'Hello\n', 'Connection lost, reconnecting…\n']);
    expect([said, sinces]).toEqual([['hi there'], [null, '5']]);
    expect(JSON.parse(one.fake.asked[0]?.body ?? '')).toEqual({ model: 'm' });
  });

  test('an answer that is too long for a frame is printed whole', async () => {
    const talk: Talk = ({ send, onAction }) => {
      send({ type: 'system:ready', data: { lastSeq: -1 } });
      onAction(({ messageId }) => {
        send({ type: 'message', seq: 0, data: { messageId, role: 'user', text: 'x' } });
        const cut = { text: 'Hel', truncated: true };
        send({ type: 'message', seq: 1, data: { messageId: 'a', role: 'assistant', ...cut } });
        send({ type: 'completion', seq: 2, data: { turnId: 't', stopReason: 'end_turn', ...cut } });
      });
    };
    const events = [
      { index: 1, type: 'message', data: { messageId: 'a', role: 'assistant', text: 'Hello' } },
      { index: 2, type: 'completion', data: { turnId: 't', stopReason: 'end_turn', text: 'Hello' } },
    ];
    const routes: Routes = {
      'POST /api/sessions': { status: 201, body: { id: 's' } },
      'GET /api/sessions/s/events?since_index=0&max_events=500': { body: { events } },
    };
    await using one = await loggedIn(routes, talk);
    expect((await one.run(['chat', 'hi'])).stdout).toBe('Hello\n');
    expect(JSON.parse((await one.run(['chat', '--json', 'hi'])).stdout)).toMatchObject({ text: 'Hello' });
  });

  test('a turn that failed says why: in JSON by its code, on a terminal with advice', async () => {
    const talk: Talk = ({ send, onAction }) => {
      send({ type: 'system:ready', data: { lastSeq: -1 } });
      onAction(({ messageId }) => {
        send({ type: 'message', seq: 0, data: { messageId, role: 'user', text: 'x' } });
        const ofCall = { code: 'tool_failed', message: 'Tool a failed: no', callId: 'c' };
        send({ type: 'agent:error', seq: 1, data: ofCall });
        send({
          type: 'agent:error',
          seq: 2,
          data: { code: 'provider_auth_failed', message: 'the key is wrong' },
        });
        send({ type: 'completion', seq: 3, data: { turnId: 't', stopReason: 'error', text: '' } });
      });
    };
    await using one = await loggedIn({ 'POST /api/sessions': { status: 201, body: { id: 's' } } }, talk);
    const { code, stdout } = await one.run(['chat', '--json', 'hi']);
    const error = { code: 'provider_auth_failed', message: 'the key is wrong' };
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { stopReason: 'error', error }]);
    const { stderr } = await one.run(['chat', 'hi']);
    expect(stderr).toContain('! the key is wrong (provider_auth_failed)\n');
    expect(stderr).toContain(`\n  ${errorRules.provider_auth_failed.advice}\n`);
  });

  test('a refusal on the socket becomes the error of the command', async () => {
    const talk: Talk = ({ send }) =>
      send({ type: 'error', data: refusal('provider_not_configured', 'OPENAI_API_KEY is required') });
    await using one = await loggedIn({ 'POST /api/sessions': { status: 201, body: { id: 's' } } }, talk);
    expect(await one.run(['chat', 'hi'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'sallyport: OPENAI_API_KEY is required (provider_not_configured)\n',
    });
  });

  test('without a terminal a call is rejected with a message, and approved with --yes', async () => {
    const talk: Talk = ({ send, onAction }) => {
      send({ type: 'system:ready', data: { lastSeq: -1 } });
      onAction(({ messageId }) => {
        send({ type: 'message', seq: 0, data: { messageId, role: 'user', text: 'x' } });
        const named = { turnId: 't', callId: 'c/1', name: 'execute_command', args: {} };
        const data = { ...named, digest: digestOfC1, queuePosition: 1, totalInQueue: 1 };
        send({ type: 'tool:approval_required', seq: 1, data });
        setTimeout(
          () => send({ type: 'completion', seq: 2, data: { stopReason: 'end_turn', text: '' } }),
          300,
        );
      });
    };
    const route = 'POST /api/sessions/s/approvals/c%2F1';
    await using one = await loggedIn(
      { 'POST /api/sessions': { status: 201, body: { id: 's' } }, [route]: { body: {} } },
      talk,
    );
    expect((await one.run(['chat', 'x'])).stderr).toContain('Rejected execute_command: there is no terminal');
    expect((await one.run(['chat', '--yes', 'x'])).stderr).toBe('');
    const decisions = one.fake.asked
      .filter((asked) => asked.route === route)
      .map(({ body }) => JSON.parse(body));
    const shown = { turnId: 't', digest: digestOfC1 };
    expect(decisions).toEqual([
      { approved: false, ...shown },
      { approved: true, ...shown },
    ]);
  });
});

describe('exec through MCP', () => {
  const sse = (...messages: object[]): string =>
    messages.map((message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`).join('');
  const headers = { 'content-type': 'text/event-stream' };
  const result = {
    session_id: 's',
    stderr: 'err',
    exit_code: 7,
    execution_time_ms: 1,
    session_created: true,
  };
  const answering =
    (
      structuredContent: object,
      ...progress: readonly { stream: string; offset: number; message: string }[]
    ) =>
    ({ body }: { body: string }) => {
      const { id } = JSON.parse(body);
      const told = progress.map(({ stream, offset, message }) => ({
        method: 'notifications/progress',
        params: { message, _meta: { 'dev.sallyport/stream': stream, 'dev.sallyport/offset': offset } },
      }));
      return { headers, body: sse(...told, { id, result: { content: [], structuredContent } }) };
    };

  test('prints streamed and remaining output once, and exits as the program did', async () => {
    const routes = {
      'POST /mcp': answering(
        { ...result, stdout: 'one two' },
        { stream: 'stdout', offset: 0, message: 'one' },
        { stream: 'stderr', offset: 0, message: 'e' },
      ),
    };
    await using one = await loggedIn(routes);
    const ran = await one.run(['exec', '--timeout', '5', '--', 'prog', '-x', '--json']);
    expect(ran).toEqual({ code: 7, stdout: 'one two', stderr: 'err' });
    expect(JSON.parse(one.fake.asked[0]?.body ?? '').params).toMatchObject({
      name: 'execute_command',
      arguments: { command: 'prog', args: ['-x', '--json'], timeout: 5 },
    });
    const shown = JSON.parse((await one.run(['--json', 'exec', '--', 'x'])).stdout);
    expect(shown).toEqual({ ...result, stdout: 'one two' });
  });

  test('reports a refused request like the tool', async () => {
    const error = { type: 'invalid_flavor', message: 'no', suggestions: ['Less.'], recovery_actions: [] };
    const refused = { content: [{ type: 'text', text: JSON.stringify({ error }) }], isError: true };
    await using one = await loggedIn({
      'POST /mcp': ({ body }) => ({ headers, body: sse({ id: JSON.parse(body).id, result: refused }) }),
    });
    expect(await one.run(['exec', '--code', '1'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'sallyport: no (invalid_flavor)\n  Less.\n',
    });
  });
});
