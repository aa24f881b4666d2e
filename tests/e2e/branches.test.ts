/** Branches of a conversation through the real parts: what was said up to a message, and the files of that time. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { api } from '#sdk/routes.ts';
import { Sallyport } from '#sdk/sallyport.ts';
import { makeSession, type Shown } from './agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';

let cloud: EmbeddedCloud;
let client: Sallyport;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
  client = new Sallyport(cloud);
});
afterAll(() => cloud.stop());

const agent = (options: object = {}): Promise<Shown> =>
  makeSession(cloud, { approvals: 'auto', flavor: 'micro', ...options });

const say = async (id: string, text: string): Promise<void> => {
  const session = await client.sessions.get(id);
  for await (const frame of session.send(text))
    if (frame.type === 'completion') expect(frame.data.stopReason).toBe('end_turn');
};

const messages = async (id: string) => (await client.request(api.readMessages, { params: { id } })).messages;
const questions = async (id: string): Promise<readonly string[]> =>
  (await messages(id)).flatMap((message) => (message.role === 'user' ? [message.text] : []));
const messageOf = async (id: string, text: string): Promise<string> => {
  const found = (await messages(id)).find((message) => message.role === 'user' && message.text === text);
  return found?.role === 'user' ? found.messageId : '';
};
const lastAnswer = async (id: string): Promise<string> => {
  const last = (await messages(id)).at(-1);
  return last?.role === 'assistant' ? last.messageId : '';
};

const write = async (id: string, path: string, body: string): Promise<void> => {
  const response = await cloud.request(`/api/sessions/${id}/files/${path}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body,
  });
  expect([200, 201]).toContain(response.status);
};
const read = async (id: string, path: string): Promise<string | number> => {
  const response = await cloud.request(`/api/sessions/${id}/files/${path}`);
  const text = await response.text();
  return response.ok ? text : response.status;
};

const branch = (session: string, messageId: string, more: object = {}): Promise<Shown> =>
  makeSession(cloud, { from: { session, messageId }, ...more });

const first = '$ printf one > a.txt';
const second = '$ printf two > a.txt';

const conversation = async (options: object = {}): Promise<Shown> => {
  const session = await agent(options);
  await say(session.id, first);
  await write(session.id, 'attached.txt', 'given before the second message');
  await say(session.id, second);
  return session;
};

test('a branch from a message of the user has what came before it, and the files of that time', async () => {
  const { id } = await conversation({
    env: { STAGE: 'test' },
    labels: { team: 'red' },
    instructions: 'Be brief.',
  });
  const made = await branch(id, await messageOf(id, second));
  expect(made).toMatchObject({
    approvals: 'auto',
    flavor: 'micro',
    labels: { team: 'red' },
    envNames: ['STAGE'],
  });
  expect(made.title).toBe(first);
  expect(await questions(made.id)).toEqual([first]);
  expect(await read(made.id, 'a.txt')).toBe('one');
  expect(await read(made.id, 'attached.txt')).toBe('given before the second message');
  await say(made.id, '$ printf "three $STAGE" >> a.txt');
  expect(await read(made.id, 'a.txt')).toBe('onethree test');
  expect(await read(id, 'a.txt')).toBe('two');
  expect(await questions(id)).toEqual([first, second]);
  const { events } = await client.request(api.readEvents, { params: { id: made.id } });
  expect(events.map(({ index }) => index)).toEqual(events.map((_, index) => index));
  expect(events.filter(({ data }) => data['kind'] === 'session_branched')).toHaveLength(1);
});

test('a branch from the last answer has everything, and one from the first message nothing', async () => {
  const { id } = await conversation();
  const whole = await branch(id, await lastAnswer(id));
  expect([await questions(whole.id), await read(whole.id, 'a.txt')]).toEqual([[first, second], 'two']);
  const none = await branch(id, await messageOf(id, first));
  expect([await questions(none.id), await read(none.id, 'a.txt')]).toEqual([[], 404]);
  const now = await makeSession(cloud, {
    from: { session: id, messageId: await messageOf(id, first), files: 'now' },
  });
  expect([await questions(now.id), await read(now.id, 'a.txt')]).toEqual([[], 'two']);
});

test('a branch outlives its source, and can be branched itself', async () => {
  const { id } = await conversation();
  const made = await branch(id, await messageOf(id, second));
  await client.request(api.endSession, { params: { id } });
  await say(made.id, '$ cat a.txt');
  const again = await branch(made.id, await messageOf(made.id, '$ cat a.txt'));
  expect([await questions(again.id), await read(again.id, 'a.txt')]).toEqual([[first], 'one']);
});

test('options of the request come before those of the source', async () => {
  const { id } = await conversation();
  const made = await branch(id, await lastAnswer(id), { approvals: 'ask', labels: {} });
  expect(made.approvals).toBe('ask');
});

test('a message inside a turn, an unknown one and an execution session are refused', async () => {
  const { id } = await conversation();
  const inside = (await messages(id)).find((message) => message.role === 'assistant');
  const refusal = async (body: object): Promise<unknown> => {
    const response = await cloud.request('/api/sessions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { error } = (await response.json()) as { error: { code: string } };
    return [response.status, error.code];
  };
  const invalid = [400, 'invalid_request'];
  const messageId = inside?.role === 'assistant' ? inside.messageId : '';
  expect(await refusal({ from: { session: id, messageId } })).toEqual(invalid);
  expect(await refusal({ from: { session: id, messageId: 'unknown' } })).toEqual(invalid);
  expect(await refusal({ from: { messageId } })).toEqual(invalid);
  expect(await refusal({ from: { session: id, files: 'now' } })).toEqual(invalid);
  expect(await refusal({ kind: 'execution', from: { session: id, messageId } })).toEqual(invalid);
  const execution = await makeSession(cloud, { kind: 'execution', flavor: 'micro' });
  expect(await refusal({ from: { session: execution.id, messageId } })).toEqual(invalid);
  expect(await refusal({ from: { session: crypto.randomUUID(), messageId } })).toEqual([
    404,
    'session_not_found',
  ]);
});

test('the files of a message that is too long ago are refused, unless those of now are wanted', async () => {
  const { id } = await agent();
  for (let index = 0; index < 10; index += 1) await say(id, `$ printf ${index} > a.txt`);
  const of = { session: id, messageId: await messageOf(id, '$ printf 1 > a.txt') };
  await expect(makeSession(cloud, { from: of })).rejects.toMatchObject({ code: 'conflict' });
  const now = await makeSession(cloud, { from: { ...of, files: 'now' } });
  expect(await read(now.id, 'a.txt')).toBe('9');
  const late = await branch(id, await messageOf(id, '$ printf 5 > a.txt'));
  expect(await read(late.id, 'a.txt')).toBe('4');
});
