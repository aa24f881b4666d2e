/**
 * Levels of thinking, black-box: chosen by session, message, project and agent; thoughts are streamed, logged and no part
 * of the conversation.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect } from './socket-client.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

type Fields = Record<string, unknown>;
type Shown = { readonly id: string; readonly thinking?: string };
const send = <T = Shown>(method: string, path: string, body: Fields): Promise<T> =>
  cloud.ask<T>(path, { method, body: JSON.stringify(body) });
const create = (body: Fields) => send('POST', '/api/sessions', { provider: 'demo', ...body });

/** Types of the log and the thoughts in it, after one message. */
const say = async (sessionId: string, message: Fields) => {
  const client = await connect(cloud, { sessionId });
  await client.untilType('system:ready');
  client.send('message', message);
  await client.untilType('completion');
  await client.close();
  const of = (type: string) => client.frames.filter((frame) => frame.type === type);
  return { of, thoughts: of('reasoning').map(({ data }) => String(data.text)) };
};

test('a session thinks as it was told, streams its thoughts and keeps them in the log', async () => {
  const { id, thinking } = await create({ thinking: 'high' });
  expect(thinking).toBe('high');
  const { of, thoughts } = await say(id, { text: 'hello' });
  expect(thoughts).toEqual([expect.stringContaining('asks for no call')]);
  const [thought, answer] = [of('reasoning')[0], of('message').at(-1)];
  expect(thought?.data.messageId).toBe(answer?.data.messageId);
  expect(Number(thought?.seq)).toBeLessThan(Number(answer?.seq));
  const pieces = of('reasoning_delta');
  expect(pieces.map(({ data }) => data.text).join('')).toBe(thoughts[0]);
  expect(pieces[0]).toMatchObject({ seq: null, data: { messageId: thought?.data.messageId, offset: 0 } });
  const { events } = await cloud.ask<{ events: { type: string }[] }>(`/api/sessions/${id}/events`);
  expect(events.map(({ type }) => type)).toEqual(['message', 'reasoning', 'message', 'completion']);
  const { messages } = await cloud.ask<{ messages: object[] }>(`/api/sessions/${id}/messages`);
  expect(JSON.stringify(messages)).not.toContain('asks for no call');
});

test('a message has its own level, and a change of the session holds from then on', async () => {
  const { id } = await create({});
  expect((await say(id, { text: 'hello' })).thoughts).toEqual([]);
  expect((await say(id, { text: 'hello', thinking: 'low' })).thoughts).toHaveLength(1);
  expect(await send('PATCH', `/api/sessions/${id}`, { thinking: 'medium' })).toMatchObject({
    thinking: 'medium',
  });
  expect((await say(id, { text: 'hello' })).thoughts).toHaveLength(1);
  expect((await say(id, { text: 'think twice', thinking: 'off' })).thoughts).toEqual([]);
  expect(await send('PATCH', `/api/sessions/${id}`, { thinking: null })).not.toHaveProperty('thinking');
  expect((await say(id, { text: 'hello' })).thoughts).toEqual([]);
  const posted = await cloud.request(`/api/sessions/${id}/messages`, {
    method: 'POST',
    body: JSON.stringify({ text: 'hello', thinking: 'low' }),
  });
  expect(posted.status).toBe(202);
});

test('a project and its agents have a level, and a session may choose another', async () => {
  const agents = [{ name: 'thinker', thinking: 'high' }];
  const project = await send<{ id: string }>('POST', '/api/projects', { name: 'p', thinking: 'low', agents });
  expect(project).toMatchObject({ thinking: 'low', agents });
  const made = (body: Fields) => create({ project: project.id, ...body });
  expect(await made({})).toMatchObject({ thinking: 'low' });
  expect(await made({ agent: 'thinker' })).toMatchObject({ thinking: 'high' });
  expect(await made({ agent: 'thinker', thinking: 'off' })).toMatchObject({ thinking: 'off' });
});

test('a level that does not exist is refused by name', async () => {
  const { id } = await create({});
  for (const [method, path] of [
    ['POST', '/api/sessions'],
    ['PATCH', `/api/sessions/${id}`],
    ['POST', `/api/sessions/${id}/messages`],
  ] as const) {
    const text = path.endsWith('messages') ? { text: 'hello' } : {};
    const refused = await cloud.request(path, {
      method,
      body: JSON.stringify({ ...text, thinking: 'extreme' }),
    });
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { code: 'invalid_request', message: expect.stringContaining('thinking') } },
    ]);
  }
});
