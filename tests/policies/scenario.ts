/**
 * Actions of users, clients and the clock, once each, so that every function makes the calls it was made for. Only
 * success is asserted here; the result is the calls that the functions made to AWS.
 */
import { randomUUID } from 'node:crypto';
import { StopTaskCommand } from '@aws-sdk/client-ecs';
import { modernServer } from '../../shared/adapters/mcp/fixtures/loopback-servers.ts';
import { endSession, makeSession, openAgent, restSandbox, showSession } from '../e2e/agent.ts';
import { type EmbeddedCloud, eventually } from '../e2e/embedded-cloud.ts';
import { connect as connectMcp, type Fields, fieldsOf, type McpClient } from '../e2e/mcp-clients.ts';
import { connect } from '../e2e/socket-client.ts';

type Made = { readonly id: string };

const json = (method: string, body: object): RequestInit => ({ method, body: JSON.stringify(body) });
/** A shell that is typed into over its connection, and followed to its end. */
const type = async (cloud: EmbeddedCloud): Promise<void> => {
  const { id } = await makeSession(cloud, { kind: 'execution' });
  const { processId } = await cloud.ask<{ processId: string }>(
    `/api/sessions/${id}/processes`,
    json('POST', { command: 'bash', pty: { cols: 80, rows: 24 } }),
  );
  const { token } = await cloud.ask<{ token: string }>(
    '/api/tokens',
    json('POST', { name: 'typist', scope: 'admin' }),
  );
  const client = await connect({ url: cloud.url, token }, { sessionId: id });
  client.send('process:resize', { processId, cols: 90, rows: 30 });
  await client.untilType('process:output');
  client.send('process:input', { processId, text: 'exit\r', order: 0 });
  await client.untilType('process:exit');
  client.send('process:resize', { processId, cols: 90, rows: 30, offset: 0 });
  await client.untilType('process:exit', 1);
  await client.close();
  await endSession(cloud, id);
};

/** A program that reaches a host on a slice of bytes, and is refused another: the relay is held, and the log says so. */
const connectOut = async (cloud: EmbeddedCloud, reached: string): Promise<void> => {
  const project = await cloud.ask<Made>(
    '/api/projects',
    json('POST', { name: 'outside', network: { allow: [reached] } }),
  );
  const slice = { maxEgressBytes: 1_000_000 };
  const { id } = await makeSession(cloud, { project: project.id, slice });
  const command = `no_proxy= NO_PROXY= curl -sS http://${reached}/; curl -sS http://unlisted.example.org/`;
  const { stdout } = await cloud.ask<{ readonly stdout: string }>(
    `/api/sessions/${id}/exec`,
    json('POST', { command }),
  );
  if (!stdout.startsWith('from outside')) throw new Error(`the host outside was not reached: ${stdout}`);
  await eventually(
    () => cloud.ask<{ events: readonly { type: string }[] }>(`/api/sessions/${id}/events`),
    ({ events }) => events.some(({ type }) => type === 'egress'),
    settleMsMax,
  );
  await fetched(cloud, `/api/sessions/${id}`, json('PATCH', { network: 'none' }));
  await endSession(cloud, id);
};

const remove: RequestInit = { method: 'DELETE' };
const settleMsMax = 60_000;

/** `reached`: a host outside that sandboxes may reach. */
export const useEverything = async (cloud: EmbeddedCloud, reached: string): Promise<void> => {
  await connectOut(cloud, reached);
  for (const story of [
    talk,
    rest,
    branch,
    leave,
    upload,
    type,
    execute,
    converse,
    registry,
    workspaces,
    schedules,
    webhooks,
    access,
    clock,
  ])
    await story(cloud);
};

