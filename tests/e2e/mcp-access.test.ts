/** Access through `/mcp`, black-box: every scope, every tool, on things that are the caller's own, another's or not found. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toolbox } from '../../functions/mcp/toolbox.ts';
import { connect, type Fields, fieldsOf, type McpClient, type ToolError } from './mcp-clients.ts';
import { type Server, startServer } from './server.ts';

const scopes = ['admin', 'admin:ro', 'project', 'project:ro'] as const;
type Scope = (typeof scopes)[number];
type Outcome = 'done' | 'forbidden' | 'not found';

const refused: Readonly<Record<string, Outcome>> = {
  forbidden: 'forbidden',
  session_not_found: 'not found',
  project_not_found: 'not found',
  token_not_found: 'not found',
  workspace_not_found: 'not found',
  schedule_not_found: 'not found',
  // The token may; there is just no call that waits, and no such process.
  no_pending_tool_call: 'done',
  invalid_session_state: 'done',
  not_found: 'done',
};

/** Outcomes of a call on the caller's own thing, another project's, and one that does not exist. */
type Row = Readonly<Record<Scope, readonly [own: Outcome, other: Outcome, unknown: Outcome]>>;
const reads: Row = {
  admin: ['done', 'done', 'not found'],
  'admin:ro': ['done', 'done', 'not found'],
  project: ['done', 'not found', 'not found'],
  'project:ro': ['done', 'not found', 'not found'],
};
const writes: Row = {
  admin: ['done', 'done', 'not found'],
  'admin:ro': ['forbidden', 'forbidden', 'forbidden'],
  project: ['done', 'not found', 'not found'],
  'project:ro': ['forbidden', 'forbidden', 'forbidden'],
};

/** Of a project itself, which only an admin changes. */
const ofAdmins: Row = {
  ...writes,
  project: ['forbidden', 'forbidden', 'forbidden'],
};

/** Outcomes of a call that concerns no project's thing. */
type Global = Readonly<Record<Scope, Outcome>>;
const forAll: Global = { admin: 'done', 'admin:ro': 'done', project: 'done', 'project:ro': 'done' };
const forAdmins: Global = {
  admin: 'done',
  'admin:ro': 'forbidden',
  project: 'forbidden',
  'project:ro': 'forbidden',
};

/** Writes what is found by an id that nothing has. */
const nothing: Global = {
  admin: 'not found',
  'admin:ro': 'forbidden',
  project: 'not found',
  'project:ro': 'forbidden',
};

const forWriters: Global = { ...forAll, 'admin:ro': 'forbidden', 'project:ro': 'forbidden' };

const yearly = { name: 's', cron_expr: '0 0 1 1 *', prompt: 'hello' };

const ofSessions: readonly (readonly [tool: string, args: Fields, row: Row])[] = [
  ['execute_code', { code: '1' }, writes],
  ['execute_command', { command: 'true' }, writes],
  ['get_sessions', {}, reads],
  ['get_volume_path', {}, reads],
  ['write_file', { path: 'f', content: 'x' }, writes],
  ['read_file', { path: 'f' }, reads],
  ['list_files', {}, reads],
  ['process', { action: 'list' }, reads],
  ['process', { action: 'output', process_id: crypto.randomUUID() }, reads],
  ['process', { action: 'input', process_id: crypto.randomUUID(), text: 'x' }, writes],
  ['process', { action: 'signal', process_id: crypto.randomUUID(), signal: 'SIGINT' }, writes],
  ['process', { action: 'kill', process_id: crypto.randomUUID() }, writes],
  ['config_limits', {}, reads],
  ['session', { action: 'get' }, reads],
  ['session', { action: 'events' }, reads],
  ['session', { action: 'approve', call_id: 'c', approved: true }, writes],
  ['session', { action: 'cancel' }, writes],
  ['session', { action: 'retry' }, writes],
  ['caller_tool_response', { request_id: 'r', result: 1 }, writes],
  // Last: after it there is nothing left to write to.
  ['stop_session', {}, writes],
  ['session', { action: 'end' }, writes],
];
const ofProjects: readonly (readonly [tool: string, args: Fields, row: Row])[] = [
  ['project', { action: 'get' }, reads],
  ['project', { action: 'options' }, reads],
  ['config_limits', {}, reads],
  ['execute_command', { command: 'true' }, writes],
  ['session', { action: 'message', message: 'hello' }, writes],
  ['session', { action: 'spawn' }, writes],
  ['session', { action: 'list' }, reads],
  ['session', { action: 'cleanup' }, writes],
  ['workspace', { action: 'list' }, reads],
  ['schedule', { action: 'list' }, reads],
  ['project', { action: 'update', description: 'of a test' }, ofAdmins],
];
const ofSchedules: readonly (readonly [tool: string, args: Fields, row: Row])[] = [
  ['schedule', { action: 'get' }, reads],
  ['schedule', { action: 'history' }, reads],
  ['schedule', { action: 'update', name: 's' }, writes],
  ['schedule', { action: 'trigger' }, writes],
];
const ofNobody: readonly (readonly [tool: string, args: Fields, row: Global])[] = [
  ['get_sessions', {}, forAll],
  ['get_volume_path', {}, forAll],
  ['config_limits', {}, forAll],
  ['project', { action: 'list' }, forAll],
  ['project', { action: 'options' }, forAll],
  ['project', { action: 'create', name: 'p' }, forAdmins],
  ['session', { action: 'list' }, forAll],
  ['workspace', { action: 'list' }, forAll],
  ['schedule', { action: 'list' }, forAll],
  ['workspace', { action: 'delete', workspace_id: crypto.randomUUID() }, nothing],
  ['schedule', { action: 'create', ...yearly }, forWriters],
  ['schedule', { action: 'delete', schedule_id: crypto.randomUUID() }, nothing],
  ['project', { action: 'delete', project_id: crypto.randomUUID() }, { ...forAdmins, admin: 'not found' }],
  ['token', { action: 'create', name: 't', scope: 'admin:ro' }, forAdmins],
  ['token', { action: 'list' }, forAdmins],
  ['token', { action: 'revoke', token_id: crypto.randomUUID() }, { ...forAdmins, admin: 'not found' }],
];

