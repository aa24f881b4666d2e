/** Bad input, black-box: the protocol's errors, never a stack, and the connection lives on. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from './embedded-cloud.ts';
import { challengeOf, type Server, startServer } from './server.ts';
import { connect } from './socket-client.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

type ErrorBody = {
  error: {
    code: string;
    message: string;
    requestId: string;
    suggestions: string[];
    recoveryActions: string[];
  };
};

const codeOf = async (path: string, init?: RequestInit): Promise<[number, string]> => {
  const response = await server.request(path, init);
  const { error } = (await response.json()) as ErrorBody;
  expect(Object.keys(error).sort()).toEqual([
    'code',
    'message',
    'recoveryActions',
    'requestId',
    'suggestions',
  ]);
  return [response.status, error.code];
};

test.each([
  ['no JSON', 'hello', 'invalid_request'],
  ['no object', '[1]', 'invalid_request'],
  ['an unknown action', '{"action":"dance"}', 'invalid_request'],
  ['a wrong field', '{"action":"message","text":7}', 'invalid_request'],
  [
    'an approval of nothing',
    '{"action":"tool:approval","callId":"x","approved":true}',
    'no_pending_tool_call',
  ],
])('%s is refused and the connection stays open', async (_, text, code) => {
  const client = await connect(server);
  await client.untilType('system:ready');
  client.sendRaw(text);
  const { data } = await client.untilType('error');
  expect(data.error.code).toBe(code);
  expect(JSON.stringify(data)).not.toMatch(/\bat .*\.ts|node_modules|\/work/);
  client.send('ping');
  await client.untilType('pong');
  await client.close();
});

test('a wrong token is refused in every API', async () => {
  const stranger = { ...server, token: `sp_${'0'.repeat(64)}` };
  await expect(connect(stranger)).rejects.toThrow('401');
  const response = await fetch(`${server.url}/api/sessions`, {
    headers: { authorization: 'Bearer nonsense' },
  });
  expect([response.status, challengeOf(response)]).toEqual([401, 'Bearer']);
  expect((await fetch(`${server.url}/api/sessions`)).status).toBe(401);
});

test('an unknown session is not found on any route', async () => {
  const id = crypto.randomUUID();
  const post = { method: 'POST', body: JSON.stringify({ text: 'x', approved: true }) };
  expect(await codeOf(`/api/sessions/${id}`)).toEqual([404, 'session_not_found']);
  expect(await codeOf('/api/sessions/no-id')).toEqual([404, 'session_not_found']);
  expect(await codeOf(`/api/sessions/${id}/events`)).toEqual([404, 'session_not_found']);
  expect(await codeOf(`/api/sessions/${id}/messages`, post)).toEqual([404, 'session_not_found']);
  expect(await codeOf(`/api/sessions/${id}/approvals/c`, post)).toEqual([404, 'session_not_found']);
  expect(await codeOf('/api/nowhere')).toEqual([404, 'not_found']);
});

test('a change that is not an object is refused', async () => {
  const send = (path: string, method: string, body: unknown) =>
    server.request(path, { method, body: JSON.stringify(body) });
  const config = { transport: 'stdio', command: 'cat', enabled: false };
  const name = `kept-${crypto.randomUUID()}`;
  expect((await send('/api/mcp/add', 'POST', { name, config })).status).toBe(201);
  const options = { name: 'kept', cronExpr: '0 0 1 1 *', prompt: 'x', enabled: false };
  const { id } = (await (await send('/api/schedules', 'POST', options)).json()) as { id: string };
  for (const path of [`/api/mcp/${name}`, `/api/schedules/${id}`])
    for (const body of [[], 'x', 7, null])
      expect([path, body, await codeOf(path, { method: 'PATCH', body: JSON.stringify(body) })]).toEqual([
        path,
        body,
        [400, 'invalid_request'],
      ]);
});

test('unknown values are refused by name', async () => {
  const make = (body: unknown) => codeOf('/api/sessions', { method: 'POST', body: JSON.stringify(body) });
  expect(await make({ flavor: 'gigantic' })).toEqual([400, 'invalid_flavor']);
  expect(await make({ template: 'ruby' })).toEqual([400, 'unsupported_language']);
  expect(await make({ kind: 'other' })).toEqual([400, 'invalid_request']);
  expect(await codeOf('/api/sessions', { method: 'POST', body: '{' })).toEqual([400, 'invalid_request']);
});

/** A sandbox that a busy machine keeps from answering is asked again, as its client is told. */
const untilStarted = (id: string): Promise<Response> =>
  eventually(
    () => server.request(`/api/sessions/${id}/files`),
    ({ status }) => status === 200,
    240_000,
  );

