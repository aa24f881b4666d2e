/** Cancelling a call of `/mcp`, black-box: by either generation of client, down to the process in the sandbox. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from './embedded-cloud.ts';
import { connect, fieldsOf, generations, type McpClient } from './mcp-clients.ts';
import { type Server, startServer } from './server.ts';

let server: Server;
let other: McpClient;
let session_id: unknown;
beforeAll(async () => {
  server = await startServer({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } });
  other = await connect(server);
  ({ session_id } = fieldsOf(await other.call('execute_command', { command: 'true' })));
});
afterAll(async () => {
  await other.close();
  await server.stop();
});

/** Count of the program's processes in the sandbox. */
const running = async (program: string): Promise<number> => {
  const command = `pgrep -fxc '${program}'`;
  return Number(fieldsOf(await other.call('execute_command', { command, session_id }))['stdout']);
};

const runs = (count: number) => (found: number) => found === count;

test.each(generations)('a client of %s cancels its call: the program is killed', async (generation) => {
  const client = await connect(server, generation);
  const cancel = new AbortController();
  const call = client.call(
    'execute_command',
    { command: 'sleep 290', session_id },
    { signal: cancel.signal },
  );
  const ended = expect(call).rejects.toThrow();
  await eventually(() => running('sleep 290'), runs(1));
  cancel.abort();
  await ended;
  await eventually(() => running('sleep 290'), runs(0));
  await client.close();
  const after = fieldsOf(await other.call('execute_command', { command: 'echo on', session_id }));
  expect(after).toMatchObject({ stdout: 'on\n', exit_code: 0 });
});

test.each(generations)('a client of %s cancels code: its interpreter stays', async (generation) => {
  const client = await connect(server, generation);
  await client.call('execute_code', { code: 'kept = 5', session_id });
  const cancel = new AbortController();
  const code = 'import time\nprint("begun", flush=True)\nwhile True: time.sleep(0.1)';
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const call = client.call(
    'execute_code',
    { code, session_id },
    { signal: cancel.signal, onProgress: ({ message }) => message === 'begun\n' && resolve() },
  );
  const ended = expect(call).rejects.toThrow();
  await begun;
  cancel.abort();
  await ended;
  const next = fieldsOf(await other.call('execute_code', { code: 'print(kept)', session_id }));
  expect(next).toMatchObject({ stdout: '5\n' });
  await client.close();
});

test('a cancel that matches two calls cancels none', async () => {
  const clients = [await connect(server, 'before 2026'), await connect(server, 'before 2026')];
  const cancel = new AbortController();
  const [first, second] = clients.map((client, index) =>
    client.call(
      'execute_command',
      { command: 'sleep 4; echo whole', session_id },
      index === 0 ? { signal: cancel.signal } : {},
    ),
  );
  const ended = expect(first).rejects.toThrow();
  await eventually(() => running('sleep 4'), runs(2));
  cancel.abort();
  await ended;
  expect(fieldsOf((await second) ?? { content: [] })).toMatchObject({ stdout: 'whole\n', exit_code: 0 });
  for (const client of clients) await client.close();
});

/** Calls by hand, and closes the response stream while the program runs. */
const leaveCall = async (seconds: number, meta: object): Promise<string> => {
  const leave = new AbortController();
  const path = `/workspace/left-${crypto.randomUUID()}`;
  const command = `sleep ${seconds}; echo whole > ${path}`;
  const params = { name: 'execute_command', arguments: { command, session_id }, ...meta };
  const asked = server.request('/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: seconds, method: 'tools/call', params }),
    signal: leave.signal,
  });
  asked.catch(() => undefined);
  await eventually(() => running(`sleep ${seconds}`), runs(1));
  leave.abort();
  return path;
};

test('a client before 2026 that can come back to its session loses nothing with its connection', async () => {
  const path = await leaveCall(2, { _meta: { progressToken: 7 } });
  const left = async () => {
    const found = await other.call('execute_command', { command: `cat ${path}`, session_id });
    return fieldsOf(found)['stdout'];
  };
  expect(await eventually(left, (text) => text !== '')).toBe('whole\n');
});

test('a client before 2026 that closes the stream of a call without progress cancels it', async () => {
  const path = await leaveCall(32, {});
  await eventually(() => running('sleep 32'), runs(0));
  const found = await other.call('execute_command', { command: `ls ${path}`, session_id });
  expect(fieldsOf(found)['exit_code']).toBe(2);
});

test('a cancel of the session is refused while a program runs that it would not cancel', async () => {
  const cancelSession = () => other.call('session', { action: 'cancel', session_id });
  const cancel = new AbortController();
  const call = other.call('execute_command', { command: 'sleep 291', session_id }, { signal: cancel.signal });
  const ended = expect(call).rejects.toThrow();
  await eventually(() => running('sleep 291'), runs(1));
  const refused = await cancelSession();
  expect([refused.isError, refused.content[0]?.text]).toEqual([
    true,
    expect.stringContaining('invalid_session_state'),
  ]);
  expect((await server.request(`/api/sessions/${session_id}/cancel`, { method: 'POST' })).status).toBe(409);
  expect(await running('sleep 291')).toBe(1);
  cancel.abort();
  await ended;
  const said = async () => (await cancelSession()).structuredContent?.['message'];
  await eventually(said, (message) => message === 'it had no turn to cancel');
});

test('a call that is cancelled while its sandbox starts leaves no session behind', async () => {
  const client = await connect(server);
  const cancel = new AbortController();
  const call = client.call(
    'execute_command',
    { command: 'true' },
    {
      signal: cancel.signal,
      onProgress: ({ message }) => message?.startsWith('[starting') && cancel.abort(),
    },
  );
  await expect(call).rejects.toThrow();
  expect(cancel.signal.aborted).toBe(true);
  const sessions = async () => fieldsOf(await other.call('get_sessions'))['sessions'] as { id: string }[];
  const left = await eventually(sessions, ({ length }) => length === 1);
  expect(left.map(({ id }) => id)).toEqual([session_id]);
  await client.close();
});

test('a client of 2026 whose closed stream is not noticed can cancel explicitly', async () => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'e2e', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const send = (message: { method: string; params: object }, more: Record<string, string> = {}) =>
    server.request('/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': message.method,
        ...more,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message, params: { ...message.params, _meta } }),
    });
  const name = 'execute_command';
  const params = { name, arguments: { command: 'sleep 32', session_id } };
  const call = { id: 'a call', method: 'tools/call', params };
  const answer = send(call, { 'mcp-name': name });
  await eventually(() => running('sleep 32'), runs(1));
  const said = await send({ method: 'notifications/cancelled', params: { requestId: 'a call' } });
  expect(said.status).toBe(202);
  expect(await (await answer).text()).toContain('cancelled');
  expect(await running('sleep 32')).toBe(0);
});
