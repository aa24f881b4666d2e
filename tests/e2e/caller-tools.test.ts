/** Tools that a client offers to a session's agent: offered, asked, answered, left unanswered, and gone. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeSession, passWait } from './agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';
import { type Client, connect } from './socket-client.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

const openTool = { name: 'open', description: 'opens a file', inputSchema: { type: 'object' } };

const open = async (approvals = 'auto'): Promise<Client> => {
  const { id } = await makeSession(cloud, { approvals });
  return watch(id);
};
const watch = async (sessionId: string): Promise<Client> => {
  const client = await connect(cloud, { sessionId });
  onTestFinished(() => client.close());
  await client.untilType('system:ready');
  return client;
};

/** Frames of one connection may be handled at once: a message that is to find the tool waits until others see it. */
const offer = async (client: Client): Promise<void> => {
  client.send('caller_tools:declare', { callerId: 'ide', tools: [openTool] });
  const { data: declared, seq } = await client.untilType('caller_tools:declared');
  expect([declared, seq]).toEqual([{ callerId: 'ide', tools: ['ide_open'] }, null]);
  const { sessionId } = await client.untilType('system:ready');
  await expect.poll(() => toolsOf(String(sessionId)), { timeout: 60_000 }).toContain('ide_open');
};
const toolsOf = async (sessionId: string): Promise<unknown> => {
  const other = await connect(cloud, { sessionId });
  const { data } = await other.untilType('system:ready');
  await other.close();
  return data.tools;
};

test('a client offers a tool, receives the agent’s call, and its answer reaches the model', async () => {
  const client = await open('ask');
  await offer(client);
  client.send('message', { text: 'call ide_open {"path": "a.ts"}' });
  const { data: wanted } = await client.untilType('tool:approval_required');
  expect(wanted).toMatchObject({ name: 'ide_open', args: { path: 'a.ts' } });
  client.send('tool:approval', { callId: wanted.callId, approved: true });
  const { data: request, seq } = await client.untilType('caller_tool:request');
  expect(request).toEqual({
    requestId: expect.any(String),
    callerId: 'ide',
    name: 'open',
    args: { path: 'a.ts' },
  });
  expect(seq).toBeGreaterThan(0);
  client.send('caller_tool:result', { requestId: request.requestId, result: { lines: 3 } });
  const { data: output } = await client.untilType('tool:output');
  expect(output).toMatchObject({ name: 'ide_open', content: [{ type: 'text', text: '{"lines":3}' }] });
  expect((await client.untilType('completion')).data.text).toContain('{"lines":3}');
});

test('two calls of a client and a command run concurrently, each with its own end', async () => {
  const client = await open();
  await offer(client);
  client.send('message', { text: 'call ide_open {"n": 1}\n$ sleep 1; echo slept\ncall ide_open {"n": 2}' });
  const first = await client.untilType('caller_tool:request');
  const second = await client.untilType('caller_tool:request', 1);
  client.send('caller_tool:result', { requestId: second.data.requestId, error: 'no such file' });
  const failed = await client.untilType('agent:error');
  expect(failed.data.message).toBe('Tool ide_open failed: no such file');
  client.send('caller_tool:result', { requestId: first.data.requestId, result: 'opened' });
  const { data } = await client.untilType('completion');
  expect(data.text).toMatch(/ide_open gave `opened`[\s\S]*slept[\s\S]*ide_open failed:[\s\S]*no such file/);
  const slept = client.frames.find(
    ({ type, data: said }) => type === 'tool:output' && said.name === 'execute_command',
  );
  expect(slept?.data.content).toEqual([{ type: 'text', text: 'slept\n' }]);
});

test('a client whose language writes each field, and hands results of MCP on, is understood', async () => {
  const client = await open();
  const tools = [{ name: 'open', description: null, inputSchema: { type: 'object' } }];
  client.send('caller_tools:declare', { callerId: 'ide', tools });
  await client.untilType('caller_tools:declared');
  await expect.poll(() => toolsOf(client.sessionId()), { timeout: 60_000 }).toContain('ide_open');
  client.send('message', {
    text: 'call ide_open {"n": 1}\ncall ide_open {"n": 2}',
    messageId: null,
    model: null,
  });
  const first = await client.untilType('caller_tool:request');
  const second = await client.untilType('caller_tool:request', 1);
  const result = { content: [{ type: 'text', text: 'disk full' }], structuredContent: null };
  const answer = (request: typeof first, isError: boolean) =>
    client.send('caller_tool:result', {
      requestId: request.data.requestId,
      result: { ...result, isError },
      error: null,
    });
  answer(first, false);
  answer(second, true);
  const { data: output } = await client.untilType('tool:output');
  expect(output.content).toEqual([{ type: 'text', text: 'disk full' }]);
  expect((await client.untilType('agent:error')).data.message).toBe('Tool ide_open failed: disk full');
  await client.untilType('completion');
});

test('an answer counts once, and an answer without a call is refused', async () => {
  const client = await open();
  await offer(client);
  client.send('message', { text: 'call ide_open' });
  const { data } = await client.untilType('caller_tool:request');
  for (let time = 0; time < 3; time += 1)
    client.send('caller_tool:result', { requestId: data.requestId, result: `answer ${time}` });
  await client.untilType('completion');
  await client.untilType('error', 1);
  expect(client.frames.filter(({ type }) => type === 'tool:output')).toHaveLength(1);
  const refused = client.frames.find(({ type }) => type === 'error')?.data.error;
  expect(refused).toMatchObject({
    code: 'no_pending_tool_call',
    message: expect.stringMatching(/^No matching pending tool call/),
  });
});

test('a client that disconnects fails its calls, and its tools are withdrawn', async () => {
  const person = await open();
  const ide = await watch(person.sessionId());
  await offer(ide);
  ide.send('ping');
  await ide.untilType('pong');
  person.send('message', { text: 'call ide_open' });
  await person.untilType('caller_tool:request');
  ide.terminate();
  const { data } = await person.untilType('agent:error');
  expect(data.message).toBe('Tool ide_open failed: the client ide has disconnected');
  await person.untilType('completion');
  person.send('message', { text: 'call ide_open' });
  expect((await person.untilType('completion', 1)).data.text).toContain('This is the demo provider');
});

test('an invalid tool is refused by name', async () => {
  const client = await open();
  client.send('caller_tools:declare', { callerId: 'i d e', tools: [] });
  client.send('caller_tools:declare', { callerId: 'ide', tools: [openTool, openTool] });
  await client.untilType('error', 1);
  const refused = client.frames.flatMap(({ type, data }) => (type === 'error' ? [data.error.message] : []));
  expect(refused).toHaveLength(2);
  expect(refused).toContainEqual(expect.stringContaining('callerId'));
  expect(refused).toContainEqual(expect.stringContaining('tools: '));
});

test('a client that never answers has sixty seconds', async () => {
  const client = await open();
  await offer(client);
  client.send('message', { text: 'call ide_open' });
  await client.untilType('caller_tool:request');
  await passWait(cloud, client.sessionId(), 59_000);
  expect(client.frames.filter(({ type }) => type === 'agent:error')).toEqual([]);
  await passWait(cloud, client.sessionId(), 1000);
  expect((await client.untilType('agent:error')).data).toMatchObject({
    code: 'execution_timeout',
    message: 'Tool ide_open failed: no answer within 60 s',
  });
  expect((await client.untilType('completion')).data.stopReason).toBe('end_turn');
});
