/**
 * MCP servers inside a sandbox, as the platform meets them: real ones, started and asked by the bundled runner. W13 of
 * docs/spec/sandbox.md.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitFor } from './sandbox-fixture.ts';
import { failureOf, fieldsOf, type StdioSandbox, startStdioSandbox, textOf } from './stdio-fixture.ts';

let sandbox: StdioSandbox;
beforeAll(async () => {
  sandbox = await startStdioSandbox();
});
afterAll(() => sandbox.stop());

test.each(['modern.mjs', 'modern-only.mjs', 'older.mjs'])(
  '%s is listed and called, and stays for the next call',
  async (file) => {
    const { call, list, node } = sandbox;
    // Of this try alone, as others whose calls are counted: one that ran before would count on.
    const server = node(file, randomUUID());
    const { structuredContent } = await list(server);
    const tools = structuredContent?.['tools'] as readonly { name: string }[] | undefined;
    expect(tools?.map(({ name }) => name)).toEqual([
      ...['count', 'env', 'fail', 'crash', 'picture', 'add', 'late', 'stuck', 'steps'],
    ]);
    expect(tools).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'count', description: 'Counts its calls.' }),
        { name: 'add', inputSchema: expect.objectContaining({ required: ['a', 'b'] }) },
      ]),
    );
    expect(textOf(await call(server, 'count'))).toBe('1');
    expect(textOf(await call(server, 'count'))).toBe('2');
    const sum = await call(server, { tool: 'add', input: { a: 2, b: 3 } });
    expect([textOf(sum), fieldsOf(sum)]).toEqual(['5', { is_error: false, structured: { sum: 5 } }]);
    expect((await call(server, 'picture')).content).toEqual([
      { type: 'text', text: 'see' },
      { type: 'image', data: 'YWJj', mimeType: 'image/png' },
      { type: 'text', text: '[a block left out: audio audio/wav]' },
    ]);
  },
);

test.each(['modern.mjs', 'modern-only.mjs', 'older.mjs'])(
  '%s: a failing tool and an unknown one are results with an error',
  async (file) => {
    const { call, node } = sandbox;
    const failed = await call(node(file), 'fail');
    expect([failed.isError ?? false, textOf(failed), fieldsOf(failed)]).toEqual([
      false,
      'no luck',
      { is_error: true },
    ]);
    const unknown = await call(node(file), 'nothing');
    expect(fieldsOf(unknown)).toMatchObject({ is_error: true });
    expect(textOf(unknown)).toContain('nothing');
  },
);

test.each(['modern.mjs', 'older.mjs'])('%s: progress arrives while the call runs', async (file) => {
  const answer = await sandbox.callAs(randomUUID(), sandbox.node(file), { tool: 'steps' });
  const pieces = [...answer.matchAll(/"message":"(\{.*?\})"/g)].map(([, text = '']) =>
    JSON.parse(JSON.parse(`"${text}"`)),
  );
  // A busy machine may join two of them.
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.map(({ text }) => text).join('')).toBe('step 1\nstep 2\nstep 3\n');
  expect(pieces.at(-1)).toEqual({
    stream: 'stdout',
    offset: expect.any(Number),
    text: expect.stringMatching(/step 3\n$/),
  });
  expect(pieces.at(-1).offset + pieces.at(-1).text.length).toBe(21);
  expect(answer).toContain('"text":"done"');
});

test.each(['modern.mjs', 'modern-only.mjs'])('%s stays when a timed-out call is cancelled', async (file) => {
  const { call, node } = sandbox;
  const before = Number(textOf(await call(node(file), 'count')));
  expect(failureOf(await call(node(file), { tool: 'late', input: { ms: 9000 }, timeout: 1 }))[0]).toBe(
    'execution_timeout',
  );
  expect(textOf(await call(node(file), 'count'))).toBe(String(before + 1));
});

test('calls of one server run concurrently, and two servers are independent', async () => {
  const { call, node } = sandbox;
  const server = node('older.mjs', randomUUID());
  await call(server, 'count');
  const answered: string[] = [];
  const answers = await Promise.all(
    [2500, 1500, 500].map(async (ms) => {
      const answer = textOf(await call(server, { tool: 'late', input: { ms } }));
      answered.push(answer);
      return answer;
    }),
  );
  expect(answers).toEqual(['late 2500', 'late 1500', 'late 500']);
  // None waited for one that was asked before it.
  expect(answered).toEqual(['late 500', 'late 1500', 'late 2500']);
  expect(textOf(await call({ ...server, name: 'other' }, 'count'))).toBe('1');
  expect(textOf(await call(server, 'count'))).toBe('2');
});

test('concurrent first calls start one server', async () => {
  const server = sandbox.node('older.mjs', randomUUID());
  const answers = await Promise.all([1, 2, 3].map(() => sandbox.call(server, 'count')));
  expect(answers.map(textOf).toSorted()).toEqual(['1', '2', '3']);
});

test('a changed configuration starts another server; the old one finishes its calls and ends', async () => {
  const { call, python, run } = sandbox;
  const old = python('', `old ${randomUUID()}`);
  const pid = Number(textOf(await call(old, 'pid')));
  const running = call(old, { tool: 'sleep', input: { seconds: 1 } });
  await delay(200);
  const next = await call(python('', `new ${randomUUID()}`), 'pid');
  expect(Number(textOf(next))).not.toBe(pid);
  expect(fieldsOf(next)).toEqual({ is_error: false });
  expect(fieldsOf(await running)).toEqual({ is_error: false });
  await waitFor(async () => (await run(`kill -0 ${pid} || echo gone`)) === 'gone\n');
});

test('a repeated call id gets the first result, and the tool runs once', async () => {
  const { call, callAs, node } = sandbox;
  const server = node('older.mjs', randomUUID());
  const callId = randomUUID();
  const count = () => callAs(callId, server, { tool: 'count' });
  for (const answer of [...(await Promise.all([count(), count()])), await count()])
    expect(answer).toContain('"text":"1"');
  expect(textOf(await call(server, 'count'))).toBe('2');
});

test('it has the environment of user code and its own variables, which no other process has', async () => {
  const { call, node, run } = sandbox;
  const env = { ONLY: 'env', TOKEN: 'hidden-token', PATH: '/somewhere' };
  const server = { ...node('older.mjs', 'env'), env };
  const [, json, cwd] = /^(\{.*\})(.*)$/.exec(textOf(await call(server, 'env'))) ?? [];
  expect(JSON.parse(json ?? '')).toEqual({
    ...env,
    PATH: '/somewhere:/opt/sallyport/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: sandbox.workspace,
    LANG: 'C.UTF-8',
    TMPDIR: '/tmp',
    USER: 'sandbox',
    SHELL: '/bin/bash',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.bareRepository',
    GIT_CONFIG_VALUE_0: 'explicit',
  });
  expect(cwd).toBe(sandbox.workspace);
  expect(await run('env')).not.toContain('TOKEN');
  const { structuredContent } = await sandbox.callTool('execute_code', {
    language: 'python',
    code: 'import os; print(os.environ.get("TOKEN"))',
  });
  expect(structuredContent?.['stdout']).toBe('None\n');
});

test('it starts in a folder of the workspace only', async () => {
  const { call, node, run } = sandbox;
  await run('mkdir folder; ln -s /etc link');
  const server = (cwd: string) => ({ ...node('older.mjs', 'cwd'), cwd });
  expect(textOf(await call(server('folder'), 'env'))).toMatch(/\/workspace\/folder$/);
  for (const cwd of ['/etc', '..', 'link'])
    expect(failureOf(await call(server(cwd), 'env'))[0]).toBe('path_outside_workspace');
  expect(failureOf(await call(server('absent'), 'env'))).toEqual([
    'mcp_server_unavailable',
    'MCP server node: its working folder absent is not there',
  ]);
});

test('its state is lost with the runner, and the next call reports it', async () => {
  const { call, node, killRunner } = sandbox;
  const server = node('older.mjs', 'orphan');
  await call(server, 'count');
  const running = call(server, { tool: 'late', input: { ms: 9000 } });
  await delay(300);
  await killRunner();
  expect(failureOf(await running)[0]).toBe('tool_outcome_unknown');
  const next = await call(server, 'count');
  expect([textOf(next), fieldsOf(next)]).toEqual(['1', { is_error: false, state_lost: true }]);
  expect(fieldsOf(await call(server, 'count'))).toEqual({ is_error: false });
});

test('a ninth server is refused, until one of the eight has ended', async () => {
  const other = await startStdioSandbox();
  const server = (name: number) => ({ ...other.python(), name: `server${name}` });
  const pids = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((name) => other.call(server(name), 'pid')));
  expect(failureOf(await other.call(server(9), 'pid'))).toEqual([
    'resource_limit_exceeded',
    '8 MCP servers run in this sandbox already',
  ]);
  await other.run(`kill ${pids[0] ? textOf(pids[0]) : ''}`);
  await waitFor(async () => (await other.call(server(9), 'pid')).isError !== true);
  await other.stop();
});

test('a changed configuration of one of eight starts in its place; refused, it costs the old one nothing', async () => {
  const own = await startStdioSandbox();
  try {
    const server = (at: number, only = '') => ({ ...own.python('', only), name: `of-eight-${at}` });
    const pidOf = async (at: number, only?: string) => textOf(await own.call(server(at, only), 'pid'));
    const pids = await Promise.all(Array.from({ length: 8 }, (_, at) => pidOf(at)));
    expect(await pidOf(3, 'changed')).toMatch(/^\d+$/);
    own.call(server(5), 'never').catch(() => undefined);
    const calls = async () => JSON.parse((await own.ask('GET', '/processes')).body.toString()).calls;
    await waitFor(async () => (await calls()) === 1);
    expect(failureOf(await own.call(server(5, 'changed'), 'pid'))).toEqual([
      'resource_limit_exceeded',
      '8 MCP servers run in this sandbox already',
    ]);
    expect(await pidOf(5)).toBe(pids[5]);
    expect(await pidOf(6)).toBe(pids[6]);
  } finally {
    await own.stop();
  }
});
