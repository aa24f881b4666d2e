/** Tools of registered MCP servers in an agent's turns: offered, approved, called, lost, and never called twice. */
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  type Loopback,
  modernServer,
  said,
  type Tools,
} from '../../shared/adapters/mcp/fixtures/loopback-servers.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { type Client, connect } from './socket-client.ts';

let cloud: EmbeddedCloud;
let project = '';
beforeAll(async () => {
  cloud = await openEmbeddedCloud({
    variables: { MCP_ALLOWED_PRIVATE_HOSTS: '127.0.0.1', MCP_CHECK_SECONDS: '1' },
    sweepMs: 1000,
  });
});
beforeEach(async () => {
  project = (await post<{ id: string }>('/projects', { name: 'with servers' })).id;
});
afterAll(() => cloud.stop());

const post = <T>(path: string, body: object): Promise<T> =>
  cloud.ask<T>(`/api${path}`, { method: 'POST', body: JSON.stringify(body) });

const search = { name: 'search', description: 'finds', inputSchema: { type: 'object' } };

/** A server of the project, once it was found well. */
const register = async (name: string, tools: Tools, config: object = {}): Promise<Loopback> => {
  const server = await modernServer({ list: [search], ...tools });
  onTestFinished(() => server.stop().catch(() => undefined));
  await post(`/mcp/add?project=${project}`, {
    name,
    config: { transport: 'http', url: server.url, ...config },
  });
  await untilStatus(name, 'healthy');
  return server;
};

type Health = { readonly mcps: readonly { readonly name: string; readonly status: string }[] };
const untilStatus = (name: string, status: string) =>
  eventually(
    () => cloud.ask<Health>(`/api/mcp/health?project=${project}`),
    ({ mcps }) => mcps.some((one) => one.name === name && one.status === status),
    20_000,
  );

type Shown = { readonly kind: string; readonly status: string };

const talk = async (): Promise<Client> => {
  const client = await connect(cloud, { project });
  onTestFinished(() => client.close());
  await client.untilType('system:ready');
  return client;
};

const approve = async (client: Client, fields: object = { approved: true }, place = 0) => {
  const { data } = await client.untilType('tool:approval_required', place);
  client.send('tool:approval', { callId: data.callId, ...fields });
  return data;
};

test('a tool on the network is offered, approved and called, and no sandbox starts for it', async () => {
  const seen: object[] = [];
  await register('docs', {
    run: (params) => {
      seen.push(params);
      return said('three books');
    },
  });
  const client = await talk();
  const { data: ready } = await client.untilType('system:ready');
  expect(ready).toMatchObject({ mcpServers: [{ name: 'docs', status: 'healthy' }] });
  expect(ready.tools).toEqual(expect.arrayContaining(['execute_command', 'search']));
  client.send('message', { text: 'call search {"text": "books"}' });
  expect(await approve(client)).toMatchObject({ name: 'search', args: { text: 'books' } });
  const { data } = await client.untilType('completion');
  expect(data).toMatchObject({ stopReason: 'end_turn', text: expect.stringContaining('three books') });
  expect(seen).toMatchObject([{ name: 'search', arguments: { text: 'books' } }]);
  expect(await cloud.ask(`/api/sessions/${client.sessionId()}`)).toMatchObject({ sandbox: null });
});

test('calls on the network and in the sandbox run in one queue, each with its own end', async () => {
  await register('docs', { run: () => said('found') });
  const client = await talk();
  client.send('message', { text: 'call search\n$ echo inside\n$ exit 3' });
  for (const place of [0, 1, 2]) await approve(client, { approved: true }, place);
  const { data } = await client.untilType('completion');
  expect(data.text).toMatch(/search gave `found`[\s\S]*echo inside` gave `inside`[\s\S]*exit 3` gave /);
});

test('two servers are distinguished by their names, and "always" covers the tool of one', async () => {
  await register('docs', { run: () => said('from docs') });
  await register('wiki', { run: () => said('from wiki') });
  const client = await talk();
  client.send('message', { text: 'call docs_search\ncall wiki_search' });
  await approve(client, { approved: true, remember: 'session' });
  await approve(client, { approved: true }, 1);
  const first = await client.untilType('completion');
  expect(first.data.text).toMatch(/docs_search gave `from docs`[\s\S]*wiki_search gave `from wiki`/);
  client.send('message', { text: 'call docs_search\ncall wiki_search' });
  expect(await approve(client, { approved: false }, 2)).toMatchObject({
    name: 'wiki_search',
    totalInQueue: 1,
  });
  await client.untilType('completion', 1);
});

