import { expect, test } from 'vitest';
import { logIn } from '../fixtures/logged-in.ts';

const route = 'POST /api/sessions';

test('a session is created with the options of chat, and its id is printed', async () => {
  await using there = await logIn({ [route]: { status: 201, body: { id: 's-1' } } });
  const options = ['--approvals', 'low', '--max-cost', '2', '--label', 'team:red', '--env', 'A=1'];
  expect(await there.run(['sessions', 'create', ...options])).toMatchObject({ code: 0, stdout: 's-1\n' });
  const slice = ['--max-tool-calls', '9', '--max-sandbox-seconds', '600'];
  await there.run(['sessions', 'create', '--kind', 'execution', '--flavor', 'small', ...slice]);
  await there.run(['sessions', 'create', '--project', 'p-1', '--workspace', 'w-1']);
  expect(there.bodies(route)).toEqual([
    { approvals: 'low', maxCostUsd: 2, labels: { team: 'red' }, env: { A: '1' } },
    { kind: 'execution', flavor: 'small', slice: { maxToolCalls: 9, maxSandboxSeconds: 600 } },
    { project: 'p-1', workspace: 'w-1' },
  ]);
});

const place = ['--env', 'A=1', '--network', 'a.org', '--inject', 'a.org/x=KEY', '--flavor', 'small'];
const placed = {
  ...{ env: { A: '1' }, flavor: 'small' },
  network: { allow: ['a.org'], inject: [{ host: 'a.org', header: 'x', secret: 'KEY' }] },
};

test('the commands that make a sandbox take the same options', async () => {
  const id = 's-1';
  const result = { session_id: id, session_created: false, stdout: '', stderr: '', exit_code: 0 };
  await using there = await logIn({
    [route]: { status: 201, body: { id } },
    'POST /api/sessions/s-1/code': { body: { stdout: '', stderr: '', exitCode: 0, results: [] } },
    'POST /mcp': ({ body }) => ({
      body: { jsonrpc: '2.0', id: JSON.parse(body).id, result: { structuredContent: result } },
    }),
  });
  const made = await there.run(['exec', '--json', ...place, '--timeout', '9', '--', 'ls']);
  expect(JSON.parse(made.stdout)).toMatchObject({ session_id: id, session_created: true });
  await there.run(['code', ...place, '--language', 'node', '1']);
  await there.run(['sessions', 'create', ...place]);
  const kind = 'execution';
  expect(there.bodies(route)).toEqual([{ kind, ...placed }, { kind, template: 'node', ...placed }, placed]);
  await there.run(['exec', '--template', 'go', '--', 'ls']);
  expect(there.bodies(route).at(-1)).toEqual({ kind, template: 'go' });
  await there.run(['exec', '--template', 'node', '--', 'ls']);
  await there.run(['exec', '--session', id, '--env', 'B=2', '--', 'ls']);
  expect(there.bodies('POST /mcp').map(({ params }) => params.arguments)).toEqual([
    { command: 'ls', session_id: id, timeout: 9 },
    { command: 'ls', session_id: id },
    { command: 'ls', template: 'node' },
    { command: 'ls', session_id: id, env: ['B=2'] },
  ]);
});

test.each([
  [
    ['exec', '--session', 's', '--network', 'a.org', '--', 'ls'],
    '--network cannot be combined with --session',
  ],
  [['code', '--session', 's', '--env', 'A=1', '1'], '--env cannot be combined with --session'],
  [['chat', '--session', 's', '--label', 'a:b', 'hi'], '--label cannot be combined with --session'],
])('%j: an option that would change nothing is refused', async (args, reason) => {
  await using there = await logIn({});
  expect(await there.run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) });
  expect(there.fake.asked).toEqual([]);
});

test.each([[['--attach', 'p']], [['--session', 's', '--attach', 'p', 'bash']]])(
  'shell %j attaches to nothing, and makes no sandbox',
  async (args) => {
    await using there = await logIn({});
    const terminal = there.at(['shell', ...args]);
    expect(await terminal.code).toBe(2);
    expect(there.fake.asked).toEqual([]);
  },
);
