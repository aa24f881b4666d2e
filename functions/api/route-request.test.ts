import type { Context } from 'aws-lambda';
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { Permission } from '#shared/domain/access.ts';
import type { Scope } from '#shared/domain/principal.ts';
import { AppError, type ErrorCode } from '#shared/errors.ts';
import { type ApiEvent, type ApiRoute, json, queryOf } from './api-route.ts';
import { answerWith, type Doors } from './route-request.ts';

const contract = { summary: 'Try something', answers: { 200: z.object({}) } };
const query = z.object({ page_size: z.coerce.number().int().max(9).default(5) });

const ran: string[] = [];
const route = (needs: Permission, more: Partial<ApiRoute> = {}): ApiRoute => ({
  method: 'GET',
  path: `/api/${needs.replace(':', '-')}`,
  needs,
  contract,
  handler: async (event) => {
    ran.push(needs);
    return json(200, queryOf(event, query));
  },
  ...more,
});

const failing = (code: ErrorCode): ApiRoute =>
  route('any', {
    path: `/api/${code}`,
    handler: async () => {
      throw new AppError(code, 'it went wrong');
    },
  });

const routes = [
  route('any'),
  route('admin'),
  route('own:write'),
  route('own:write', { path: '/api/things/{id}', resource: 'session' }),
  failing('sandbox_starting'),
  failing('conflict'),
];

const token = 'sp_of-a-test';
const portsFor = (scope: Scope) => ({
  tokens: {
    get: async (hash: string) =>
      hash === `hash of ${token}`
        ? { id: 't', hash, name: 't', scope, masked: '***', createdAt: 0 }
        : undefined,
  },
  connections: { putTicket: async () => undefined, redeemTicket: async () => undefined },
  world: { now: () => 1000, sha256: (text: string) => `hash of ${text}` },
  adminTokenHash: 'none',
  rateLimiter: { take: async () => true },
  telemetry: { info: () => undefined, warn: () => undefined, error: () => undefined },
});

const ask = async (scope: Scope, path: string, change: Partial<ApiEvent> = {}) => {
  const event = {
    httpMethod: 'GET',
    path,
    headers: { authorization: `Bearer ${token}`, 'x-request-id': 'of the client' },
    queryStringParameters: null,
    pathParameters: { proxy: 'x' },
    requestContext: { requestId: 'r-1' },
    ...change,
  } as unknown as ApiEvent;
  const ports = portsFor(scope) as unknown as Parameters<typeof answerWith>[0];
  const doors = { routes, auth: { publicUrl: undefined } } as unknown as Doors;
  const { statusCode, headers, body } = await answerWith(ports, { event, context: {} as Context }, doors);
  return { status: statusCode, headers, body: JSON.parse(String(body)) };
};

const project: Scope = `project:${'0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d'}`;

test('AC1: a route runs for callers with its permission, and is refused for others before it runs', async () => {
  ran.length = 0;
  expect((await ask('admin', '/api/admin')).status).toBe(200);
  const refused = await ask('admin:ro', '/api/admin');
  expect([refused.status, refused.body.error.code, refused.body.error.message]).toEqual([
    403,
    'forbidden',
    'this needs a token with scope admin',
  ]);
  expect((await ask(`${project}:ro`, '/api/own-write')).body.error.message).toBe(
    'this needs a token with scope admin or project:<uuid>',
  );
  expect((await ask(`${project}:ro`, '/api/any')).status).toBe(200);
  expect(ran).toEqual(['admin', 'any']);
});

test('a route of a resource checks by itself, since the owner decides', async () => {
  expect((await ask(`${project}:ro`, '/api/things/1')).status).toBe(200);
});

test('AC4: every answer names its request, by the gateway’s id', async () => {
  const [good, bad] = [await ask('admin', '/api/any'), await ask('admin', '/api/conflict')];
  expect([good.headers['x-request-id'], bad.headers['x-request-id'], bad.body.error.requestId]).toEqual([
    'r-1',
    'r-1',
    'r-1',
  ]);
});

test.each([
  ['another method', '/api/any', { httpMethod: 'PATCH' }],
  ['another path', '/api/nowhere', {}],
  ['no path below', '/api/any/more', {}],
  ['a thing of a list without its name', '/api/any/', {}],
  ['a thing in a thing without its name', '/api/things/x/', {}],
])('%s is a route that does not exist', async (_, path, change) => {
  const { status, body } = await ask('admin', path, change);
  expect([status, body.error.code]).toEqual([404, 'not_found']);
});

test('a wrong query field is named; an unknown or empty one is ignored', async () => {
  const asked = async (given: Record<string, string>) =>
    (await ask('admin', '/api/any', { queryStringParameters: given })).body;
  expect((await asked({ page_size: '12' })).error).toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(/^page_size: /),
  });
  expect((await asked({ page_size: 'many' })).error.message).toMatch(/^page_size: /);
  expect(await asked({ colour: 'red' })).toEqual({ page_size: 5 });
  expect(await asked({ page_size: '' })).toEqual({ page_size: 5 });
});

test('a refusal is no page, as no answer is', async () => {
  for (const path of ['/api/any', '/api/conflict', '/api/nowhere'])
    expect((await ask('admin', path)).headers['content-security-policy']).toBe(
      "sandbox; default-src 'none'; frame-ancestors 'none'",
    );
});

test('a rate-limited caller gets Retry-After, an unauthenticated one WWW-Authenticate', async () => {
  const later = await ask('admin', '/api/sandbox_starting');
  expect([later.status, later.headers['retry-after']]).toEqual([503, '1']);
  const never = await ask('admin', '/api/conflict');
  expect([never.status, never.headers['retry-after']]).toEqual([409, undefined]);
  const unknown = await ask('admin', '/api/any', { headers: {} });
  expect([unknown.status, unknown.headers['www-authenticate'], unknown.headers['x-request-id']]).toEqual([
    401,
    'Bearer',
    'r-1',
  ]);
});
