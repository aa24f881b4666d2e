import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { systemWorld } from '#shared/adapters/system-world.ts';
import type { TokenStore } from '#shared/ports/access.ts';
import type { ConnectionStore } from '#shared/ports/connections.ts';
import { fake } from '../../tests/fake.ts';
import { answer, type McpAuthPorts } from './authenticate-request.ts';
import { defineTool, type McpPorts, type McpSettings } from './define-tool.ts';
import { toolServer } from './tool-server.ts';

const telemetry = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  count: () => undefined,
  duration: () => undefined,
};
const auth: McpAuthPorts = {
  tokens: fake<TokenStore>({ get: async () => undefined }),
  rateLimiter: { take: async () => true },
  connections: fake<ConnectionStore>({
    putTicket: async () => undefined,
    redeemTicket: async () => undefined,
  }),
  world: systemWorld,
  telemetry,
  // SHA-256 of `good`.
  adminTokenHash: '770e607624d689265ca6c44884d0807d9b054d23c473c106c72be9de08b7376c',
};

const correlation = { id: () => 'r-1' };

const whoami = defineTool({
  name: 'whoami',
  description: 'Tells.',
  needs: 'any',
  input: z.strictObject({}),
  output: z.object({ scope: z.string(), id: z.string() }),
  annotations: { title: 'Tell', readOnlyHint: true, openWorldHint: false },
  run: async (_, { principal, ports }) => ({ scope: principal.scope, id: ports.correlation.id() }),
});

const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami' } };
const eventOf = (more: Partial<APIGatewayProxyEvent> = {}) =>
  ({
    httpMethod: 'POST',
    headers: { Authorization: 'Bearer good', 'Content-Type': 'application/json', 'X-Odd': 'ключ' },
    body: JSON.stringify(request),
    isBase64Encoded: false,
    requestContext: { requestId: 'r-1' },
    ...more,
  }) as APIGatewayProxyEvent;

const settings = {} as McpSettings;
const resource = { publicUrl: 'https://app.example', issuer: undefined };
const deadlineAt = Number.POSITIVE_INFINITY;
const open = async () => ({ telemetry, correlation, world: systemWorld }) as unknown as McpPorts;
const ask = (event: APIGatewayProxyEvent) =>
  answer(auth, event, { makeServer: toolServer([whoami]), settings, open, resource, deadlineAt });

test('a known client is served under the id of its request', async () => {
  const { statusCode, headers, body } = await ask(eventOf());
  expect([statusCode, headers['content-type']]).toEqual([200, 'application/json']);
  expect(await new Response(body).json()).toMatchObject({
    result: { structuredContent: { scope: 'admin', id: 'r-1' } },
  });
});

test('a body in base64 is read', async () => {
  const body = Buffer.from(JSON.stringify(request)).toString('base64');
  expect((await ask(eventOf({ body, isBase64Encoded: true }))).statusCode).toBe(200);
});

test('a stream carries no header of one connection', async () => {
  const headers = { ...eventOf().headers, accept: 'application/json, text/event-stream' };
  const result = await ask(eventOf({ headers }));
  expect(result.headers).toEqual({
    'cache-control': 'no-cache, no-transform',
    'content-type': 'text/event-stream',
    'x-accel-buffering': 'no',
    'x-request-id': 'r-1',
  });
  expect(await new Response(result.body).text()).toContain('data: {');
});

