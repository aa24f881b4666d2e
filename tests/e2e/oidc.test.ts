/** An OIDC issuer beside our own tokens: its people on every door, what they may not do, and when their sign-in ends. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type LocalIssuer, startIssuer } from '../../shared/adapters/oidc/fixtures/local-issuer.ts';
import { eventually } from './embedded-cloud.ts';
import { challengeOf, type Server, startServer } from './server.ts';
import { connect } from './socket-client.ts';

let issuer: LocalIssuer;
let server: Server;
let project: string;

const variablesOf = (local: LocalIssuer) => ({ OIDC_ISSUER: local.url, OIDC_AUDIENCE: 'sallyport' });

beforeAll(async () => {
  issuer = await startIssuer();
  server = await startServer({ variables: variablesOf(issuer) });
  const made = await server.request('/api/projects', post({ name: 'shared by people' }));
  project = ((await made.json()) as { id: string }).id;
});
afterAll(async () => {
  await server.stop();
  await issuer.stop();
});

const post = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });

type Wish = { readonly scope?: unknown; readonly seconds?: number };
/** A person's token; in the shared project when nothing else is wished. */
const signIn = (sub: string, { scope = `project:${project}`, seconds = 600 }: Wish = {}): Promise<string> =>
  issuer.sign({ claims: { sub, sallyport_scope: scope, exp: Math.floor(Date.now() / 1000) + seconds } });

type Body = {
  id?: string;
  error?: { code: string; message: string };
  ticket?: string;
  sessions?: { id: string }[];
};
const as = async (token: string, path: string, init: RequestInit = {}): Promise<[number, Body]> => {
  const headers = { authorization: `Bearer ${token}`, ...init.headers };
  const response = await fetch(`${server.url}${path}`, { ...init, headers });
  return [response.status, (await response.json()) as Body];
};
const idOf = async (token: string): Promise<string> =>
  (await as(token, '/api/sessions', post({ project })))[1].id ?? '';
const statusOf = async (token: string, path: string, init?: RequestInit): Promise<number> =>
  (await as(token, path, init))[0];

type Tool = { readonly name: string; readonly args?: object; readonly url?: string };
const callTool = (token: string, { name, args = {}, url = server.url }: Tool): Promise<Response> =>
  fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args },
    }),
  });