let server: Server;
const clients = new Map<Scope, McpClient>();
const subjects = { sessions: [] as string[], projects: [] as string[], schedules: [] as string[] };

beforeAll(async () => {
  server = await startServer({ variables: { MSB_DEFAULT_FLAVOR: 'micro', MSB_MAX_SESSIONS: '100' } });
  const admin = await connect(server);
  const made = async (tool: string, args: Fields): Promise<Fields> => fieldsOf(await admin.call(tool, args));
  for (const name of ['own', 'other']) {
    const project_id = String((await made('project', { action: 'create', name }))['id']);
    const { session_id } = await made('execute_command', { command: 'touch f', project_id });
    const schedule = { action: 'create', ...yearly, targets: [{ project_id }] };
    subjects.schedules.push(String((await made('schedule', schedule))['id']));
    subjects.projects.push(project_id);
    subjects.sessions.push(String(session_id));
  }
  for (const list of Object.values(subjects)) list.push(crypto.randomUUID());
  for (const scope of scopes) {
    const text = scope.replace('project', `project:${subjects.projects[0]}`);
    const { token } = await made('token', { action: 'create', name: scope, scope: text });
    clients.set(scope, await connect({ url: server.url, token: String(token) }));
  }
  await admin.close();
});
afterAll(async () => {
  for (const client of clients.values()) await client.close();
  await server.stop();
});

const attempt = async (
  scope: Scope,
  tool: string,
  args: Fields,
): Promise<{ readonly outcome: Outcome; readonly error?: ToolError }> => {
  const result = await clients.get(scope)?.call(tool, args);
  const text = result?.content[0]?.text ?? '';
  if (!result?.isError) return { outcome: 'done' };
  const { error } = JSON.parse(text) as { error: ToolError };
  const outcome = refused[error.type];
  if (outcome === undefined) throw new Error(`${scope} ${tool} ${JSON.stringify(args)}: ${text}`);
  return { outcome, error };
};

test('the table has every tool, and every action of each', async () => {
  const tools = (await clients.get('admin')?.tools())?.map(({ name }) => name) ?? [];
  expect(toolbox.map(({ name }) => name).toSorted()).toEqual(tools.toSorted());
  const actions = toolbox.flatMap(({ name, needs }) =>
    typeof needs === 'string' ? [name] : Object.keys(needs).map((action) => `${name} ${action}`),
  );
  const rows = [...ofSessions, ...ofProjects, ...ofSchedules, ...ofNobody].map(([tool, { action }]) =>
    action === undefined ? tool : `${tool} ${String(action)}`,
  );
  expect([...new Set(rows)].toSorted()).toEqual(actions.toSorted());
});

test.each(ofNobody)('%s %j', async (tool, args, row) => {
  const outcomes: Record<string, Outcome> = {};
  for (const scope of scopes) outcomes[scope] = (await attempt(scope, tool, args)).outcome;
  expect(outcomes).toEqual(row);
});

const onEach = async (tool: string, args: Fields, subject: readonly Fields[]) => {
  const outcomes: Record<string, readonly Outcome[]> = {};
  for (const scope of scopes) {
    const attempts = await Promise.all(subject.map((more) => attempt(scope, tool, { ...args, ...more })));
    outcomes[scope] = attempts.map(({ outcome }) => outcome);
    const [, other, unknown] = attempts;
    if (other?.outcome === 'not found') expect(other.error).toEqual(unknown?.error);
  }
  return outcomes;
};

test.each(ofProjects)('%s %j of a project', async (tool, args, row) => {
  const subject = subjects.projects.map((project_id) => ({ project_id }));
  expect(await onEach(tool, args, subject)).toEqual(row);
});

test.each(ofSchedules)('%s %j of a schedule', async (tool, args, row) => {
  const subject = subjects.schedules.map((schedule_id) => ({ schedule_id }));
  expect(await onEach(tool, args, subject)).toEqual(row);
});

test.each(ofSessions)('%s %j of a session', async (tool, args, row) => {
  const subject = subjects.sessions.map((session_id) => ({ session_id }));
  expect(await onEach(tool, args, subject)).toEqual(row);
});