test('a call whose server dies in the middle has an unknown outcome, and the session is told', async () => {
  let calls = 0;
  const server = await register('docs', {
    run: async () => {
      calls += 1;
      server.breakOff();
      await server.stop();
      return said('never heard');
    },
  });
  const client = await talk();
  client.send('message', { text: 'call search' });
  await approve(client);
  const failed = await client.untilType('agent:error');
  expect(failed.data).toMatchObject({ code: 'tool_outcome_unknown' });
  const { data } = await client.untilType('completion');
  expect(data).toMatchObject({ stopReason: 'end_turn', text: expect.stringContaining('not run again') });
  expect(calls).toBe(1);
  const told = (status: string) =>
    client.until(
      (frame) => frame.type === 'system' && frame.data.kind === 'mcp_status' && frame.data.status === status,
      status,
    );
  expect((await told('unhealthy')).data).toMatchObject({ name: 'docs' });
  expect((await told('reconnecting')).data).toMatchObject({ name: 'docs' });
  const late = await talk();
  const { data: ready } = await late.untilType('system:ready');
  expect(ready.tools).not.toContain('search');
});

test('a call that a user cancels is cancelled at its server, too', async () => {
  const gone = Promise.withResolvers<void>();
  await register('docs', {
    run: (_params, { signal }) => {
      signal.addEventListener('abort', () => gone.resolve(), { once: true });
      return new Promise(() => undefined);
    },
  });
  const client = await talk();
  client.send('message', { text: 'call search' });
  await approve(client);
  await new Promise((resolve) => setTimeout(resolve, 300));
  client.send('turn:cancel');
  expect((await client.untilType('completion')).data).toMatchObject({ stopReason: 'cancelled' });
  await gone.promise;
});

/** Speaks MCP over stdio with nothing but Node; its notes last while it lives. */
const notebook = `
const notes = [];
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'n', version: '1' } });
  if (method === 'tools/list') answer(id, { tools: [{ name: 'note', inputSchema: { type: 'object' } }] });
  if (method === 'tools/call') {
    notes.push(params.arguments.text ?? process.env.GREETING);
    answer(id, { content: [{ type: 'text', text: 'noted: ' + notes.join() }] });
  }
});`;

test('a server inside the sandbox is tested when it is registered, and keeps its state from call to call', async () => {
  await cloud.ask(`/api/projects/${project}/secrets/GREETING`, {
    method: 'PUT',
    body: JSON.stringify({ value: 'hello from a secret' }),
  });
  const env = { GREETING: `\${GREETING}` };
  const config = { transport: 'stdio', command: 'node', args: ['-e', notebook], env };
  await post(`/mcp/add?project=${project}`, { name: 'notebook', config });
  await untilStatus('notebook', 'healthy');
  const client = await talk();
  client.send('message', { text: 'call note {"text": "one"}' });
  await approve(client, { approved: true, remember: 'session' });
  expect((await client.untilType('completion')).data.text).toContain('noted: one');
  client.send('message', { text: 'call note' });
  const { data } = await client.untilType('completion', 1);
  expect(data.text).toContain('noted: one,hello from a secret');
});

test('a server inside the sandbox that cannot be started reports why', async () => {
  const config = { transport: 'stdio', command: 'no-such-program' };
  await post(`/mcp/add?project=${project}`, { name: 'broken', config });
  const tried = await post<object>(`/mcp/broken/test?project=${project}`, {});
  expect(tried).toEqual({ ok: false, error: expect.stringMatching(/no-such-program|not found/) });
  // Its first check, which nobody waits for, has a session of its own.
  await eventually(
    () => cloud.ask<{ sessions: readonly Shown[] }>(`/api/sessions?project=${project}`),
    ({ sessions }) => sessions.every(({ kind, status }) => kind === 'agent' || status === 'stopped'),
  );
});

test('a secret reaches only the server', async () => {
  await cloud.ask(`/api/projects/${project}/secrets/KEY`, {
    method: 'PUT',
    body: JSON.stringify({ value: 'hush-hush-hush' }),
  });
  const server = await register(
    'docs',
    { run: () => said('found') },
    { headers: { authorization: `Bearer \${KEY}` } },
  );
  expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer hush-hush-hush');
  const listed = await cloud.ask(`/api/mcp?project=${project}`);
  expect(JSON.stringify(listed)).not.toContain('hush');
});
