/** Many at once: one session, one sandbox. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Server, startServer } from './server.ts';
import { type Client, connect } from './socket-client.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test('two hundred simultaneous connections with as many messages as may wait start one sandbox', async () => {
  const made = await server.request('/api/sessions', {
    method: 'POST',
    body: JSON.stringify({ approvals: 'auto' }),
  });
  const { id } = (await made.json()) as { id: string };
  // Turns and readers of a try that failed would be beside those of the next.
  onTestFinished(async () => {
    await server.request(`/api/sessions/${id}`, { method: 'DELETE' });
  });
  const join = async (): Promise<Client> => {
    const client = await connect(server, { sessionId: id });
    onTestFinished(client.terminate);
    return client;
  };
  const clients = await Promise.all(Array.from({ length: 200 }, join));
  for (const [index, client] of clients.slice(0, 100).entries())
    client.send('message', { text: `$ echo ${index}`, messageId: `m${index}` });
  const first = clients[0] as Client;
  await first.untilType('completion', 2);
  const events = await server.request(`/api/sessions/${id}/events`);
  const page = (await events.json()) as { events: { type: string; data: { kind?: string } }[] };
  const started = page.events.filter(
    ({ type, data }) => type === 'system' && data.kind === 'sandbox_started',
  );
  expect(started).toHaveLength(1);
  expect(clients.flatMap(({ frames }) => frames.filter(({ type }) => type === 'error'))).toEqual([]);
});