/** The status of an upgrade that was refused, or `open`. */
const upgrade = (url: string, init: { token?: string; subprotocols?: string[] }): Promise<number | string> =>
  new Promise((resolve) => {
    const headers = init.token === undefined ? {} : { authorization: `Bearer ${init.token}` };
    const socket = new WebSocket(`${url.replace('http', 'ws')}`, init.subprotocols ?? [], { headers });
    socket.once('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
    socket.once('error', () => undefined);
    socket.once('open', () => {
      resolve('open');
      socket.close();
    });
  });

test('a Sallyport token is never checked by the issuer', async () => {
  const local = await startIssuer();
  const own = await startServer({ variables: variablesOf(local) });
  expect((await own.request('/api/sessions')).status).toBe(200);
  expect(
    (await own.request('/api/sessions', { headers: { authorization: `Bearer sp_${'0'.repeat(64)}` } }))
      .status,
  ).toBe(401);
  expect((await callTool(own.token, { name: 'get_sessions', url: own.url })).status).toBe(200);
  const client = await connect(own);
  await client.untilType('system:ready');
  await client.close();
  expect(local.asked).toEqual({ discovery: 0, keys: 0 });
  await own.stop();
  await local.stop();
});

describe('a person', () => {
  test('works over REST, and owns the resources they create', async () => {
    const ada = await signIn('ada');
    const id = await idOf(ada);
    expect(await statusOf(ada, `/api/sessions/${id}`)).toBe(200);
    expect(await statusOf(ada, `/api/sessions/${id}/messages`, post({ text: 'hello' }))).toBe(202);
    const [, { sessions = [] }] = await as(await signIn('ada'), '/api/sessions');
    expect(sessions.map((session) => session.id)).toContain(id);
  });

  test('runs code over MCP in the project of their scope, which no other person sees', async () => {
    const [ada, bob] = [await signIn('ada'), await signIn('bob')];
    const response = await callTool(ada, { name: 'execute_code', args: { code: 'print(40 + 2)' } });
    const text = await response.text();
    const result = /"structuredContent":(\{[^}]*\})/.exec(text)?.[1] ?? text;
    expect(JSON.parse(result)).toMatchObject({ stdout: '42\n', exit_code: 0 });
    const { session_id } = JSON.parse(result) as { session_id: string };
    expect(await (await callTool(ada, { name: 'get_sessions' })).text()).toContain(session_id);
    expect(await (await callTool(bob, { name: 'get_sessions' })).text()).not.toContain(session_id);
    expect(await (await callTool(bob, { name: 'stop_session', args: { session_id } })).text()).toContain(
      'session_not_found',
    );
    expect(await (await callTool(ada, { name: 'stop_session', args: { session_id } })).text()).toContain(
      '"success":true',
    );
  });

  test('talks over a socket, by header and by ticket', async () => {
    const ada = await signIn('ada');
    const client = await connect({ url: server.url, token: ada });
    await client.untilType('system:ready');
    client.send('message', { text: 'hello' });
    await client.untilType('completion');
    await client.close();
    const ticket = async () => (await as(ada, '/api/tickets', { method: 'POST' }))[1].ticket ?? '';
    expect(await upgrade(`${server.url}/ws?ticket=${await ticket()}`, {})).toBe('open');
    const subprotocols = ['sallyport.v1', `ticket.${await ticket()}`];
    expect(await upgrade(`${server.url}/ws`, { subprotocols })).toBe('open');
  });

  test('does not see another person’s resources of the same project, in any API', async () => {
    const [ada, bob] = [await signIn('ada'), await signIn('bob')];
    const id = await idOf(ada);
    const doors: [string, RequestInit?][] = [
      [''],
      ['/events'],
      ['/messages'],
      ['/messages', post({ text: 'hello' })],
      ['/cancel', { method: 'POST' }],
      ['', { method: 'DELETE' }],
    ];
    for (const [path, init] of doors) {
      const missing = await as(bob, `/api/sessions/${crypto.randomUUID()}${path}`, init);
      const [status, { error }] = await as(bob, `/api/sessions/${id}${path}`, init);
      expect([status, error?.code, error?.message]).toEqual([
        404,
        'session_not_found',
        missing[1].error?.message,
      ]);
    }
    expect(await upgrade(`${server.url}/ws?sessionId=${id}`, { token: bob })).toBe(404);
    const [, { sessions = [] }] = await as(bob, '/api/sessions');
    expect(sessions.map((session) => session.id)).not.toContain(id);
    expect(await statusOf(ada, `/api/sessions/${id}`)).toBe(200);
    expect((await server.request(`/api/sessions/${id}`)).status).toBe(200);
  });

  test('has no access to another project, and a read-only person does not write', async () => {
    const stranger = await signIn('ada', { scope: `project:${crypto.randomUUID()}` });
    expect(await statusOf(stranger, '/api/sessions', post({ project }))).toBe(404);
    const ada = await signIn('ada');
    const id = await idOf(ada);
    const reader = await signIn('ada', { scope: `project:${project}:ro` });
    expect(await statusOf(reader, `/api/sessions/${id}`)).toBe(200);
    expect(await statusOf(reader, `/api/sessions/${id}/messages`, post({ text: 'hello' }))).toBe(403);
    expect(await statusOf(reader, '/api/sessions', post({ project }))).toBe(403);
    expect(await statusOf(reader, `/api/sessions/${id}`, { method: 'DELETE' })).toBe(403);
  });

  test('with the scope of an administrator sees the sessions of others', async () => {
    const id = await idOf(await signIn('ada'));
    const root = await signIn('root', { scope: ['staff', 'admin'] });
    expect(await statusOf(root, `/api/sessions/${id}`)).toBe(200);
    expect(await statusOf(await signIn('root', { scope: 'admin:ro' }), `/api/sessions/${id}`)).toBe(200);
  });

  test('without a scope is told the missing claim', async () => {
    const nobody = await issuer.sign();
    const [status, { error }] = await as(nobody, '/api/sessions');
    expect([status, error]).toEqual([
      403,
      {
        code: 'forbidden',
        message: 'the claim sallyport_scope of this sign-in is missing',
        suggestions: [
          'Have the issuer put admin, admin:ro, project:<uuid> or project:<uuid>:ro into the claim sallyport_scope.',
        ],
        recoveryActions: [],
        requestId: expect.any(String),
      },
    ]);
    expect((await callTool(nobody, { name: 'get_sessions' })).status).toBe(403);
    expect(await upgrade(`${server.url}/ws`, { token: nobody })).toBe(403);
  });
});

