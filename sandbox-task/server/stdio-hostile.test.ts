/**
 * MCP servers that fail, hang, lie and flood: each is classified, and neither the runner nor another server suffers.
 * W13 of docs/spec/sandbox.md.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { waitFor } from './sandbox-fixture.ts';
import { failureOf, fieldsOf, type StdioSandbox, startStdioSandbox, textOf } from './stdio-fixture.ts';

let sandbox: StdioSandbox;
let pids: readonly number[];
beforeAll(async () => {
  sandbox = await startStdioSandbox();
  pids = await sandbox.pids();
});
afterAll(() => sandbox.stop());
// The runner has survived all of them.
afterEach(async () => expect(await sandbox.pids()).toEqual(pids));

test('W13: a server that dies in a call reports how, and the next call has a new one', async () => {
  const { call, node } = sandbox;
  const server = node('older.mjs', 'mortal');
  await call(server, 'count');
  const beside = call(server, { tool: 'late', input: { ms: 5000 } });
  await delay(100);
  const died = 'MCP server node: it exited with code 3; its state in memory is lost';
  const words = '; its last words:\nthe disk is full\n[ended] it exited with code 3';
  const crashed = await call(server, 'crash');
  expect(fieldsOf(crashed)).toEqual({ server_died: true });
  const failures = [failureOf(crashed), failureOf(await beside)].toSorted();
  expect(failures).toEqual([
    ['tool_outcome_unknown', expect.any(String)],
    ['tool_outcome_unknown', expect.any(String)],
  ]);
  expect(failures.map(([, message]) => message)).toContain(`${died}${words}`);
  const next = await call(server, 'count');
  expect([textOf(next), fieldsOf(next)]).toEqual(['1', { is_error: false }]);
});

test('W13: a server that dies between calls is started again, and the loss is reported once', async () => {
  const { call, python, run } = sandbox;
  const server = python('', 'killed');
  const pid = Number(textOf(await call(server, 'pid')));
  const child = Number(textOf(await call(server, 'child')));
  await run(`kill -9 ${pid}`);
  // Processes that it left behind are killed with it.
  await waitFor(async () => (await run(`kill -0 ${child} || echo gone`)) === 'gone\n');
  expect(fieldsOf(await call(server, 'pid'))).toEqual({ is_error: false, state_lost: true });
  expect(fieldsOf(await call(server, 'pid'))).toEqual({ is_error: false });
});

test('W13: a cancel ends only the call; the server stays', async () => {
  const { ask, call, callAs, node } = sandbox;
  // Of this try alone: one that ran before would count on.
  const server = node('older.mjs', randomUUID());
  await call(server, 'count');
  const callId = randomUUID();
  const running = callAs(callId, server, { tool: 'late', input: { ms: 600_000 }, timeout: 900 });
  const beside = call(server, { tool: 'late', input: { ms: 1500 } });
  await delay(500);
  await ask('POST', `/calls/${callId}/cancel`);
  expect(await running).toContain('"error":{"type":"cancelled","message":"cancelled"}');
  expect(textOf(await beside)).toBe('late 1500');
  expect(textOf(await call(server, 'count'))).toBe('2');
});

test('the server is told which call was cancelled', async () => {
  const { call, python } = sandbox;
  const server = python('', 'told');
  // The time of the call is not that of its start.
  await call(server, 'pid');
  expect(failureOf(await call(server, { tool: 'never', timeout: 1 }))).toEqual([
    'execution_timeout',
    'MCP server python: timed out after 1 s',
  ]);
  const [never, cancelled] = JSON.parse(textOf(await call(server, 'taken-back')));
  expect(cancelled).toEqual({ requestId: never, reason: 'timed out' });
});

test('W13: a server that does not answer a ping is killed when its call is cancelled', async () => {
  const { call, node } = sandbox;
  const server = node('older.mjs', 'stubborn');
  await call(server, 'count');
  expect(failureOf(await call(server, { tool: 'stuck', timeout: 1 }))).toEqual([
    'execution_timeout',
    'MCP server node: timed out after 1 s; its state in memory is lost',
  ]);
  const next = await call(server, 'count');
  expect([textOf(next), fieldsOf(next)]).toEqual(['1', { is_error: false }]);
});

test('a server that cannot be started reports why', async () => {
  const { call, list, python } = sandbox;
  expect(failureOf(await list({ name: 'none', command: 'no-such' }))).toEqual([
    'mcp_server_unavailable',
    'MCP server none: no-such: command not found (exit code 127)',
  ]);
  const secret = 'correct horse\nbattery staple';
  const failed = failureOf(await call({ ...python('exit'), env: { SECRET: secret } }, 'pid'));
  expect(failed).toEqual([
    'mcp_server_unavailable',
    'MCP server python: it exited with code 9; its last words:\ncannot open the database\npassword is [hidden]\n[hidden]\n[ended] it exited with code 9',
  ]);
  await waitFor(async () => (await sandbox.logTexts()).includes('[python] [ended] it exited with code 9'));
  const log = await sandbox.logTexts();
  expect(log).toEqual(
    expect.arrayContaining(['[python] cannot open the database', '[python] password is [hidden]']),
  );
  expect(log).toContain('MCP server python has ended: it exited with code 9');
  expect(log.join()).not.toMatch(/horse|staple/);
  const refused = { ...python('refuse'), env: { SECRET: 'correct horse' } };
  expect(failureOf(await call(refused, 'pid'))[1]).toContain('it refused initialize: bad key [hidden]');
  expect((await sandbox.logTexts()).join()).not.toMatch(/horse/);
});

test('W13: a server that does not speak the protocol is detected', async () => {
  const { call, list, python } = sandbox;
  expect(failureOf(await call(python('ancient'), 'pid'))).toEqual([
    'mcp_server_unavailable',
    'MCP server python: it wants to speak revision "1999-01-01", which is not known here',
  ]);
  for (const manner of ['silent', 'wrong-id'])
    expect(failureOf(await list(python(manner), 1))).toEqual([
      'mcp_server_unavailable',
      'MCP server python: timed out after 1 s while the MCP server was starting: it has not answered initialize',
    ]);
});

test('W13: garbage on stdout is logged and skipped', async () => {
  const { call, list, logTexts, python } = sandbox;
  expect(textOf(await list(python('garbage')))).toBe('6 tools');
  expect(await call(python('garbage'), 'other-id')).toMatchObject({
    content: [{ type: 'text', text: 'mine' }],
  });
  await waitFor(async () => (await logTexts()).includes('[python] [no message] Welcome!'));
});

test('pages are followed to their end, up to a limit', async () => {
  const { list, python } = sandbox;
  const names = async (manner: string): Promise<readonly string[]> =>
    (await list(python(manner))).structuredContent?.['tools'] as readonly string[];
  expect(await names('')).toMatchObject(
    ['one0', 'two0', 'one1', 'two1', 'one2', 'two2'].map((name) => ({ name })),
  );
  expect(await names('endless')).toHaveLength(100);
});

test('W13: its requests are refused, and a ping is answered', async () => {
  const { call, python } = sandbox;
  expect(textOf(await call(python(), 'ask'))).toBe('[-32601, -32601, -32601, {}]');
});

test('W13: a line of 100 MB fails its call, and the server stays', async () => {
  const { call, python } = sandbox;
  const server = python('', 'long');
  const pid = textOf(await call(server, 'pid'));
  expect(failureOf(await call(server, 'long-line'))).toEqual([
    'tool_outcome_unknown',
    'MCP server python: it wrote a line over 8388608 bytes',
  ]);
  expect(textOf(await call(server, 'pid'))).toBe(pid);
});

test('W13: JSON that would exhaust the memory is not parsed, and one nested too deep is not forwarded', async () => {
  const { call, python } = sandbox;
  const server = python('', 'bomb');
  const pid = textOf(await call(server, 'pid'));
  expect(failureOf(await call(server, 'bomb'))).toEqual([
    'tool_outcome_unknown',
    'MCP server python: it wrote more than 200000 values',
  ]);
  expect(failureOf(await call(server, 'deep'))).toEqual([
    'tool_outcome_unknown',
    'MCP server python: its answer cannot be read',
  ]);
  expect(textOf(await call(server, 'pid'))).toBe(pid);
});

test('W13: a flood of notifications and noise does not block other calls', async () => {
  const { call, logTexts, node, python } = sandbox;
  const calm = node('older.mjs', 'calm');
  await call(calm, 'count');
  await call(python('', 'flood'), 'pid');
  const floodedAt = performance.now();
  let isOver = false;
  const flooding = call(python('', 'flood'), { tool: 'flood', timeout: 60 }).finally(() => {
    isOver = true;
  });
  await delay(300);
  await call(calm, 'count');
  expect(isOver).toBe(false);
  expect(textOf(await flooding)).toBe('flooded');
  // 30,000 messages: it waited at its full pipe.
  expect(performance.now() - floodedAt).toBeGreaterThan(1000);
  await call(python('', 'flood'), 'noise');
  await waitFor(async () => (await logTexts()).some((line) => /lines left out/.test(line)));
});

/** Answers a call by a statement of its own, which has `say`, the `id` and the `token` of its progress. */
const odd = (statement: string) => ({
  name: 'odd',
  command: sandbox.nodePath,
  args: [
    '-e',
    `const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      const token = params?._meta?.progressToken;
      if (method === 'initialize')
        say({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } } });
      if (method === 'tools/call') { ${statement} }
      if (method === 'ping') say({ id, result: {} });
    });`,
  ],
});