test.each([
  ['no token', {}, ''],
  ['a wrong token', { authorization: 'Bearer bad' }, 'error="invalid_token", '],
  ['another scheme', { authorization: 'Basic good' }, ''],
])('%s must authenticate first', async (_, headers, reason) => {
  const opened: string[] = [];
  const result = await answer(auth, eventOf({ headers, body: '{' }), {
    makeServer: toolServer([whoami]),
    settings,
    resource,
    deadlineAt,
    open: async () => {
      opened.push('opened');
      return open();
    },
  });
  expect(result).toEqual({
    statusCode: 401,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'www-authenticate': `Bearer ${reason}resource_metadata="https://app.example/.well-known/oauth-protected-resource/mcp"`,
      'x-request-id': 'r-1',
    },
    body: JSON.stringify({
      error: {
        code: 'unauthenticated',
        message: 'a valid token is required',
        suggestions: ['Send the header Authorization: Bearer <token>.'],
        recoveryActions: ['authenticate'],
        requestId: 'r-1',
      },
    }),
  });
  expect(opened).toEqual([]);
});

test.each([
  ['a name of this machine', { host: 'localhost:4350' }, 200],
  ['the name it was reached under', { Host: 'api.example.com' }, 200],
  ['a page of its own', { host: '127.0.0.1:1', origin: 'http://127.0.0.1:1' }, 200],
  ['a name that somebody else had resolve to us', { host: 'evil.example.com' }, 403],
  ['a page of the public address', { host: 'localhost', origin: 'https://app.example' }, 200],
  ['a proxy that keeps the public name', { host: 'app.example' }, 200],
  [
    'a page that claims a name',
    { host: 'localhost', origin: 'https://a.example', 'x-forwarded-host': 'a.example' },
    403,
  ],
  ['a page of another origin', { host: 'localhost', origin: 'https://evil.example.com' }, 403],
  ['a page without an origin', { host: 'localhost', origin: 'null' }, 403],
])('a request for %s', async (_, more, status) => {
  const requestContext = { requestId: 'r-1', domainName: 'api.example.com' };
  const headers = { ...eventOf().headers, ...more };
  const event = eventOf({
    headers,
    requestContext: requestContext as APIGatewayProxyEvent['requestContext'],
  });
  expect((await ask(event)).statusCode).toBe(status);
});

test.each(['GET', 'DELETE', 'TRACE'])('%s is not allowed', async (httpMethod) => {
  const { statusCode, headers } = await ask(eventOf({ httpMethod, body: null }));
  expect([statusCode, headers['allow']]).toEqual([405, 'POST']);
});

test('a request that fails to open is an internal error, in the shape of every error', async () => {
  const result = await answer(auth, eventOf(), {
    makeServer: toolServer([whoami]),
    settings,
    resource,
    deadlineAt,
    open: () => Promise.reject(new Error('arn:secret')),
  });
  expect(result.statusCode).toBe(500);
  expect(JSON.parse(String(result.body)).error).toMatchObject({ code: 'internal_error', requestId: 'r-1' });
  expect(String(result.body)).not.toContain('arn:');
});

const rated = { limits: { rate: { perSecond: 10, burst: 3 } } } as McpSettings;
const askAll = async (messages: number, room: number, before = ' ') => {
  let taken = 0;
  const take = async (_key: string, _now: number, requests = 1) => {
    taken += requests;
    return taken <= room;
  };
  const body = JSON.stringify(Array.from({ length: messages }, (_, id) => ({ ...request, id })));
  const { statusCode } = await answer(
    { ...auth, rateLimiter: { take } },
    eventOf({ body: `${before}${body}` }),
    {
      ...{ makeServer: toolServer([whoami]), settings: rated, open, resource, deadlineAt },
    },
  );
  return { statusCode, taken };
};

test.each([
  [3, 3, { statusCode: 200, taken: 3 }],
  [3, 2, { statusCode: 429, taken: 3 }],
  [1, 1, { statusCode: 200, taken: 1 }],
  // None that the rate could never admit.
  [4, 9, { statusCode: 400, taken: 1 }],
])('AC8: each of %i messages in one request counts, with room for %i', async (messages, room, expected) => {
  expect(await askAll(messages, room)).toEqual(expected);
});

test('AC8: a mark of the byte order hides no message', async () => {
  expect(await askAll(3, 2, '\ufeff')).toEqual({ statusCode: 429, taken: 3 });
});