test('a path out of the workspace is refused', async () => {
  const made = await server.request('/api/sessions', { method: 'POST', body: '{"flavor":"Micro"}' });
  const { id, flavor } = (await made.json()) as { id: string; flavor: string };
  expect(flavor).toBe('micro');
  await untilStarted(id);
  const encoded = '..%2F..%2Fetc%2Fpasswd';
  expect(await codeOf(`/api/sessions/${id}/files/${encoded}`)).toEqual([400, 'path_outside_workspace']);
  expect(await codeOf(`/api/sessions/${id}/files?path=${encoded}`)).toEqual([400, 'path_outside_workspace']);
  const turnsBack = 'a%2F..%2F..%2Fetc%2Fpasswd';
  expect(await codeOf(`/api/sessions/${id}/files/${turnsBack}`)).toEqual([400, 'path_outside_workspace']);
  expect(await codeOf(`/api/sessions/${id}/files/missing.txt`)).toEqual([404, 'file_not_found']);
});

test('a path that stays inside the workspace by its text is served', async () => {
  const made = await server.request('/api/sessions', { method: 'POST', body: '{"flavor":"micro"}' });
  const { id } = (await made.json()) as { id: string };
  await untilStarted(id);
  const files = `/api/sessions/${id}/files`;
  expect((await server.request(`${files}/a%2F..%2Fb.txt`, { method: 'PUT', body: 'hello' })).status).toBe(
    201,
  );
  expect(await (await server.request(`${files}/c%2F..%2Fb.txt`)).text()).toBe('hello');
  expect((await server.request(`${files}?path=a%2F..`)).status).toBe(200);
  expect(await codeOf(`${files}/a%2F..%2Fmissing.txt`)).toEqual([404, 'file_not_found']);
});

test('a path that no file can have is an invalid request', async () => {
  const made = await server.request('/api/sessions', { method: 'POST', body: '{"flavor":"micro"}' });
  const { id } = (await made.json()) as { id: string };
  await untilStarted(id);
  const body = 'x';
  for (const path of ['a%00b', '%ED%AF%BF', 'n'.repeat(300), 'd%2F'.repeat(2048), '%C3%BC%2F'.repeat(1400)]) {
    const file = `/api/sessions/${id}/files/${path}`;
    expect([path, await codeOf(file)]).toEqual([path, [400, 'invalid_request']]);
    expect(await codeOf(file, { method: 'PUT', body })).toEqual([400, 'invalid_request']);
    expect(await codeOf(file, { method: 'DELETE' })).toEqual([400, 'invalid_request']);
  }
  for (const path of ['a%00b', 'n'.repeat(300), '%C3%BC%2F'.repeat(1400)])
    expect(await codeOf(`/api/sessions/${id}/files?path=${path}`)).toEqual([400, 'invalid_request']);
  const longest = `${'d/'.repeat(2040)}d`;
  expect(await codeOf(`/api/sessions/${id}/files?path=${encodeURIComponent(longest)}`)).toEqual([
    404,
    'file_not_found',
  ]);
});

test('a message over 128 KB is cut with 1009, and the client resumes', async () => {
  const client = await connect(server);
  await client.untilType('system:ready');
  client.send('message', { text: 'hello', messageId: 'm1' });
  await client.untilType('completion');
  client.sendRaw(JSON.stringify({ action: 'message', text: 'x'.repeat(129 * 1024) }));
  expect(await client.closed).toBe(1009);
  const again = await connect(server, { sessionId: client.sessionId(), since: -1 });
  await again.untilType('completion');
  expect(again.frames.map(({ seq }) => seq)).toEqual([null, 0, 1, 2]);
  await again.close();
});

test('a provider without a key names it and closes', async () => {
  const client = await connect(server, { provider: 'claude' });
  const { data } = await client.untilType('error');
  expect(data.error).toMatchObject({
    code: 'provider_not_configured',
    message: 'ANTHROPIC_API_KEY is required',
  });
  await client.closed;
});

test('a browser connects with a ticket, once', async () => {
  const response = await server.request('/api/tickets', { method: 'POST' });
  expect(response.status).toBe(201);
  const { ticket, expiresInSeconds } = (await response.json()) as {
    ticket: string;
    expiresInSeconds: number;
  };
  expect(expiresInSeconds).toBe(60);
  const open = () =>
    new WebSocket(`${server.url.replace('http', 'ws')}/ws`, ['sallyport.v1', `ticket.${ticket}`]);
  const socket = open();
  const protocol = await new Promise((resolve) => socket.once('open', () => resolve(socket.protocol)));
  expect(protocol).toBe('sallyport.v1');
  socket.close();
  const second = open();
  const refusal = await new Promise((resolve) => second.once('error', (error) => resolve(error.message)));
  expect(refusal).toContain('401');
});
