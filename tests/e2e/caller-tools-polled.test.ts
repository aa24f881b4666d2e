/** Tools that a client offers without a socket, over MCP and REST: offered with the session, found by polling, answered. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { passWait } from './agent.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import {
  connect,
  errorOf,
  type Fields,
  fieldsOf,
  type Generation,
  generations,
  type McpClient,
} from './mcp-clients.ts';

let cloud: EmbeddedCloud;
let client: McpClient;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
  client = await connect(cloud);
});
afterAll(async () => {
  await client.close();
  await cloud.stop();
});

const openTool = { name: 'open', description: 'opens a file', inputSchema: { type: 'object' } };
const offer = { caller_id: 'ide', caller_tools: [openTool] };

const connected = async (generation: Generation): Promise<McpClient> => {
  const made = await connect(cloud, generation);
  onTestFinished(() => made.close());
  return made;
};

const calling = (by: McpClient) => async (name: string, args: Fields) => fieldsOf(await by.call(name, args));
const refusal = async (args: Fields) => {
  const { type, message } = errorOf(await client.call('session', args));
  return `${type}: ${message}`;
};
const place = { autonomy_level: 'off', create_workspace: true };

/** The events of one type, as soon as there are so many; polled from the beginning, as a client does that knows nothing. */
const polled = async (by: McpClient, session_id: unknown, wanted: { type: string; count?: number }) => {
  const { type, count = 1 } = wanted;
  const events = async (): Promise<readonly Fields[]> => {
    const read = await calling(by)('session', { action: 'events', session_id, since_index: -1 });
    return (read['events'] as Fields[]).filter((event) => event['type'] === type);
  };
  const found = await eventually(events, ({ length }) => length >= count);
  return found.map(({ data }) => data as Fields);
};

describe.each(generations)('a client of %s', (generation) => {
  test('offers a tool with its message, finds the call by polling, and its answer reaches the model', async () => {
    const by = await connected(generation);
    const call = calling(by);
    const asked = { action: 'message', message: 'call ide_open {"path": "a.ts"}', ...place, ...offer };
    const { session_id } = await call('session', asked);
    const [request] = await polled(by, session_id, { type: 'caller_tool:request' });
    expect(request).toEqual({
      requestId: expect.any(String),
      callerId: 'ide',
      name: 'open',
      args: { path: 'a.ts' },
    });
    const answer = { session_id, request_id: request?.['requestId'], result: { lines: 3 } };
    expect(await call('caller_tool_response', answer)).toMatchObject({ accepted: true });
    const [completion] = await polled(by, session_id, { type: 'completion' });
    expect(completion?.['text']).toContain('{"lines":3}');
    expect(errorOf(await by.call('caller_tool_response', answer)).type).toBe('no_pending_tool_call');
  });

  test('offers a tool with a session that it spawns; an error reaches the model, which continues', async () => {
    const by = await connected(generation);
    const call = calling(by);
    const { session_id, workspace_id } = await call('session', { action: 'spawn', ...place, ...offer });
    const said = { action: 'message', message: 'call ide_open', workspace_id };
    expect(await call('session', said)).toMatchObject({ session_id, spawned: false });
    const [request] = await polled(by, session_id, { type: 'caller_tool:request' });
    const answer = { session_id, request_id: request?.['requestId'], error: 'no such file' };
    await call('caller_tool_response', answer);
    const [completion] = await polled(by, session_id, { type: 'completion' });
    expect(completion).toMatchObject({
      stopReason: 'end_turn',
      text: expect.stringContaining('no such file'),
    });
    const [failed] = await polled(by, session_id, { type: 'agent:error' });
    expect(failed?.['message']).toBe('Tool ide_open failed: no such file');
  });
});

test('a later offer replaces an earlier one, and an empty list withdraws it', async () => {
  const call = calling(client);
  const { session_id, workspace_id } = await call('session', { action: 'spawn', ...place, ...offer });
  const say = async (message: string, more: Fields, count: number): Promise<unknown> => {
    await call('session', { action: 'message', message, workspace_id, ...more });
    return (await polled(client, session_id, { type: 'completion', count })).at(-1)?.['text'];
  };
  const closeTool = { ...openTool, name: 'close' };
  const renamed = { caller_id: 'ide', caller_tools: [closeTool] };
  expect(await say('call ide_open', renamed, 1)).toContain('This is the demo provider');
  await call('session', { action: 'message', message: 'call ide_close', workspace_id });
  const [request] = await polled(client, session_id, { type: 'caller_tool:request' });
  await call('caller_tool_response', { session_id, request_id: request?.['requestId'], result: 'closed' });
  expect((await polled(client, session_id, { type: 'completion', count: 2 }))[1]?.['text']).toContain(
    'closed',
  );
  const nothing = { caller_id: 'ide', caller_tools: [] };
  expect(await say('call ide_close', nothing, 3)).toContain('This is the demo provider');
});

