/** A client that fills every optional argument, with an empty text, an empty list or null, is served by each tool and action. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, errorOf, type Fields, fieldsOf, type McpClient } from './mcp-clients.ts';
import { type Server, startServer } from './server.ts';

let server: Server;
let client: McpClient;
let properties: ReadonlyMap<string, readonly string[]>;
let session_id: unknown;
beforeAll(async () => {
  server = await startServer({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } });
  client = await connect(server);
  properties = new Map(
    (await client.tools()).map(({ name, inputSchema }) => [
      name,
      Object.keys((inputSchema as { readonly properties: object }).properties),
    ]),
  );
  session_id = await make('execute_command', { command: 'touch a.txt' });
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

const call = async (name: string, args: Fields = {}): Promise<Fields> =>
  fieldsOf(await client.call(name, args));
const make = async (name: string, args: Fields, id = 'session_id'): Promise<unknown> =>
  (await call(name, args))[id];

const process = async (): Promise<Fields> => {
  const started = await call('execute_command', { command: 'cat', background: true, session_id });
  return { session_id, process_id: started['process_id'] };
};
const agent = async (): Promise<Fields> => ({ session_id: await make('session', { action: 'spawn' }) });
const asked = async (): Promise<Fields> => {
  const { session_id: id } = await agent();
  const message = { action: 'message', session_id: id, message: '$ echo asked' };
  await call('session', { ...message, wait: true, stop_at_approval: true });
  const { approvals } = (await (await server.request('/api/approvals')).json()) as {
    readonly approvals: readonly { readonly sessionId: string; readonly callId: string }[];
  };
  const call_id = approvals.find(({ sessionId }) => sessionId === id)?.callId;
  return { session_id: id, call_id, approved: true };
};
const project = async (): Promise<Fields> => ({
  project_id: await make('project', { action: 'create', name: 'p' }, 'id'),
});
const workspace = async (): Promise<Fields> => {
  const workspace_id = crypto.randomUUID();
  const { session_id: id } = await call('session', { action: 'spawn', create_workspace: true, workspace_id });
  await call('session', { action: 'end', session_id: id });
  return { workspace_id };
};
const yearly = { name: 's', cron_expr: '0 0 1 1 *', prompt: 'hello' };
const schedule = async (): Promise<Fields> => ({
  schedule_id: await make('schedule', { action: 'create', ...yearly }, 'id'),
});

type Required = Fields | (() => Promise<Fields>);
type Case = readonly [tool: string, action: string | undefined, required: Required];

/** Each with the arguments that it requires, and no other. */
const cases: readonly Case[] = [
  ['execute_code', undefined, { code: 'print(6 * 7)' }],
  ['execute_command', undefined, { command: 'echo hi there' }],
  ['get_sessions', undefined, {}],
  [
    'stop_session',
    undefined,
    async () => ({ session_id: await make('execute_command', { command: 'true' }) }),
  ],
  ['process', 'list', async () => ({ session_id })],
  ['process', 'output', process],
  ['process', 'input', process],
  ['process', 'signal', async () => ({ ...(await process()), signal: 'SIGTERM' })],
  ['process', 'kill', process],
  ['get_volume_path', undefined, {}],
  ['read_file', undefined, async () => ({ session_id, path: 'a.txt' })],
  ['write_file', undefined, async () => ({ session_id, path: 'b.txt', content: '' })],
  ['list_files', undefined, async () => ({ session_id })],
  ['project', 'create', { name: 'p' }],
  ['project', 'list', {}],
  ['project', 'get', project],
  ['project', 'update', project],
  ['project', 'delete', project],
  ['project', 'options', {}],
  ['session', 'spawn', {}],
  ['session', 'message', { message: 'hello' }],
  ['session', 'get', agent],
  ['session', 'list', {}],
  ['session', 'events', agent],
  ['session', 'approve', asked],
  ['session', 'cancel', agent],
  ['session', 'end', agent],
  ['session', 'cleanup', {}],
  ['workspace', 'list', {}],
  ['workspace', 'delete', workspace],
  ['schedule', 'create', yearly],
  ['schedule', 'list', {}],
  ['schedule', 'get', schedule],
  ['schedule', 'update', schedule],
  ['schedule', 'delete', schedule],
  ['schedule', 'trigger', schedule],
  ['schedule', 'history', schedule],
  ['token', 'create', { name: 't', scope: 'admin:ro' }],
  ['token', 'list', {}],
  [
    'token',
    'revoke',
    async () => ({
      token_id: await make('token', { action: 'create', name: 't', scope: 'admin:ro' }, 'id'),
    }),
  ],
  ['config_limits', undefined, {}],
];

const fills: readonly (readonly [string, unknown])[] = [
  ['an empty text', ''],
  ['an empty list', []],
  ['null', null],
];

const filled = (tool: string, value: unknown, required: Fields): Fields => ({
  ...Object.fromEntries((properties.get(tool) ?? []).map((name) => [name, value])),
  ...required,
});

test('each tool and each of its actions is in the table', async () => {
  const listed = (await client.tools()).flatMap(({ name, inputSchema }) => {
    const { action } = (
      inputSchema as { readonly properties: { readonly action?: { readonly enum: string[] } } }
    ).properties;
    return action === undefined ? [name] : action.enum.map((one) => `${name} ${one}`);
  });
  const tabled = cases.map(([tool, action]) => (action === undefined ? tool : `${tool} ${action}`));
  // A failed turn is needed for a retry, and a waiting call for an answer.
  expect([...tabled, 'caller_tool_response', 'session retry'].toSorted()).toEqual(listed.toSorted());
});

test.each(cases)('%s %s is served with every other argument empty', async (tool, action, required) => {
  for (const [how, value] of fills) {
    const needed = typeof required === 'function' ? await required() : required;
    const args = filled(tool, value, { ...(action === undefined ? {} : { action }), ...needed });
    const { isError, content, structuredContent } = await client.call(tool, args);
    expect([how, isError ?? false], content[0]?.text).toEqual([how, false]);
    if (tool === 'execute_code') expect(structuredContent).toMatchObject({ stdout: '42\n' });
    if (tool === 'execute_command') expect(structuredContent).toMatchObject({ stdout: 'hi there\n' });
  }
});

test('the answer to a tool of a caller is understood with its other arguments empty', async () => {
  const required = { ...(await agent()), request_id: crypto.randomUUID() };
  const refused = errorOf(await client.call('caller_tool_response', { ...required, result: 'done' }));
  for (const [, value] of fills) {
    const args = filled('caller_tool_response', value, { ...required, result: 'done' });
    expect(errorOf(await client.call('caller_tool_response', args))).toEqual(refused);
  }
});