test('W13: what has no text is no word, wherever it stands', async () => {
  // A server of this try.
  const error = `say({ id, error: { code: 1, message: { toString: 1 } } }) /* ${crypto.randomUUID()} */`;
  const refused = await sandbox.call(odd(error), 'any');
  expect([textOf(refused), fieldsOf(refused)]).toEqual([
    'MCP error 1: no text',
    { is_error: true, rpc_error_code: 1 },
  ]);
  const progress =
    "say({ method: 'notifications/progress', params: { progressToken: token, progress: { toString: 1 } } })";
  const answer = "say({ id, result: { content: [{ type: 'text', text: 'over' }] } })";
  expect(textOf(await sandbox.call(odd(`${progress}; ${answer}`), 'any'))).toBe('over');
});

test('a working folder that is not there is named, also by a long name', async () => {
  const cwd = Array.from({ length: 16 }, () => 'd'.repeat(249))
    .join('/')
    .slice(0, 3985);
  const [type, message] = failureOf(await sandbox.list({ ...odd(''), cwd }));
  expect([type, message]).toEqual([
    'mcp_server_unavailable',
    expect.stringContaining('its working folder ddd'),
  ]);
});

test('a large answer is cut, and marked', async () => {
  const { call, python } = sandbox;
  const big = await call(python('', 'flood'), 'big');
  expect(fieldsOf(big)).toEqual({ is_error: false, content_truncated: true });
  expect(big.content[0]?.text).toMatch(/^a+\n\.\.\. \(\d+ characters left out\) \.\.\.\na+z$/);
  expect(big.content[0]?.text.length).toBeLessThanOrEqual(512 * 1024);
  expect(big.content.slice(1)).toEqual([
    ...Array.from({ length: 8 }, () => ({ type: 'image', mimeType: 'image/png', data: 'A'.repeat(4000) })),
    { type: 'text', text: '[3 blocks of the answer left out]' },
  ]);
});

test.each([
  [{ name: 'no spaces', command: 'x' }, 'server.name: has letters, digits, hyphens and underscores'],
  [{ name: 'x', command: '' }, 'server.command: must not be empty'],
  [{ name: 'x', command: 'x', env: { 'a b': '1' } }, 'server.env'],
  [{ name: 'x', command: 'x', url: 'http://x' }, 'server: has no field "url"'],
  [{ name: 'x', command: 'a\0b' }, 'has no NUL character'],
])('%j is refused', async (server, message) => {
  const [type, text] = failureOf(await sandbox.list(server));
  expect([type, text]).toEqual(['invalid_request', expect.stringContaining(message)]);
});
