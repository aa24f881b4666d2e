/** The main job, black-box: a message, approvals, a sandbox, output, an answer. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Server, startServer } from './server.ts';
import { type Client, connect } from './socket-client.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const textOf = (frame: { data: { content: { text?: string }[] } }): string =>
  frame.data.content.map(({ text = '' }) => text).join('');

const decide = async (client: Client, place: number, approved: boolean) => {
  const { data } = await client.untilType('tool:approval_required', place);
  client.send('tool:approval', { callId: data.callId, approved });
  return data;
};

test('two commands are approved one after the other and answered together', async () => {
  const client = await connect(server);
  const ready = await client.untilType('system:ready');
  expect(ready.data).toMatchObject({ provider: 'demo', status: 'created', lastSeq: -1, mcpServers: [] });
  client.send('message', { text: '$ echo a\n$ echo b', messageId: 'm1' });
  expect(await decide(client, 0, true)).toMatchObject({ queuePosition: 1, totalInQueue: 2 });
  expect(await decide(client, 1, true)).toMatchObject({ queuePosition: 2, totalInQueue: 2 });
  const completion = await client.untilType('completion');
  expect(completion.data).toMatchObject({ stopReason: 'end_turn' });
  const outputs = client.frames.filter(({ type }) => type === 'tool:output').map(textOf);
  expect(outputs.map((text) => text.trim()).sort()).toEqual(['a', 'b']);
  expect(completion.data.text).toMatch(/a[\s\S]*b/);
  const numbers = client.frames.flatMap(({ seq }) => (seq === null ? [] : [seq]));
  expect(numbers).toEqual(numbers.map((_, index) => index));
  expect(client.frames.at(-1)?.type).toBe('completion');
  expect(client.frames.filter(({ type }) => type === 'completion')).toHaveLength(1);
  await client.close();
});

test('a rejected command is named in the answer, an approved one still runs', async () => {
  const client = await connect(server);
  client.send('message', { text: '$ echo kept\n$ echo dropped' });
  await decide(client, 0, true);
  await decide(client, 1, false);
  const { data } = await client.untilType('completion');
  expect(data.text).toContain('kept');
  expect(data.text).toMatch(/echo dropped.* rejected/);
  expect(client.frames.filter(({ type }) => type === 'tool:output')).toHaveLength(1);
  expect(client.frames.filter(({ type }) => type === 'tool:rejected')).toHaveLength(1);
  await client.close();
});

test('a stopped session completes what waits, ends its sandbox and takes no more', async () => {
  const client = await connect(server);
  client.send('message', { text: '$ echo first', messageId: 'm1' });
  await client.untilType('tool:approval_required');
  client.send('message', { text: '$ echo second', messageId: 'm2' });
  client.send('ping');
  await client.untilType('pong');
  client.send('session:stop');
  await client.until(({ data }) => data.kind === 'session_status', 'the end');
  const completions = client.frames.filter(({ type }) => type === 'completion');
  expect(completions.map(({ data }) => data.stopReason)).toEqual(['cancelled', 'cancelled']);
  client.send('message', { text: 'more' });
  expect((await client.untilType('error')).data.error.code).toBe('invalid_session_state');
  const shown = await server.request(`/api/sessions/${client.sessionId()}`);
  expect(await shown.json()).toMatchObject({ status: 'completed', sandbox: null });
  await client.close();
});
