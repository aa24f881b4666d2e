/** The main job, black-box: a message, approvals, a sandbox, output, an answer. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from './embedded-cloud.ts';
import { type Server, startServer } from './server.ts';
import { type Client, connect, inOrder, type Received } from './socket-client.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const textOf = (frame: { data: { content: { text?: string }[] } }): string =>
  frame.data.content.map(({ text = '' }) => text).join('');

const eventsOf = async (id: string): Promise<readonly Pick<Received, 'type'>[]> => {
  const response = await server.request(`/api/sessions/${id}/events`);
  return ((await response.json()) as { events: readonly Pick<Received, 'type'>[] }).events;
};

const decide = async (client: Client, place: number, approved: boolean) => {
  const { data } = await client.untilType('tool:approval_required', place);
  client.send('tool:approval', { callId: data.callId, approved });
  return data;
};

test('two commands are approved one after the other and answered together', async () => {
  const client = await connect(server);
  const ready = await client.untilType('system:ready');
  expect(ready.data).toMatchObject({ provider: 'demo', status: 'created', lastSeq: -1, mcpServers: [] });
  expect(ready.data.note).toContain('no language model');
  client.send('message', { text: '$ echo a\n$ echo b', messageId: 'm1' });
  expect(await decide(client, 0, true)).toMatchObject({ queuePosition: 1, totalInQueue: 2 });
  expect(await decide(client, 1, true)).toMatchObject({ queuePosition: 2, totalInQueue: 2 });
  const completion = await client.untilType('completion');
  expect(completion.data).toMatchObject({ stopReason: 'end_turn' });
  const outputs = client.frames.filter(({ type }) => type === 'tool:output').map(textOf);
  expect(outputs.map((text) => text.trim()).sort()).toEqual(['a', 'b']);
  expect(completion.data.text).toMatch(/a[\s\S]*b/);
  const logged = inOrder(client.frames);
  expect(logged.map(({ seq }) => seq)).toEqual(logged.map((_, index) => index));
  expect(logged.at(-1)?.type).toBe('completion');
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

test('nothing arrives before the greeting: what is sent at once is answered behind it', async () => {
  const watched = await connect(server);
  const { sessionId } = await watched.untilType('system:ready');
  watched.send('message', { text: '$ for i in $(seq 400); do echo $i; sleep 0.02; done' });
  await decide(watched, 0, true);
  await watched.untilType('tool:progress');
  for (let place = 0; place < 8; place += 1) {
    const client = await connect(server, { sessionId });
    client.send('ping');
    client.send('caller_tools:declare', { callerId: `c${place}`, tools: [] });
    client.sendRaw('no JSON');
    for (const type of ['pong', 'caller_tools:declared', 'error']) await client.untilType(type);
    expect(client.frames[0]?.type).toBe('system:ready');
    await client.close();
  }
  await watched.untilType('completion');
  await watched.close();
});

test('a client disconnected for a whole turn reconnects with its last number and gets the rest once, in order', async () => {
  const first = await connect(server);
  const ready = await first.untilType('system:ready');
  const sessionId = ready.sessionId;
  first.send('message', { text: '$ echo one' });
  const asked = await first.untilType('tool:approval_required');
  first.send('tool:approval', { callId: asked.data.callId, approved: true, remember: 'session' });
  await first.untilType('completion');
  const seen = inOrder(first.frames).map(({ seq }) => seq);
  first.terminate();

  const posted = await server.request(`/api/sessions/${sessionId}/messages`, {
    method: 'POST',
    body: JSON.stringify({ text: '$ echo two\n$ echo three' }),
  });
  expect(posted.status).toBe(202);
  await eventually(
    () => eventsOf(sessionId),
    (events) => events.filter(({ type }) => type === 'completion').length === 2,
    30_000,
  );

  const second = await connect(server, { sessionId, since: seen.at(-1) ?? -1 });
  await second.untilType('completion');
  const missed = second.frames.filter(({ seq }) => seq !== null);
  expect(missed.map(({ seq }) => seq)).toEqual(missed.map((_, index) => seen.length + index));
  expect(missed.map(({ type }) => type)).toEqual([
    'message',
    'tool:call',
    'tool:call',
    'tool:decided',
    'tool:decided',
    'tool:output',
    'tool:output',
    'message',
    'completion',
  ]);
  await second.close();
});

test('forty messages from eight connections are answered once each', async () => {
  const made = await server.request('/api/sessions', { method: 'POST', body: '{}' });
  const { id: sessionId } = (await made.json()) as { id: string };
  const clients = await Promise.all(Array.from({ length: 8 }, () => connect(server, { sessionId })));
  for (const [place, client] of clients.entries())
    for (let number = 0; number < 5; number += 1)
      client.send('message', { text: 'hello', messageId: `m-${place}-${number}` });
  const watcher = clients[0] as Client;
  await watcher.untilType('completion', 39);
  const asked = watcher.frames.filter(({ type, data }) => type === 'message' && data.role === 'user');
  expect(new Set(asked.map(({ data }) => data.messageId)).size).toBe(40);
  const numbers = inOrder(watcher.frames).map(({ seq }) => seq);
  expect(numbers).toEqual(numbers.map((_, index) => index));
  expect(numbers).toHaveLength(120);
  expect(clients.flatMap(({ frames }) => frames.filter(({ type }) => type === 'error'))).toEqual([]);
  for (const client of clients) client.terminate();
});

test('a stopped session completes its waiting messages, stops its sandbox and accepts no more', async () => {
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
