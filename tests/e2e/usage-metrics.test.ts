/** The conversation: forgotten when it is asked for, bounded where a result is long, and never the log's. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAgent } from './agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { ENABLE_CONVERSATION_COMPRESSION: 'true' } });
});
afterAll(() => cloud.stop());

type Message = { readonly role: string; readonly text: string };
type Logged = { readonly index: number; readonly type: string; readonly data: { readonly kind?: string } };

const messagesOf = async (id: string): Promise<readonly Message[]> =>
  (await cloud.ask<{ messages: readonly Message[] }>(`/api/sessions/${id}/messages`)).messages;
const eventsOf = async (id: string): Promise<readonly Logged[]> =>
  (await cloud.ask<{ events: readonly Logged[] }>(`/api/sessions/${id}/events`)).events;

test('a reset clears the conversation and keeps the log, and a new conversation begins', async () => {
  const agent = await openAgent(cloud);
  await agent.run('$ echo one');
  expect((await messagesOf(agent.id)).map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
  ]);
  const before = await eventsOf(agent.id);
  agent.client.send('history:reset');
  await agent.client.until(({ data }) => data.kind === 'history_reset', 'the reset');
  expect(await messagesOf(agent.id)).toEqual([]);
  const after = await eventsOf(agent.id);
  expect(after.slice(0, before.length)).toEqual(before);
  expect(after.slice(before.length)).toMatchObject([{ type: 'system', data: { kind: 'history_reset' } }]);
  await agent.say('hello');
  expect((await messagesOf(agent.id)).map(({ role, text }) => [role, text.slice(0, 5)])).toEqual([
    ['user', 'hello'],
    ['assistant', 'This '],
  ]);
  await agent.close();
});

test('the title of a session is the first line of its first message', async () => {
  const agent = await openAgent(cloud);
  const title = async () => (await cloud.ask<{ title?: string }>(`/api/sessions/${agent.id}`)).title;
  expect(await title()).toBeUndefined();
  await agent.say('  Why does  the build fail? \nIt ran yesterday.');
  expect(await title()).toBe('Why does the build fail?');
  await agent.say('Never mind');
  expect(await title()).toBe('Why does the build fail?');
  await agent.close();
});

test('a reset while a turn runs is a conflict and changes nothing', async () => {
  const agent = await openAgent(cloud, { approvals: 'ask' });
  agent.client.send('message', { text: '$ echo one' });
  const { data } = await agent.client.untilType('tool:approval_required');
  agent.client.send('history:reset');
  expect((await agent.client.untilType('error')).data.error).toMatchObject({ code: 'conflict' });
  agent.client.send('tool:approval', { callId: data.callId, approved: true });
  expect((await agent.client.untilType('completion')).data.stopReason).toBe('end_turn');
  expect(await messagesOf(agent.id)).toHaveLength(4);
  await agent.close();
});

test.each([
  ['letters', "'x' * 119_990 + 'the end'", 119_998],
  ['control characters', "'\\x01' * 90_000 + 'the end'", 90_008],
])(
  'an output of many %s is cut for the model, stored whole in a file, and bounded in the log',
  async (_what, output, length) => {
    const agent = await openAgent(cloud);
    const frames = await agent.say(`$ python3 -c "print(${output})"`);
    const [, , result] = await messagesOf(agent.id);
    expect(result?.role).toBe('tool');
    expect(result?.text.length).toBeLessThan(50_200);
    const path = /the whole is in \/workspace\/(\S+)\.\]/.exec(result?.text ?? '')?.[1];
    const whole = await (await cloud.request(`/api/sessions/${agent.id}/files/${path}`)).text();
    expect([whole.length, whole.trimEnd().endsWith('the end')]).toEqual([length, true]);
    const frame = frames.find(({ type }) => type === 'tool:output');
    expect(Buffer.byteLength(JSON.stringify(frame))).toBeLessThan(32 * 1024);
    expect(frame?.data.truncated).toBe(true);
    const logged = (await eventsOf(agent.id)).find(({ type }) => type === 'tool:output');
    expect(Buffer.byteLength(JSON.stringify(logged))).toBeLessThan(256 * 1024);
    expect(frames.at(-1)?.data.stopReason).toBe('end_turn');
    await agent.close();
  },
);

test('an edit as long as one answer may be is written, step after step', async () => {
  const agent = await openAgent(cloud, { approvals: 'high' });
  // By REST: the gateway closes a socket that sends so much at once.
  const text = `write long.txt ${'y'.repeat(280_000)}`;
  await cloud.ask(`/api/sessions/${agent.id}/messages`, { method: 'POST', body: JSON.stringify({ text }) });
  expect((await agent.client.untilType('completion')).data.stopReason).toBe('end_turn');
  const file = await cloud.request(`/api/sessions/${agent.id}/files/long.txt`);
  expect((await file.text()).length).toBe(280_000);
  await agent.close();
});
