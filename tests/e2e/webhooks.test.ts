/** Webhooks on the real program: what a receiver gets, when it was down, and when the platform itself was killed. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFailed, test } from 'vitest';
import { eventually } from './embedded-cloud.ts';
import { makeHomePath, type Server, startServer } from './server.ts';
import { openReceiver, type Receiver, verified } from './webhook-receiver.ts';

type Fields = Readonly<Record<string, unknown>>;

const allEvents = ['approval_required', 'turn_completed', 'turn_failed', 'sandbox_failed', 'schedule_failed'];
/** A minute of retries on a busy machine. */
const arrivalMsMax = 60_000;

let receiver: Receiver;
let variables: Record<string, string>;
const servers: Server[] = [];
const started = async (home?: string, change: Readonly<Record<string, string>> = {}): Promise<Server> => {
  const server = await startServer({ ...(home && { home }), variables: { ...variables, ...change } });
  servers.push(server);
  return server;
};

beforeAll(async () => {
  receiver = await openReceiver();
  variables = {
    WEBHOOK_ALLOWED_PRIVATE_HOSTS: receiver.host,
    WEBHOOK_RETRY_SECONDS: '1',
    SALLYPORT_SWEEP_SECONDS: '2',
    LLM_PROVIDER: 'demo',
    OPENAI_API_KEY: 'a key of nobody',
    OPENAI_BASE_URL: 'http://127.0.0.1:9',
  };
});
beforeEach(() => {
  receiver.answer = { status: 200 };
});
afterAll(async () => {
  for (const server of servers) await server.stop();
  await receiver.down();
});

const call = async (server: Server, path: string, init: { method?: string; body?: Fields } = {}) => {
  const { method = init.body === undefined ? 'GET' : 'POST', body } = init;
  const request = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await server.request(`/api${path}`, request);
  const text = await response.text();
  return {
    status: response.status,
    body: (text === '' ? {} : JSON.parse(text)) as Record<string, never> & Fields,
  };
};
const made = async (server: Server, path: string, body: Fields) => {
  const { status, body: answer } = await call(server, path, { body });
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`);
  return answer;
};
const newWebhook = async (server: Server, options: Fields = {}) => {
  // A path of its own, so that no test hears of another's webhook.
  const path = `/hooks/${crypto.randomUUID()}`;
  const url = `http://${receiver.host}${path}`;
  const answer = await made(server, '/webhooks', { url, events: allEvents, ...options });
  removeIfFailed(server, String(answer['id']));
  return { id: String(answer['id']), secret: String(answer['secret']), path, answer };
};
const newSession = async (server: Server, options: Fields = {}): Promise<string> =>
  String((await made(server, '/sessions', { flavor: 'micro', approvals: 'ask', ...options }))['id']);
const say = (server: Server, id: string, text: string) =>
  made(server, `/sessions/${id}/messages`, { text, messageId: crypto.randomUUID() });
type Heard = { readonly path: string; readonly secret: string };
const toldOf = (webhook: Heard, sessionId: string) =>
  verified(receiver, webhook).filter(({ data }) => data['sessionId'] === sessionId);
const arrival = (webhook: Heard, sessionId: string, type: string) =>
  eventually(
    async () => toldOf(webhook, sessionId).find((told) => told.type === type),
    (told) => told !== undefined,
    arrivalMsMax,
  );
const deliveriesOf = async (server: Server, id: string) =>
  (await call(server, `/webhooks/${id}/deliveries`)).body['deliveries'] as unknown as readonly {
    readonly type: string;
    readonly state: string;
    readonly attempts: number;
  }[];
/** No test hears of another's webhook. */
const removed = async (server: Server, id: string): Promise<void> => {
  expect((await call(server, `/webhooks/${id}`, { method: 'DELETE' })).status).toBe(200);
};

/** The deployment has room for few. */
const removeIfFailed = (server: Server, id: string): void =>
  onTestFailed(async () => {
    // A server that was killed has none.
    await call(server, `/webhooks/${id}`, { method: 'DELETE' }).catch(() => undefined);
  });