test('a call without an answer fails after sixty seconds, and the agent is told', async () => {
  const asked = { action: 'message', message: 'call ide_open', ...place, ...offer };
  const { session_id } = await calling(client)('session', asked);
  await polled(client, session_id, { type: 'caller_tool:request' });
  await passWait(cloud, String(session_id), 60_000);
  const [failed] = await polled(client, session_id, { type: 'agent:error' });
  expect(failed).toMatchObject({
    code: 'execution_timeout',
    message: 'Tool ide_open failed: no answer within 60 s',
  });
  const [completion] = await polled(client, session_id, { type: 'completion' });
  expect(completion).toMatchObject({ stopReason: 'end_turn' });
});

const manyTools = Array.from({ length: 65 }, (_, index) => ({ ...openTool, name: `open${index}` }));
const deep = JSON.parse(`${'{"a":'.repeat(30)}1${'}'.repeat(30)}`);
const named = (name: unknown) => ({ ...openTool, name });
const schema = (inputSchema: unknown) => ({ ...openTool, inputSchema });
const badSchema = 'is a JSON schema of an object, nested at most 24 times';

/** Refused offers, each with the message after the name of the field. */
const refused: readonly (readonly [string, string, readonly unknown[], string])[] = [
  ['a bad id', 'i d e', [openTool], 'has 1 to 64 letters, digits, underscores and hyphens'],
  ['a bad name', 'ide', [named('open it')], 'has 1 to 64 letters, digits, underscores and hyphens'],
  ['a long name', 'ide', [named('x'.repeat(65))], 'has 1 to 64 letters, digits, underscores and hyphens'],
  ['too many tools', 'ide', manyTools, 'has at most 64 tools'],
  ['the same twice', 'ide', [openTool, openTool], 'names each tool once'],
  ['a schema that is a list', 'ide', [schema([{}])], badSchema],
  ['a schema of a text', 'ide', [schema({ type: 'string' })], badSchema],
  ['a schema without end', 'ide', [schema(deep)], badSchema],
  ['too much', 'ide', [schema({ type: 'object', description: 'x'.repeat(110_000) })], badSchema],
  ['a name that is taken', 'execute', [named('command')], 'the agent already has a tool execute_command'],
];

describe.each(refused.map(([what, ...rest]) => [what, rest] as const))('%s', (_, [id, tools, why]) => {
  test('is refused by name over MCP, and no session is created', async () => {
    const { id: project_id } = await calling(client)('project', { action: 'create', name: 'p' });
    const asked = { message: 'hello', project_id, caller_id: id, caller_tools: tools };
    for (const action of ['message', 'spawn']) {
      const said = await refusal({ action, ...asked });
      expect(said).toMatch(/^(invalid_request: caller_(id|tools)|conflict: )/);
      expect(said).toContain(why);
    }
    const { sessions } = await calling(client)('session', { action: 'list', project_id });
    expect(sessions).toEqual([]);
  });

  test('is refused by name over REST, and no session is created', async () => {
    const { id: project } = await cloud.ask<{ id: string }>('/api/projects', posted({ name: 'p' }));
    const [status, said] = await refusedRest({ project, callerTools: { callerId: id, tools } });
    expect([400, 409]).toContain(status);
    expect(said).toMatch(/^(invalid_request: callerTools\.(callerId|tools)|conflict: )/);
    expect(said).toContain(why);
    expect(await cloud.ask(`/api/sessions?project=${project}`)).toEqual({ sessions: [] });
  });
});

test('tools without a caller id are refused, and so are names that another caller offers', async () => {
  expect(await refusal({ action: 'spawn', caller_tools: [openTool] })).toBe(
    'invalid_request: caller_id: required with caller_tools',
  );
  const call = calling(client);
  const mine = { caller_id: 'ide', caller_tools: [named('file_open')] };
  const { workspace_id } = await call('session', { action: 'spawn', ...place, ...mine });
  const theirs = { caller_id: 'ide_file', caller_tools: [openTool] };
  expect(await refusal({ action: 'spawn', workspace_id, ...theirs })).toBe(
    'conflict: the agent already has a tool ide_file_open',
  );
  await call('session', { action: 'spawn', workspace_id, ...mine });
});

