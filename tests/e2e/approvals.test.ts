/** Approvals: one call at a time by a human, a tool for the session, or a mode. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSession, toolOutput } from './agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';
import { type Client, connect } from './socket-client.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

const open = async (options: object = {}): Promise<Client> => {
  const { id } = await makeSession(cloud, { flavor: 'micro', ...options });
  const client = await connect(cloud, { sessionId: id });
  await client.untilType('system:ready');
  return client;
};

const asked = (client: Client) => client.frames.filter(({ type }) => type === 'tool:approval_required');

const decide = async (client: Client, place: number, fields: Readonly<Record<string, unknown>>) => {
  const { data } = await client.untilType('tool:approval_required', place);
  client.send('tool:approval', { callId: data.callId, ...fields });
  return data;
};

test('of three calls two are approved: two outputs, and one answer that names the rejection', async () => {
  const client = await open();
  client.send('message', { text: '$ echo one\n$ echo two\n$ echo three' });
  const seen = [];
  for (const [place, approved] of [true, false, true].entries())
    seen.push(await decide(client, place, { approved }));
  expect(seen).toMatchObject([
    { args: { command: 'echo one' }, queuePosition: 1, totalInQueue: 3 },
    { args: { command: 'echo two' }, queuePosition: 2, totalInQueue: 3 },
    { args: { command: 'echo three' }, queuePosition: 3, totalInQueue: 3 },
  ]);
  const { data } = await client.untilType('completion');
  expect(data.stopReason).toBe('end_turn');
  expect(client.frames.filter(({ type }) => type === 'tool:output')).toHaveLength(2);
  const answers = client.frames.filter(
    ({ type, data: said }) => type === 'message' && said.role === 'assistant',
  );
  expect(answers).toHaveLength(1);
  expect(answers[0]?.data.text).toMatch(/echo one` gave `one`[\s\S]*echo two` was rejected[\s\S]*three/);
  await client.close();
});

test('an approval that is sent ten times runs its call once, and the others are refused', async () => {
  const client = await open();
  client.send('message', { text: '$ echo ran >> runs.txt' });
  const { data } = await client.untilType('tool:approval_required');
  for (let time = 0; time < 10; time += 1)
    client.send('tool:approval', { callId: data.callId, approved: true });
  await client.untilType('completion');
  await client.untilType('error', 8);
  const codes = client.frames.filter(({ type }) => type === 'error').map((frame) => frame.data.error.code);
  expect(codes).toEqual(Array.from({ length: 9 }, () => 'no_pending_tool_call'));
  client.send('message', { text: '$ cat runs.txt' });
  await decide(client, 1, { approved: true });
  await client.untilType('completion', 1);
  expect(toolOutput(client.frames)).toBe('ran\n');
  await client.close();
});

test('a tool with a grant needs no approval in its session, and in no other', async () => {
  const client = await open();
  client.send('message', { text: '$ echo one\nlist\n$ echo two' });
  await decide(client, 0, { approved: true, remember: 'session' });
  expect(await decide(client, 1, { approved: true })).toMatchObject({ name: 'list_files' });
  await client.untilType('completion');
  client.send('message', { text: '$ echo three' });
  await client.untilType('completion', 1);
  expect(asked(client)).toHaveLength(2);
  expect(toolOutput(client.frames)).toContain('three');
  await client.close();

  const other = await open();
  other.send('message', { text: '$ echo four' });
  await decide(other, 0, { approved: false });
  await other.untilType('completion');
  await other.close();
});

const everything = 'write a.txt hello\nread a.txt\nlist\n$ git status\n$ git status; id\n$ echo hi';

test('a session in medium mode needs approval for calls other than reading, editing and git', async () => {
  const client = await open({ approvals: 'medium' });
  client.send('message', { text: everything });
  expect(await decide(client, 0, { approved: false })).toMatchObject({
    args: { command: 'git status; id' },
    queuePosition: 1,
    totalInQueue: 2,
  });
  expect(await decide(client, 1, { approved: false })).toMatchObject({ args: { command: 'echo hi' } });
  await client.untilType('completion');
  expect(client.frames.filter(({ type }) => type === 'tool:rejected')).toHaveLength(2);
  await client.close();
});

test('a session takes the mode of its project, unless it has its own', async () => {
  const { id: project } = await cloud.ask<{ id: string }>('/api/projects', {
    method: 'POST',
    body: JSON.stringify({ name: 'careful', approvals: 'low' }),
  });
  const careful = await open({ project });
  careful.send('message', { text: 'read a.txt\nwrite a.txt hello' });
  expect(await decide(careful, 0, { approved: false })).toMatchObject({
    name: 'write_file',
    totalInQueue: 1,
  });
  await careful.untilType('completion');
  await careful.close();

  const free = await open({ project, approvals: 'high' });
  free.send('message', { text: everything });
  await free.untilType('completion');
  expect(asked(free)).toEqual([]);
  await free.close();
});

test('an unknown mode is refused', async () => {
  const response = await cloud.request('/api/sessions', {
    method: 'POST',
    body: JSON.stringify({ approvals: 'never' }),
  });
  expect(response.status).toBe(400);
});
