/** The edge of the platform, black-box: unknown fields, ids in capitals, ids of no session, and rates. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from './embedded-cloud.ts';
import { type Server, startServer } from './server.ts';
import { connect } from './socket-client.ts';

const rate = { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '5' };

let server: Server;
let throttled: Server;
beforeAll(async () => {
  [server, throttled] = await Promise.all([startServer(), startServer({ variables: rate })]);
});
afterAll(() => Promise.all([server.stop(), throttled.stop()]));

type Made = { readonly id: string; readonly token: string };

const post = async (path: string, body: unknown): Promise<Made> => {
  const response = await server.request(path, { method: 'POST', body: JSON.stringify(body) });
  expect(response.status).toBe(201);
  return (await response.json()) as Made;
};

test('a body with an unknown field is refused, and the field named', async () => {
  const body = JSON.stringify({ approvals: 'ask', flavour: 'small' });
  const response = await server.request('/api/sessions', { method: 'POST', body });
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect([response.status, error.code]).toEqual([400, 'invalid_request']);
  expect(error.message).toContain('flavour');
});

test('an id in capitals is the same session, over REST and WebSocket', async () => {
  const { id } = await post('/api/sessions', {});
  const shown = await server.request(`/api/sessions/${id.toUpperCase()}`);
  expect([shown.status, ((await shown.json()) as Made).id]).toEqual([200, id]);
  const client = await connect(server, { sessionId: id.toUpperCase() });
  expect((await client.untilType('system:ready')).sessionId).toBe(id);
  client.send('message', { text: 'hello' });
  expect((await client.untilType('completion')).sessionId).toBe(id);
  await client.close();
});

test('an unknown id opens no connection and creates no session, like that of another owner', async () => {
  const [own, other] = [
    await post('/api/projects', { name: 'own' }),
    await post('/api/projects', { name: 'other' }),
  ];
  const { id: foreign } = await post('/api/sessions', { project: other.id });
  const { token } = await post('/api/tokens', { name: 'a test', scope: `project:${own.id}` });
  const nobodys = crypto.randomUUID();
  for (const sessionId of [foreign, nobodys])
    await expect(connect({ url: server.url, token }, { sessionId })).rejects.toThrow('404');
  await expect(connect(server, { sessionId: nobodys })).rejects.toThrow('404');
  expect((await server.request(`/api/sessions/${nobodys}`)).status).toBe(404);
});

test('a client that lost its connection resumes the session that it created', async () => {
  const first = await connect(server);
  const { sessionId } = await first.untilType('system:ready');
  await first.close();
  const second = await connect(server, { sessionId });
  expect((await second.untilType('system:ready')).sessionId).toBe(sessionId);
  await second.close();
});

test('of a thousand concurrent frames as many pass as a connection may send, and it stays open', async () => {
  const client = await connect(server);
  await client.untilType('system:ready');
  for (let frame = 0; frame < 1000; frame += 1) client.send('ping');
  const refused = await client.untilType('error');
  expect(refused.data.error.code).toBe('rate_limited');
  const pongs = () => client.frames.filter(({ type }) => type === 'pong').length;
  const passed = await eventually(
    async () => pongs(),
    (count) => count >= 200,
    30_000,
  );
  expect(passed).toBeLessThan(400);
  await eventually(
    async () => {
      client.send('ping');
      return pongs();
    },
    (count) => count > passed,
    30_000,
  );
  await client.close();
});

test('previews count in the rate limit of their token', async () => {
  const path = `/api/sessions/${crypto.randomUUID()}/ports/8000/`;
  const burst = () => Promise.all(Array.from({ length: 60 }, () => throttled.request(path)));
  // Functions that start cold answer over so long a time that none of the first is refused.
  const answers = await eventually(burst, (all) => all.some(({ status }) => status === 429));
  const refused = answers.filter(({ status }) => status === 429);
  const { headers } = refused[0] as Response;
  expect(headers.get('retry-after')).toBe('1');
  expect(headers.get('access-control-allow-origin')).toBe('null');
  expect(await refused[0]?.json()).toMatchObject({ error: { code: 'rate_limited' } });
});
