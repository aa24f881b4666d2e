/** A message that is sent again under its id, by a program that died after the first time: its events, or that they are gone. */
import { expect, test } from 'vitest';
import { AgentSession } from '#sdk/agent-session.ts';
import { Sallyport } from '#sdk/sallyport.ts';
import { serveTurn, startWireServer, type WireServer } from './wire-server.ts';

const clientOf = ({ url }: WireServer, options: object = {}) =>
  new Sallyport({ url, token: 't', ...options });

test.each([
  ['over a WebSocket', {}],
  ['without one', { WebSocket: null }],
])('a message that is sent again under its id gives the events of its first time, %s', async (_, options) => {
  await using server = await startWireServer();
  serveTurn(server, 3);
  const session = new AgentSession(clientOf(server, options), 's');
  const send = async (messageId: string): Promise<unknown[]> => {
    const seen: unknown[] = [];
    for await (const { seq, type } of session.send('hello', { messageId })) seen.push([seq, type]);
    return seen;
  };
  const first = await send('one');
  await send('two');
  expect(first.at(0)).toEqual([0, 'message']);
  expect(await send('one')).toEqual(first);
  expect(server.asked.filter(({ route }) => route === 'POST /messages')).toHaveLength(2);
});

test('a message that is sent again after its events were dropped is told so', async () => {
  await using server = await startWireServer();
  const kept = { index: 7, type: 'system', data: {}, at: '', sessionId: 's' };
  server.on('GET /events', ({ route }, response) =>
    server.send(response, 200, { lastIndex: 7, events: route.includes('since_index=-1') ? [kept] : [] }),
  );
  server.on('GET /messages', (_, response) =>
    server.send(response, 200, { messages: [{ role: 'user', messageId: 'one', text: 'hello' }] }),
  );
  const events = new AgentSession(clientOf(server), 's').send('hello', { messageId: 'one' });
  await expect(events.next()).rejects.toMatchObject({ code: 'events_purged', status: 410 });
});