test('a ninth caller is refused, and its message is not sent', async () => {
  const call = calling(client);
  const { workspace_id, session_id } = await call('session', { action: 'spawn', ...place });
  for (let index = 0; index < 8; index += 1)
    await call('session', { action: 'spawn', workspace_id, ...offer, caller_id: `c${index}` });
  const ninth = { action: 'message', message: 'hello', workspace_id, ...offer };
  expect(await refusal(ninth)).toBe('resource_limit_exceeded: a session has at most 8 callers');
  expect((await call('session', { action: 'events', session_id }))['events']).toEqual([]);
});

const posted = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });
const refusedRest = async (options: object): Promise<readonly [number, string]> => {
  const response = await cloud.request('/api/sessions', posted(options));
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return [response.status, `${error.code}: ${error.message}`];
};

describe('over REST', () => {
  const callerTools = { callerId: 'ide', tools: [openTool] };

  test('a tool is offered with the session, its call is polled, and the answer is posted', async () => {
    const options = { approvals: 'auto', callerTools };
    const { id } = await cloud.ask<{ id: string }>('/api/sessions', posted(options));
    await cloud.ask(`/api/sessions/${id}/messages`, posted({ text: 'call ide_open {"n": 1}' }));
    const read = (type: string) =>
      eventually(
        async () => {
          const path = `/api/sessions/${id}/events?since_index=-1`;
          const { events } = await cloud.ask<{ events: { type: string; data: Fields }[] }>(path);
          return events.filter((event) => event.type === type);
        },
        ({ length }) => length > 0,
      );
    const [request] = await read('caller_tool:request');
    expect(request?.data).toMatchObject({ name: 'open', args: { n: 1 } });
    const path = `/api/sessions/${id}/caller-tools/${String(request?.data['requestId'])}`;
    const content = [{ type: 'text', text: 'three lines' }];
    expect(await cloud.ask(path, posted({ result: { content } }))).toEqual({
      requestId: request?.data['requestId'],
    });
    expect((await read('completion'))[0]?.data['text']).toContain('three lines');
    const late = await cloud.request(path, posted({ result: 1 }));
    expect([late.status, await late.json()]).toMatchObject([
      409,
      { error: { code: 'no_pending_tool_call', message: expect.stringMatching(/^No matching pending/) } },
    ]);
    const long = `/api/sessions/${id}/caller-tools/${'x'.repeat(1100)}`;
    expect((await cloud.request(long, posted({ result: 1 }))).status).toBe(400);
  });

  test('an execution session has no agent to offer it to', async () => {
    expect(await refusedRest({ kind: 'execution', callerTools })).toEqual([
      400,
      'invalid_request: callerTools: an execution session has no agent',
    ]);
  });
});

/** Speaks no protocol: it only keeps what a model would have been told. */
const openListener = async (): Promise<{ readonly url: string; readonly heard: string[] }> => {
  const heard: string[] = [];
  const listener = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      heard.push(Buffer.concat(chunks).toString());
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    listener.close();
  });
  return { url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`, heard };
};

const vocabulary = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    path: { type: 'string', format: 'uri-reference', 'x-kept': [null, 1.5, { deep: [[]] }] },
    __proto__named: { $ref: '#/$defs/line' },
  },
  $defs: { line: { anyOf: [{ type: 'integer', minimum: 1 }, { const: 'last' }] } },
  required: ['path'],
  additionalProperties: false,
};

test.each([
  ['anthropic', 'ANTHROPIC_BASE_URL', 'ANTHROPIC_API_KEY', 'input_schema'],
  ['openai', 'OPENAI_BASE_URL', 'OPENAI_API_KEY', 'parameters'],
  ['gemini', 'GOOGLE_GEMINI_BASE_URL', 'GEMINI_API_KEY', 'parametersJsonSchema'],
])('a schema reaches the model of %s as the client wrote it', async (provider, ...[base, key, field]) => {
  const { url, heard } = await openListener();
  const variables = { LLM_PROVIDER: provider, [base]: url, [key]: 'a-key' };
  const own = await openEmbeddedCloud({ variables });
  onTestFinished(() => own.stop());
  const by = await connect(own);
  onTestFinished(() => by.close());
  const tools = [{ name: 'open', description: 'opens a file', inputSchema: vocabulary }];
  await by.call('session', { action: 'spawn', message: 'hello', caller_id: 'ide', caller_tools: tools });
  const said = await eventually(
    () => Promise.resolve(heard.find((text) => text.includes('ide_open'))),
    (text) => text !== undefined,
  );
  expect(findTool(JSON.parse(said ?? ''), 'ide_open')?.[field]).toEqual(vocabulary);
  expect(said).toContain(JSON.stringify(vocabulary));
});

const findTool = (value: unknown, name: string): Fields | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Fields;
  if (fields['name'] === name) return fields;
  return Object.values(fields)
    .map((inner) => findTool(inner, name))
    .find((found) => found !== undefined);
};
