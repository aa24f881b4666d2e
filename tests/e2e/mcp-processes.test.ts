/** Programs in the background, over `/mcp`: started, read, written to, signalled and ended. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from './embedded-cloud.ts';
import { connect, errorOf, type Fields, fieldsOf, type McpClient } from './mcp-clients.ts';
import { type Server, startServer } from './server.ts';

let server: Server;
let client: McpClient;
let session_id: unknown;
beforeAll(async () => {
  server = await startServer({ variables: { MSB_DEFAULT_FLAVOR: 'micro', MAX_TOOL_SECONDS: '60' } });
  client = await connect(server);
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

const start = async (tool: string, args: Fields): Promise<Fields> => {
  const named = session_id === undefined ? {} : { session_id };
  const started = fieldsOf(await client.call(tool, { ...named, ...args, background: true }));
  ({ session_id } = started);
  return started;
};
const use = async (action: string, args: Fields): Promise<Fields> =>
  fieldsOf(await client.call('process', { action, session_id, ...args }));

test('a command without a session starts one, and is read by offset until it ends', async () => {
  session_id = undefined;
  const started = await start('execute_command', {
    command: 'echo first; read line; echo "got $line $SHADE in $PWD"',
    env: ['SHADE=green'],
    cwd: '/tmp',
  });
  const { process_id } = started;
  expect(started).toEqual({
    session_id: expect.any(String),
    process_id: expect.any(String),
    stdout: '',
    stderr: '',
    exit_code: 0,
    execution_time_ms: 0,
    session_created: true,
  });
  const first = await eventually(
    () => use('output', { process_id }),
    ({ output }) => output !== '',
  );
  expect(first).toEqual({ process_id, state: 'running', output: 'first\n', next_offset: 6, has_more: false });
  await use('input', { process_id, text: 'hello\n' });
  const last = await use('output', { process_id, offset: first['next_offset'], wait_seconds: 30 });
  expect(last).toMatchObject({ state: 'exited', exit_code: 0, output: 'got hello green in /tmp\n' });
  const { processes } = await use('list', {});
  expect(processes).toMatchObject([{ process_id, state: 'exited', exit_code: 0 }]);
});

test('a long output is read in parts, without a gap or a repeat', async () => {
  const { process_id } = await start('execute_command', { command: 'seq 1 20000' });
  await use('output', { process_id, wait_seconds: 30 });
  let text = '';
  for (let offset: unknown = 0; ; ) {
    const part = await use('output', { process_id, offset });
    expect(String(part['output']).length).toBeLessThanOrEqual(30_000);
    text += part['output'];
    offset = part['next_offset'];
    if (part['has_more'] === false) break;
  }
  expect(text).toBe(Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join(''));
});

test('code runs in the background, is signalled, and killed with its children', async () => {
  const code =
    'import signal, time\nsignal.signal(signal.SIGUSR1, lambda *_: print("heard"))\nprint("on")\nwhile True: time.sleep(0.1)';
  const { process_id } = await start('execute_code', { code });
  await eventually(
    () => use('output', { process_id }),
    ({ output }) => output === 'on\n',
  );
  await use('signal', { process_id, signal: 'SIGUSR1' });
  await eventually(
    () => use('output', { process_id }),
    ({ output }) => output === 'on\nheard\n',
  );
  await use('kill', { process_id });
  expect(await use('output', { process_id })).toMatchObject({ state: 'exited' });
});

test('an unknown process is refused, and so is input by a token that only reads', async () => {
  const unknown = await client.call('process', {
    ...{ action: 'output', session_id, process_id: crypto.randomUUID() },
  });
  expect(errorOf(unknown).type).toBe('not_found');
  const { token } = fieldsOf(
    await client.call('token', { action: 'create', name: 'r', scope: 'admin:ro' }),
  ) as { token: string };
  const reader = await connect({ url: server.url, token });
  const tools = await reader.tools();
  const schema = tools.find(({ name }) => name === 'process')?.inputSchema as {
    properties: { action: { enum: readonly string[] } };
  };
  expect(schema.properties.action.enum).toEqual(['list', 'output']);
  const args = { action: 'input', session_id, process_id: crypto.randomUUID(), text: 'x' };
  expect(errorOf(await reader.call('process', args)).type).toBe('forbidden');
  await reader.close();
});

test('a timeout over the limit of the deployment is refused, and does not apply in the background', async () => {
  const args = { session_id, command: 'echo done', timeout: 61 };
  const refused = errorOf(await client.call('execute_command', args));
  expect(refused).toMatchObject({
    type: 'invalid_request',
    message: 'timeout: at most 60 seconds in this deployment',
  });
  expect(await start('execute_command', { command: 'echo done', timeout: 61 })).toHaveProperty('process_id');
  expect(fieldsOf(await client.call('execute_command', { ...args, timeout: 60 }))).toMatchObject({
    stdout: 'done\n',
  });
});
