/** A conversation that keeps cancelled text, repeats failed turns and shows attached files, over the wire of Anthropic. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeSession } from './agent.ts';
import { type AnthropicServer, openAnthropicServer } from './anthropic-server.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect } from './socket-client.ts';

let cloud: EmbeddedCloud;
let model: AnthropicServer;
beforeAll(async () => {
  model = await openAnthropicServer();
  const variables = { ANTHROPIC_API_KEY: 'a-key', ANTHROPIC_BASE_URL: model.url, LLM_PROVIDER: 'anthropic' };
  cloud = await openEmbeddedCloud({ variables });
});
afterAll(async () => {
  await cloud.stop();
  model.close();
});
beforeEach(() => {
  model.script.length = 0;
  model.asked.length = 0;
});

type Asked = { readonly messages: readonly { readonly role: string; readonly content: readonly object[] }[] };
const lastAsked = () => (model.asked as readonly Asked[]).at(-1)?.messages ?? [];

type Event = { readonly type: string; readonly data: Record<string, unknown> };
const eventsOf = async (id: string): Promise<readonly Event[]> =>
  (await cloud.ask<{ events: readonly Event[] }>(`/api/sessions/${id}/events`)).events;
const untilCompletions = (id: string, count: number) =>
  eventually(
    () => eventsOf(id),
    (events) => events.filter(({ type }) => type === 'completion').length === count,
  );
const post = (path: string, body?: object) =>
  cloud.request(path, { method: 'POST', ...(body === undefined ? {} : { body: JSON.stringify(body) }) });

test('the text of a cancelled answer stays, and the model reads it before the next message', async () => {
  const { id } = await makeSession(cloud, {});
  const client = await connect(cloud, { sessionId: id });
  await client.untilType('system:ready');
  model.script.push({ text: 'The first half', stalls: true });
  client.send('message', { text: 'tell me' });
  await client.untilType('delta');
  client.send('turn:cancel');
  expect((await client.untilType('completion')).data).toMatchObject({ stopReason: 'cancelled', text: '' });
  const cut = { role: 'assistant', text: 'The first half', partial: true };
  expect((await eventsOf(id)).slice(-2)).toMatchObject([
    { type: 'message', data: cut },
    { type: 'completion', data: { stopReason: 'cancelled' } },
  ]);
  client.send('message', { text: 'go on' });
  await client.untilType('completion', 1);
  expect(lastAsked()).toMatchObject([
    { role: 'user', content: [{ text: 'tell me' }] },
    { role: 'assistant', content: [{ text: 'The first half' }] },
    { role: 'user', content: [{ text: 'go on' }] },
  ]);
  await client.close();
});

test('a client that connects in the middle of an answer gets its text from the beginning', async () => {
  const { id } = await makeSession(cloud, {});
  const client = await connect(cloud, { sessionId: id });
  await client.untilType('system:ready');
  model.script.push({ text: 'The first half', stalls: true });
  client.send('message', { text: 'tell me' });
  await client.untilType('delta');
  const late = await connect(cloud, { sessionId: id, since: '-1' });
  expect((await late.untilType('delta')).data).toMatchObject({ offset: 0, text: 'The first half' });
  client.send('turn:cancel');
  await late.untilType('completion');
  expect(late.frames.filter(({ type }) => type === 'delta')).toHaveLength(1);
  await Promise.all([client.close(), late.close()]);
});

test('a failed turn is repeated once, and its message is said once', async () => {
  const { id } = await makeSession(cloud, {});
  const retry = () => post(`/api/sessions/${id}/retry`);
  const early = await retry();
  expect([early.status, await early.json()]).toMatchObject([
    409,
    { error: { code: 'invalid_session_state' } },
  ]);
  model.script.push({ text: 'The first half' });
  await post(`/api/sessions/${id}/messages`, { text: 'tell me', messageId: 'm1' });
  await untilCompletions(id, 1);
  const [one, other] = await Promise.all([retry(), retry()]);
  expect([202, 409]).toContain(other.status);
  expect(await one.json()).toMatchObject(one.status === 202 ? { messageId: 'm1' } : {});
  const events = await untilCompletions(id, 2);
  expect(events.filter(({ data }) => data['role'] === 'user')).toHaveLength(1);
  expect(events.at(-1)?.data).toMatchObject({ stopReason: 'end_turn', text: 'done' });
  expect(events.filter(({ data }) => data['kind'] === 'turn_retried')).toHaveLength(1);
  expect(model.asked).toHaveLength(2);
  expect(lastAsked()).toMatchObject([{ role: 'user', content: [{ text: 'tell me' }] }]);
  expect((await retry()).status).toBe(409);
});

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('attached images reach the model, over REST and WebSocket, and a deleted one is said', async () => {
  const { id } = await makeSession(cloud, {});
  const files = `/api/sessions/${id}/files`;
  await cloud.request(`${files}/dot.bin`, { method: 'PUT', body: Buffer.from(png, 'base64') });
  await cloud.request(`${files}/data.csv`, { method: 'PUT', body: 'a,b' });
  const attachments = [{ path: 'dot.bin' }, { path: 'data.csv' }];
  const sent = await post(`/api/sessions/${id}/messages`, { text: 'look', attachments });
  expect(sent.status).toBe(202);
  const question = (await untilCompletions(id, 1)).find(({ type }) => type === 'message');
  const kept = [{ path: 'dot.bin', mimeType: 'image/png' }, { path: 'data.csv' }];
  expect(question).toMatchObject({ type: 'message', data: { text: 'look', attachments: kept } });
  const { messages } = await cloud.ask<{ messages: readonly object[] }>(`/api/sessions/${id}/messages`);
  expect(messages[0]).toEqual({
    role: 'user',
    messageId: expect.any(String),
    text: 'look',
    attachments: kept,
  });
  expect(lastAsked()[0]?.content).toMatchObject([
    {
      type: 'text',
      text: 'look\n\n[Attached image "dot.bin"]\n[Attached file of the workspace: "data.csv"]',
    },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
  ]);

  await cloud.request(`${files}/dot.bin`, { method: 'DELETE' });
  const client = await connect(cloud, { sessionId: id });
  await client.untilType('system:ready');
  client.send('message', { text: 'and now?', attachments: [{ path: 'data.csv' }] });
  await client.untilType('completion');
  expect(JSON.stringify(lastAsked())).toContain('not shown: it is no longer in the workspace');
  expect(JSON.stringify(lastAsked())).not.toContain('"image"');
  client.send('message', { text: 'x', attachments: [{ path: 'dot.bin' }] });
  expect((await client.untilType('error')).data.error).toMatchObject({ code: 'invalid_request' });
  await client.close();
});

test.each([
  [{ path: 'gone.png' }, 'invalid_request', 'gone.png'],
  [{ path: '../../etc/passwd' }, 'path_outside_workspace', ''],
  [{ name: 'x' }, 'invalid_request', 'attachments'],
])('an attachment %j is refused as %s', async (attachment, code, named) => {
  const { id } = await makeSession(cloud, {});
  const refused = await post(`/api/sessions/${id}/messages`, { text: 'look', attachments: [attachment] });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ error: { code, message: expect.stringContaining(named) } });
});
