/** Slots, black-box: what rests holds none, what is idle gives way, and what ended can be resumed. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import { endSession, makeSession } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect } from './socket-client.ts';

type Shown = { readonly id: string; readonly status: string; readonly approvals: string };

let cloud: EmbeddedCloud;
let mcp: Client;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({
    variables: { MSB_DEFAULT_FLAVOR: 'micro', MAX_AGENT_SLOTS: '1', RATE_LIMIT_PER_SECOND: '1000' },
  });
  mcp = new Client({ name: 'e2e', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { authorization: `Bearer ${cloud.token}` } };
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${cloud.url}/mcp`), { requestInit }));
});
afterAll(async () => {
  await mcp.close();
  await cloud.stop();
});

const call = async (name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> => {
  const { isError, content, structuredContent } = await mcp.callTool({ name, arguments: args });
  expect(isError ?? false, JSON.stringify(content)).toBe(false);
  return structuredContent as Record<string, unknown>;
};
const shown = (id: string): Promise<Shown> => cloud.ask(`/api/sessions/${id}`);
/** An agent session, and a socket to it. */
const open = async (approvals: string) => {
  const { id } = await makeSession(cloud, { approvals });
  // The turn of a failed try would hold the one slot of agents.
  onTestFailed(() => endSession(cloud, id));
  return { id, ...(await connect(cloud, { sessionId: id })) };
};
const post = (path: string, body: object = {}): Promise<Response> =>
  cloud.request(path, { method: 'POST', body: JSON.stringify(body) });
const end = (id: string): Promise<Shown> => cloud.ask(`/api/sessions/${id}`, { method: 'DELETE' });

test('calls without a session id are never refused: the longest idle sandbox gives way', async () => {
  const listed = async () =>
    (await call('get_sessions', {}))['sessions'] as readonly { readonly status: string }[];
  const runs = 15;
  const before = (await listed()).length;
  for (let run = 0; run < runs; run += 1) {
    const { stdout } = await call('execute_code', { code: `print(${run})` });
    expect(stdout).toBe(`${run}\n`);
  }
  const statuses = (await listed()).map(({ status }) => status);
  expect(statuses.filter((status) => status === 'ready')).toHaveLength(10);
  expect(statuses.filter((status) => status === 'paused')).toHaveLength(before + runs - 10);
  const stats = await cloud.ask<{ activeSessions: number; maxSessions: number }>('/api/stats');
  expect([stats.activeSessions, stats.maxSessions]).toEqual([10, 10]);
});

test('a turn that waits for a person holds no slot, and the sandbox of a turn shares its slot', async () => {
  const first = await open('ask');
  first.send('message', { text: '$ echo one > one.txt' });
  const asked = await first.untilType('tool:approval_required');
  const second = await open('auto');
  second.send('message', { text: '$ echo two' });
  await second.untilType('completion');
  // The sandbox of the second session is idle, and gives way to the turn that goes on.
  first.send('tool:approval', { ...asked.data, approved: true });
  expect((await first.untilType('completion')).data.stopReason).toBe('end_turn');
  expect((await shown(first.id)).status).toBe('idle');
  await first.close();
  await second.close();
});

test('a turn that works is not interrupted: the next one is refused with advice', async () => {
  const first = await open('auto');
  first.send('message', { text: '$ until [ -e go ]; do sleep 0.1; done' });
  await first.untilType('tool:call');
  const second = await open('auto');
  second.send('message', { text: 'hello' });
  const refused = await second.untilType('error');
  expect(refused.data.error).toMatchObject({
    code: 'resource_limit_exceeded',
    suggestions: [expect.any(String)],
  });
  first.send('cancel');
  await first.untilType('completion');
  second.send('message', { text: 'hello' });
  await second.untilType('completion');
  await first.close();
  await second.close();
});