/** An answer that is no success is a failure of the scenario. */
const fetched = async (cloud: EmbeddedCloud, path: string, init: RequestInit = {}): Promise<void> => {
  const response = await cloud.request(path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${path}: ${response.status} ${text}`);
};

/** The API starts sandboxes itself, for a file that is asked for first, and pauses them. */
const upload = async (cloud: EmbeddedCloud): Promise<void> => {
  for (const template of ['python', 'node', 'python', 'node']) {
    const { id } = await makeSession(cloud, { template });
    await fetched(cloud, `/api/sessions/${id}/files/first.txt`, { method: 'PUT', body: 'first' });
    await fetched(cloud, `/api/sessions/${id}/pause`, { method: 'POST' });
    await endSession(cloud, id);
  }
};

/** With a ticket, as a browser comes; a call waits for its approval, another turn is cancelled. */
const talk = async (cloud: EmbeddedCloud): Promise<void> => {
  const { ticket } = await cloud.ask<{ ticket: string }>('/api/tickets', { method: 'POST' });
  const client = await connect({ url: cloud.url, token: '' }, { ticket });
  await client.untilType('system:ready');
  client.send('message', { text: '$ echo hello' });
  const asked = await client.untilType('tool:approval_required');
  client.send('tool:approval', { callId: asked.data.callId, approved: true });
  await client.untilType('completion');
  client.send('message', { text: '$ sleep 60' });
  const again = await client.untilType('tool:approval_required', 1);
  client.send('tool:approval', { callId: again.data.callId, approved: true });
  client.send('turn:cancel');
  await client.untilType('completion', 1);
  client.send('caller_tools:declare', {
    callerId: 'me',
    tools: [{ name: 'look', description: 'l', inputSchema: {} }],
  });
  client.send('history:reset');
  client.send('ping');
  await client.untilType('pong');
  client.send('session:stop');
  await client.close();
};

/** A child with a part of the sandbox time of its tree, which is given a part of the money later. */
const branch = async (cloud: EmbeddedCloud): Promise<void> => {
  const agent = await openAgent(cloud);
  const spawn = { action: 'spawn', prompt: '$ echo from the child', max_sandbox_seconds: 600 };
  await agent.say(`call session ${JSON.stringify(spawn)}`);
  const tree = `/api/sessions/${agent.id}/tree`;
  const [, child] = (await cloud.ask<{ sessions: readonly Made[] }>(tree)).sessions;
  if (child === undefined) throw new Error('no child was started');
  await fetched(cloud, `/api/sessions/${child.id}`, json('PATCH', { maxCostUsd: 1 }));
  await restSandbox(cloud, child.id);
  await agent.close();
};

/** A conversation that goes on in another session, and is deleted with its log. */
const leave = async (cloud: EmbeddedCloud): Promise<void> => {
  const agent = await openAgent(cloud);
  await agent.say('hello');
  const { messages } = await cloud.ask<{ readonly messages: readonly { readonly messageId: string }[] }>(
    `/api/sessions/${agent.id}/messages`,
  );
  const from = { session: agent.id, messageId: messages.at(-1)?.messageId };
  const branched = await makeSession(cloud, { from });
  await agent.close();
  await endSession(cloud, branched.id);
  const { removed } = await cloud.ask<{ readonly removed: number }>(
    '/api/sessions/cleanup',
    json('POST', { sessions: [agent.id] }),
  );
  if (removed !== 1) throw new Error('the session was not deleted');
};

/** Files in, out and through a sandbox that is taken away and comes back. */
const rest = async (cloud: EmbeddedCloud): Promise<void> => {
  const agent = await openAgent(cloud);
  await agent.run('$ head -c 200000 /dev/urandom > big; for n in $(seq 40); do echo $n > file$n; done');
  const file = `/api/sessions/${agent.id}/files/note.txt`;
  await fetched(cloud, file, { method: 'PUT', body: 'a note' });
  await fetched(cloud, file);
  await cloud.ask(`/api/sessions/${agent.id}/files?path=.`);
  await cloud.ask(`/api/sessions/${agent.id}/ports`, { method: 'POST', body: '{}' });
  await cloud.request(`/api/sessions/${agent.id}/ports/8000/`).then((response) => response.text());
  await restSandbox(cloud, agent.id);
  await agent.run('$ rm file1; cat note.txt');
  await cloud.ask(`/api/sessions/${agent.id}/logs`);
  await cloud.ask(`/api/sessions/${agent.id}/messages`);
  await cloud.ask('/api/stats');
  await cloud.ask('/api/stats/history');
  const [task] = await cloud.runningTasks();
  await cloud.ecs.send(new StopTaskCommand({ cluster: 'sallyport', task }));
  await agent.client.until(({ data }) => data.kind === 'sandbox_stopped', 'sandbox_stopped');
  await endSession(cloud, agent.id);
  await agent.client.close();
};

const call = async (mcp: McpClient, tool: string, fields: Fields): Promise<Fields> => {
  const result = await mcp.call(tool, fields);
  if (result.isError === true)
    throw new Error(`${tool} ${JSON.stringify(fields)}: ${JSON.stringify(result.content)}`);
  return fieldsOf(result);
};

const execute = async (cloud: EmbeddedCloud): Promise<void> => {
  const mcp = await connectMcp(cloud);
  const { session_id } = await call(mcp, 'execute_code', { code: 'print(1)' });
  await call(mcp, 'write_file', { session_id, path: 'a', content: 'b' });
  await call(mcp, 'read_file', { session_id, path: 'a' });
  await call(mcp, 'list_files', { session_id });
  await call(mcp, 'get_sessions', {});
  await call(mcp, 'execute_command', { session_id, command: 'echo hello' });
  // A size that the warm pool does not hold.
  for (const template of ['python', 'node'])
    await call(mcp, 'execute_code', { code: '1', template, flavor: 'micro' });
  const { sessions } = await call(mcp, 'get_sessions', {});
  for (const { id } of sessions as readonly Made[]) await call(mcp, 'stop_session', { session_id: id });
  await mcp.close();
};

/** An agent over MCP, until its session is cleaned up and its project is gone. */
const converse = async (cloud: EmbeddedCloud): Promise<void> => {
  const mcp = await connectMcp(cloud);
  const { id: project_id } = await call(mcp, 'project', { action: 'create', name: 'p', approvals: 'auto' });
  const { session_id } = await call(mcp, 'session', {
    action: 'message',
    project_id,
    message: '$ echo hello',
    wait: true,
  });
  const watching = await connect(cloud, { sessionId: String(session_id) });
  await watching.untilType('system:ready');
  for (const action of ['get', 'events', 'cancel', 'end']) await call(mcp, 'session', { action, session_id });
  await watching.close();
  await call(mcp, 'session', { action: 'list', project_id });
  await eventually(
    () => showSession(cloud, String(session_id)),
    ({ sandbox }) => sandbox?.state !== 'stopping',
    settleMsMax,
  );
  await call(mcp, 'session', { action: 'cleanup', project_id, max_age_hours: 0 });
  const { id: token_id } = await call(mcp, 'token', {
    action: 'create',
    name: 't',
    scope: `project:${project_id}`,
  });
  await call(mcp, 'token', { action: 'list' });
  await call(mcp, 'token', { action: 'revoke', token_id });
  await call(mcp, 'config_limits', { project_id });
  const options = { name: 's', cron_expr: '0 0 1 1 *', prompt: 'hello', targets: [{ project_id }] };
  const { id: schedule_id } = await call(mcp, 'schedule', { action: 'create', ...options });
  await call(mcp, 'schedule', { action: 'delete', schedule_id });
  await call(mcp, 'project', { action: 'delete', project_id });
  await mcp.close();
};

/** A registered server that is told a project's secret, called by an agent, and gone with the project. */
const registry = async (cloud: EmbeddedCloud): Promise<void> => {
  const server = await modernServer();
  const { id } = await cloud.ask<Made>(
    '/api/projects',
    json('POST', { name: 'of servers', approvals: 'auto' }),
  );
  const path = `/api/projects/${id}/secrets`;
  for (const value of ['first', 'second']) await cloud.ask(`${path}/KEY`, json('PUT', { value }));
  await cloud.ask(`${path}/OTHER`, json('PUT', { value: 'third' }));
  await cloud.ask(path);
  await cloud.ask(`${path}/OTHER`, remove);
  const { token } = await cloud.ask<{ token: string }>(
    '/api/tokens',
    json('POST', { name: 't', scope: `project:${id}` }),
  );
  // Open until the janitor revokes its token with the project.
  const open = await connect({ url: cloud.url, token }, { approvals: 1 });
  await open.until(() => true, 'the number of waiting calls');
  const as = (route: string, init: RequestInit = {}): Promise<void> =>
    fetched(cloud, `/api/mcp${route}`, { ...init, headers: { authorization: `Bearer ${token}` } });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what a user writes; the project's secret comes in its place
  const config = { transport: 'http', url: server.url, headers: { 'x-key': '${KEY}' } };
  await as('/add', json('POST', { name: 'tools', config }));
  await as('/tools/test', { method: 'POST' });
  await cloud.janitor({ sweep: 'mcp' });
  const agent = await openAgent(cloud, { project: id });
  await agent.say('hello');
  await agent.close();
  await as('/tools/disable', { method: 'POST' });
  await as('/tools', remove);
  await cloud.ask(`/api/projects/${id}`, json('PATCH', { name: 'renamed' }));
  await cloud.ask(`/api/projects/${id}`, remove);
  await cloud.janitor({ sweep: 'project', project: id });
  await open.closed;
  await server.stop();
};

/** A named one that is deleted with its checkpoint. */
const workspaces = async (cloud: EmbeddedCloud): Promise<void> => {
  const { id: project } = await cloud.ask<Made>('/api/projects', json('POST', { name: 'of workspaces' }));
  const at = `/api/projects/${project}/workspaces`;
  const workspace = randomUUID();
  await cloud.ask(at, json('POST', { id: workspace, externalId: 'mine' }));
  const agent = await openAgent(cloud, { project, workspace });
  await agent.run('$ echo kept > kept');
  await agent.close();
  await endSession(cloud, agent.id);
  await cloud.ask(at);
  await cloud.ask(`${at}/${workspace}`, remove);
  await cloud.janitor({ sweep: 'workspace', workspaceId: workspace });
};

const schedules = async (cloud: EmbeddedCloud): Promise<void> => {
  const { id: projectId } = await cloud.ask<Made>(
    '/api/projects',
    json('POST', { name: 'of schedules', approvals: 'auto' }),
  );
  const options = { name: 's', cronExpr: '* * * * *', prompt: 'hello', targets: [{ projectId }] };
  const { id } = await cloud.ask<Made>('/api/schedules', json('POST', options));
  const path = `/api/schedules/${id}`;
  await cloud.ask(`${path}/trigger`, { method: 'POST', body: '{}' });
  const history = () => cloud.ask<{ history: readonly { status: string }[] }>(`${path}/history`);
  await eventually(
    history,
    (answer) => answer.history.some(({ status }) => status === 'success'),
    settleMsMax,
  );
  await cloud.ask(path, json('PATCH', { cronExpr: '0 0 1 1 *' }));
  await cloud.schedules({ sweep: 'schedules' });
  await cloud.ask('/api/schedules');
  await cloud.ask(path, remove);
};

const access = async (cloud: EmbeddedCloud): Promise<void> => {
  const { id, token } = await cloud.ask<Made & { token: string }>(
    '/api/tokens',
    json('POST', { name: 't', scope: 'admin' }),
  );
  const client = await connect({ url: cloud.url, token });
  await client.untilType('system:ready');
  await client.close();
  // A provider without a key: on-connected says so and closes.
  const refused = await connect(cloud, { provider: 'openai' });
  await refused.closed;
  await cloud.ask('/api/tokens');
  await cloud.ask(`/api/tokens/${id}`, remove);
  await cloud.ask('/api/models/available');
  await cloud.ask('/api/sessions');
  await cloud.ask('/api/search?text=a');
  await cloud.ask('/api/projects');
};

/** A webhook of each kind of life: it is told, tested, changed, and gone. */
const webhooks = async (cloud: EmbeddedCloud): Promise<void> => {
  const options = { url: 'http://127.0.0.1:9/', events: ['turn_completed', 'turn_failed'] };
  const { id } = await cloud.ask<Made>('/api/webhooks', json('POST', options));
  await cloud.webhooks({ sweep: 'webhooks', url: cloud.url });
  await cloud.ask('/api/webhooks');
  await cloud.ask(`/api/webhooks/${id}/test`, json('POST', {}));
  await cloud.ask(`/api/webhooks/${id}`, json('PATCH', { enabled: true }));
  await cloud.ask(`/api/webhooks/${id}/deliveries`);
  await cloud.ask(`/api/webhooks/${id}`, remove);
};

const clock = async (cloud: EmbeddedCloud): Promise<void> => {
  for (const sweep of ['due', 'slots', 'orphans', 'pool', 'mcp']) await cloud.janitor({ sweep });
  for (const check of ['turn', 'sandbox']) await cloud.synthetic({ check, url: cloud.url });
};