describe('a receiver', () => {
  let server: Server;
  beforeAll(async () => {
    server = await started();
  });

  test('that is down at first gets every delivery, verified by the public library (WH2, WH3)', async () => {
    const webhook = await newWebhook(server);
    const { id } = webhook;
    await receiver.down();
    const session = await newSession(server);
    const argument = 'a-secret-argument';
    await say(server, session, `$ echo ${argument}`);
    const failing = await newSession(server, { provider: 'openai', model: 'gpt-6' });
    await say(server, failing, 'hello');
    await eventually(
      async () => await deliveriesOf(server, id),
      (rows) => rows.length === 2 && rows.every(({ attempts }) => attempts >= 2),
      arrivalMsMax,
    );
    receiver.answer = { status: 500 };
    await receiver.up();
    await eventually(
      async () => receiver.delivered.length,
      (count) => count >= 2,
      arrivalMsMax,
    );
    receiver.answer = { status: 200 };
    const asked = await arrival(webhook, session, 'approval_required');
    const { turnId, callId } = asked?.data ?? {};
    expect(asked?.data).toEqual({
      sessionId: session,
      title: `$ echo ${argument}`,
      project: '00000000-0000-4000-8000-000000000000',
      turnId,
      callId,
      name: 'execute_command',
      url: `${server.url}/#/chat/${session}`,
    });
    const failed = await arrival(webhook, failing, 'turn_failed');
    expect(failed?.data).toMatchObject({ code: expect.stringMatching(/^provider_/), title: 'hello' });
    await made(server, `/sessions/${session}/approvals/${callId}`, { approved: true });
    const completed = await arrival(webhook, session, 'turn_completed');
    expect(completed?.data).toMatchObject({ turnId, code: 'end_turn' });
    for (const { body, headers } of receiver.delivered) {
      expect(Object.keys(JSON.parse(body)).sort()).toEqual(['data', 'timestamp', 'type']);
      expect(body).not.toContain(server.token);
      expect(JSON.stringify(headers)).not.toContain(server.token);
      expect(JSON.parse(body).data).not.toHaveProperty('args');
    }
    const rows = await eventually(
      async () => await deliveriesOf(server, id),
      (all) => all.length === 3 && all.every(({ state }) => state === 'delivered'),
    );
    expect(rows.map(({ type }) => type).sort()).toEqual([
      'approval_required',
      'turn_completed',
      'turn_failed',
    ]);
    await removed(server, id);
  });

  test('is tested now, whatever it answers', async () => {
    const webhook = await newWebhook(server, { events: ['turn_failed'] });
    const { id, secret, answer } = webhook;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(JSON.stringify((await call(server, `/webhooks/${id}`)).body)).not.toContain(secret);
    expect(JSON.stringify((await call(server, '/webhooks')).body)).not.toContain(secret);
    expect(answer).not.toHaveProperty('project');
    const tried = await call(server, `/webhooks/${id}/test`, { method: 'POST' });
    expect(tried.body).toMatchObject({ ok: true, status: 200 });
    expect(verified(receiver, webhook)).toMatchObject([{ type: 'test', data: { url: `${server.url}/#/` } }]);
    receiver.answer = { status: 503 };
    expect((await call(server, `/webhooks/${id}/test`, { method: 'POST' })).body).toMatchObject({
      ok: false,
      status: 503,
      error: 'it answered with HTTP 503',
    });
    receiver.answer = { status: 200 };
    await removed(server, id);
  });

  test('that redirects is not followed (WH5)', async () => {
    const { id } = await newWebhook(server);
    receiver.answer = { status: 302, location: `http://${receiver.host}/elsewhere` };
    const before = receiver.delivered.length;
    const tried = await call(server, `/webhooks/${id}/test`, { method: 'POST' });
    expect(tried.body).toMatchObject({ ok: false, status: 302 });
    expect(receiver.delivered.length).toBe(before + 1);
    receiver.answer = { status: 200 };
    await removed(server, id);
  });

  test('that answers 410 is disabled, with the reason (WH4)', async () => {
    const { id } = await newWebhook(server);
    receiver.answer = { status: 410 };
    const session = await newSession(server);
    await say(server, session, 'hello');
    const shown = await eventually(
      async () => (await call(server, `/webhooks/${id}`)).body,
      ({ enabled }) => !enabled,
      arrivalMsMax,
    );
    expect(shown).toMatchObject({ disabledReason: 'it answered with HTTP 410: it no longer exists' });
    expect(shown['disabledAt']).toBeDefined();
    receiver.answer = { status: 200 };
    const enabled = await call(server, `/webhooks/${id}`, { method: 'PATCH', body: { enabled: true } });
    expect(enabled.body).toMatchObject({ enabled: true });
    expect(enabled.body).not.toHaveProperty('disabledReason');
    await eventually(
      async () => await deliveriesOf(server, id),
      (rows) => rows.length > 0 && rows.every(({ state }) => state === 'delivered'),
      arrivalMsMax,
    );
    await removed(server, id);
  });

  test('at a private address is refused unless the operator allows it', async () => {
    for (const url of ['http://127.0.0.1:1/', 'http://169.254.169.254/', 'http://localhost/']) {
      const { status, body } = await call(server, '/webhooks', { body: { url, events: allEvents } });
      expect([status, JSON.stringify(body)]).toEqual([
        400,
        expect.stringContaining('WEBHOOK_ALLOWED_PRIVATE_HOSTS'),
      ]);
    }
  });

  test('gets events of its own project alone, and no other project’s token sees it', async () => {
    const project = async (name: string) => String((await made(server, '/projects', { name }))['id']);
    const [mine, other] = [await project('mine'), await project('other')];
    const tokenOf = async (of: string) =>
      String((await made(server, '/tokens', { name: 't', scope: `project:${of}` }))['token']);
    const as = (token: string, path: string, init: RequestInit = {}) =>
      fetch(`${server.url}/api${path}`, { ...init, headers: { authorization: `Bearer ${token}` } });
    const [own, strange] = [await tokenOf(mine), await tokenOf(other)];
    const hookPath = `/hooks/${crypto.randomUUID()}`;
    const options = JSON.stringify({ url: `http://${receiver.host}${hookPath}`, events: ['turn_completed'] });
    const webhook = (await (await as(own, '/webhooks', { method: 'POST', body: options })).json()) as Record<
      string,
      string
    >;
    removeIfFailed(server, webhook['id'] ?? '');
    expect(webhook['project']).toBe(mine);
    const path = `/webhooks/${webhook['id']}`;
    for (const [method, at] of [
      ['GET', path],
      ['DELETE', path],
      ['POST', `${path}/test`],
      ['GET', `${path}/deliveries`],
    ] as const)
      expect((await as(strange, at, { method })).status).toBe(404);
    const inMine = await newSession(server, { project: mine });
    const inOther = await newSession(server, { project: other });
    await say(server, inOther, 'hello');
    await say(server, inMine, 'hello');
    await arrival({ path: hookPath, secret: webhook['secret'] ?? '' }, inMine, 'turn_completed');
    const rows = await deliveriesOf(server, webhook['id'] ?? '');
    expect(rows).toHaveLength(1);
    await removed(server, webhook['id'] ?? '');
  });

  test('is one of at most ten of the deployment', async () => {
    const make = () => call(server, '/webhooks', { body: { url: receiver.url, events: allEvents } });
    const answers = await Promise.all(Array.from({ length: 12 }, make));
    for (const { status, body } of answers) if (status === 201) removeIfFailed(server, String(body['id']));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
    for (const { status, body } of answers) if (status === 201) await removed(server, String(body['id']));
  });
});

test('events committed when the platform was killed are delivered after its start (WH2)', async () => {
  const home = await makeHomePath();
  const first = await started(home);
  const webhook = await newWebhook(first);
  await receiver.down();
  const session = await newSession(first);
  await say(first, session, '$ echo hello');
  await eventually(
    async () => await call(first, `/sessions/${session}/events`),
    ({ body }) => JSON.stringify(body).includes('tool:approval_required'),
    arrivalMsMax,
  );
  await first.kill();
  await receiver.up();
  const second = await started(home);
  expect(await arrival(webhook, session, 'approval_required')).toBeDefined();
  expect((await call(second, `/webhooks/${webhook.id}`)).body).toMatchObject({ enabled: true });
});