describe('a sign-in that has ended', () => {
  test('is refused in every API', async () => {
    const late = await signIn('ada', { seconds: -1 });
    for (const path of ['/api/sessions', '/mcp']) {
      const response = await fetch(`${server.url}${path}`, {
        method: path === '/mcp' ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${late}` },
      });
      const challenge =
        path === '/mcp'
          ? `Bearer error="invalid_token", resource_metadata="${server.url}/.well-known/oauth-protected-resource/mcp"`
          : 'Bearer';
      const said = path === '/mcp' ? response.headers.get('www-authenticate') : challengeOf(response);
      expect([response.status, said]).toEqual([401, challenge]);
    }
    expect(await upgrade(`${server.url}/ws`, { token: late })).toBe(401);
  });

  test('fails at the next frame of an open socket, however it was opened', async () => {
    const ada = await signIn('ada', { seconds: 6 });
    const ends = new Promise((resolve) => setTimeout(resolve, 6100));
    const byHeader = () => connect({ url: server.url, token: ada });
    const byTicket = async () => {
      const { ticket = '' } = (await as(ada, '/api/tickets', { method: 'POST' }))[1];
      return connect({ url: server.url, token: '' }, { ticket });
    };
    const clients = await Promise.all([byHeader(), byHeader(), byTicket(), byTicket()]);
    for (const client of clients) {
      await client.untilType('system:ready');
      client.send('ping');
      await client.untilType('pong');
    }
    await ends;
    for (const [place, client] of clients.entries()) {
      if (place % 2 === 0) client.send('ping');
      else client.send('message', { text: 'hello' });
      expect((await client.untilType('error')).data.error.code).toBe('unauthenticated');
      expect(await client.closed).toBeGreaterThan(0);
    }
  });

  test('invalidates its tickets', async () => {
    const ada = await signIn('ada', { seconds: 3 });
    const { ticket = '' } = (await as(ada, '/api/tickets', { method: 'POST' }))[1];
    await new Promise((resolve) => setTimeout(resolve, 3100));
    expect(await upgrade(`${server.url}/ws?ticket=${ticket}`, {})).toBe(401);
  });
});

test('a person has one rate limit, whatever token they use, and an unreachable issuer does not count', async () => {
  const local = await startIssuer();
  const strict = await startServer({
    variables: {
      ...variablesOf(local),
      OIDC_DEFAULT_SCOPE: 'admin:ro',
      RATE_LIMIT_PER_SECOND: '1',
      RATE_LIMIT_BURST: '3',
    },
  });
  const statusesOf = async (sub: string): Promise<readonly number[]> => {
    const tokens = await Promise.all(
      Array.from({ length: 6 }, () => local.sign({ claims: { sub, jti: crypto.randomUUID() } })),
    );
    const asked = tokens.map(async (token) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${strict.url}/api/sessions`, { headers })).status;
    });
    return (await Promise.all(asked)).sort();
  };
  // Each token is used once. Functions that start cold answer over so long a time that fewer of the first are refused.
  const isRefused = (statuses: readonly number[]): boolean => statuses.includes(429);
  expect(await eventually(() => statusesOf('ada'), isRefused)).toContain(200);
  expect((await statusesOf('bob')).slice(0, 3)).toEqual([200, 200, 200]);
  await eventually(() => statusesOf('bob'), isRefused);
  const headers = { authorization: `Bearer ${await local.sign()}` };
  await local.stop();
  // No function of this door has met a JWT yet.
  const response = await fetch(`${strict.url}/mcp`, { method: 'POST', headers, body: '{}' });
  const text = await response.text();
  expect([response.status, JSON.parse(text).error]).toEqual([
    503,
    {
      code: 'issuer_unavailable',
      message: 'the sign-in service did not answer',
      suggestions: ['Try again in a moment.'],
      recoveryActions: ['wait_and_retry'],
      requestId: expect.any(String),
    },
  ]);
  await strict.stop();
});

test('half an issuer, or an invalid one, stops the start with one line', async () => {
  const why = async (variables: Record<string, string>): Promise<string> =>
    startServer({ variables }).then(
      () => 'it started',
      (error: Error) => error.message,
    );
  expect(await why({ OIDC_ISSUER: 'https://id.example.com' })).toBe(
    'it ended: OIDC_AUDIENCE is required with OIDC_ISSUER: set it to a text of 1 to 2048 characters\n',
  );
  expect(await why({ OIDC_ISSUER: 'http://id.example.com', OIDC_AUDIENCE: 'x' })).toBe(
    'it ended: OIDC_ISSUER="http://id.example.com" is not allowed: set it to an https URL without query and fragment, or an http one of localhost\n',
  );
});