test('a run of a schedule stops no sandbox of an agent in which a call of a client runs', async () => {
  const client = await open('auto');
  client.send('message', { text: '$ echo one' });
  await client.untilType('completion');
  const session = `/api/sessions/${client.id}`;
  const command = 'touch begun; until [ -e go ]; do sleep 0.1; done; echo kept';
  const running = post(`${session}/exec`, { command });
  await eventually(
    () => cloud.request(`${session}/files/begun`, { method: 'HEAD' }),
    ({ status }) => status === 200,
  );
  const { project } = await cloud.ask<{ project: string }>(session);
  const targets = [{ projectId: project }];
  const schedule = await post('/api/schedules', { name: 's', cronExpr: '0 0 1 1 *', prompt: 'hi', targets });
  const { id } = (await schedule.json()) as { readonly id: string };
  await post(`/api/schedules/${id}/trigger`);
  type Run = { readonly status: string; readonly error?: string };
  const { history } = await eventually(
    () => cloud.ask<{ history: readonly Run[] }>(`/api/schedules/${id}/history`),
    (shownNow) => ['success', 'failed'].includes(shownNow.history[0]?.status ?? ''),
  );
  expect(history).toMatchObject([
    { status: 'failed', error: expect.stringContaining('resource_limit_exceeded') },
  ]);
  await cloud.request(`${session}/files/go`, { method: 'PUT', body: 'now' });
  expect(await (await running).json()).toMatchObject({ exitCode: 0, stdout: 'kept\n' });
  await cloud.request(`/api/schedules/${id}`, { method: 'DELETE' });
  await client.close();
});

test('an ended agent session is resumed with its conversation and its approvals mode, and no other is', async () => {
  const client = await open('auto');
  const { id } = client;
  client.send('message', { text: '$ echo kept > kept.txt' });
  await client.untilType('completion');
  await client.close();
  const active = await post(`/api/sessions/${id}/resume`);
  expect([active.status, ((await active.json()) as { error: { code: string } }).error.code]).toEqual([
    409,
    'invalid_session_state',
  ]);
  expect((await end(id)).status).toBe('completed');
  const refused = await post(`/api/sessions/${id}/messages`, { text: 'hello' });
  expect(refused.status).toBe(409);
  expect(await refused.text()).toContain('POST /api/sessions/{id}/resume');
  const resumed = await post(`/api/sessions/${id}/resume`);
  expect(resumed.status).toBe(200);
  expect(await resumed.json()).toMatchObject({ id, status: 'idle', approvals: 'auto' });
  const again = await connect(cloud, { sessionId: id });
  again.send('message', { text: '$ cat kept.txt' });
  expect(JSON.stringify((await again.untilType('tool:output')).data)).toContain('kept');
  await again.untilType('completion');
  await again.close();
  const conversation = await cloud.ask<object>(`/api/sessions/${id}/messages`);
  expect(JSON.stringify(conversation)).toContain('echo kept');
  const execution = await cloud.ask<Shown>('/api/sessions', {
    method: 'POST',
    body: JSON.stringify({ kind: 'execution' }),
  });
  await end(execution.id);
  expect((await post(`/api/sessions/${execution.id}/resume`)).status).toBe(409);
});

test('spawn resumes the latest session of the workspace, and message speaks to the one it names', async () => {
  const workspace_id = crypto.randomUUID();
  const place = { create_workspace: true, workspace_id };
  const first = await call('session', { action: 'spawn', ...place });
  const id = String(first['session_id']);
  await call('session', { action: 'message', session_id: id, message: 'hello', wait: true });
  await call('session', { action: 'end', session_id: id });
  expect((await shown(id)).status).toBe('completed');
  const again = await call('session', { action: 'spawn', workspace_id });
  expect(again).toMatchObject({ session_id: id, spawned: false });
  expect((await shown(id)).status).toBe('idle');
  await call('session', { action: 'end', session_id: id });
  const fresh = await call('session', { action: 'spawn', workspace_id, new_session: true });
  expect(fresh).toMatchObject({ spawned: true });
  expect(fresh['session_id']).not.toBe(id);
});
