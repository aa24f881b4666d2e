/** A body with a field that its contract does not know is refused by every route that takes one, and the field named. */
import type { Context } from 'aws-lambda';
import { expect, test } from 'vitest';
import { systemWorld } from '#shared/adapters/system-world.ts';
import type { ProjectId } from '#shared/domain/ids.ts';
import { deploymentOwner } from '#shared/domain/principal.ts';
import { theDefaultProject } from '#shared/domain/project.ts';
import { noTurn } from '#shared/domain/turn/turn.ts';
import { newSchedule } from '../../tests/conformance/schedule-fixture.ts';
import { newSession } from '../../tests/conformance/session-fixture.ts';
import { newWebhook } from '../../tests/conformance/webhook-fixture.ts';
import type { ApiEvent } from './api-route.ts';
import { declaredRoutes } from './openapi/document.ts';
import { answerWith } from './route-request.ts';
import { type Api, routes } from './routes.ts';

const token = `sp_${'1'.repeat(64)}`;
const project = crypto.randomUUID() as ProjectId;
const session = newSession({ owner: deploymentOwner, project });
const schedule = newSchedule({ targets: [{ project }] });
const webhook = newWebhook({ project });

const absent = new Proxy(
  {},
  {
    get: () => () => {
      throw new Error('the body is refused before anything is asked for');
    },
  },
);

const platform = () => {
  const ports = {
    turns: { getWithTurn: async () => ({ session, turn: noTurn }) },
    projects: { get: async () => ({ ...theDefaultProject, id: project }) },
    schedules: { find: async () => ({ schedule, pins: [] }) },
    webhooks: { get: async () => webhook },
    rateLimiter: { take: async () => true },
    auditLog: { append: async () => undefined },
    telemetry: { info() {}, warn() {}, error() {}, count() {}, duration() {} },
    world: systemWorld,
    adminTokenHash: systemWorld.sha256(token),
    signIn: undefined,
  };
  const all = new Proxy(ports, {
    get: (known, name) => (Reflect.has(known, name) ? Reflect.get(known, name) : absent),
  });
  const settings = { provider: 'demo', flavor: 'small', template: 'python', lifetimes: {}, slots: {} };
  return { ports: all, settings, limits: {}, stats: {} } as unknown as Api & {
    readonly ports: Parameters<typeof answerWith>[0];
  };
};

const send = async (method: string, path: string, body: unknown) => {
  const event = {
    httpMethod: method,
    path,
    headers: { authorization: `Bearer ${token}` },
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: { proxy: path.slice('/api/'.length) },
    body: JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: { requestId: 'r' },
  } as unknown as ApiEvent;
  const api = platform();
  const answer = await answerWith(
    api.ports,
    { event, context: {} as Context },
    { routes: routes(api), preview: api, links: api, auth: api as never, oauth: {} as never },
  );
  const { code, message } = JSON.parse(String(answer.body)).error;
  return [answer.statusCode, code, message];
};

const filled = (path: string): string =>
  path
    .replace('/api/projects/{id}', `/api/projects/${project}`)
    .replace('/api/sessions/{id}', `/api/sessions/${session.id}`)
    .replace('/api/schedules/{id}', `/api/schedules/${schedule.id}`)
    .replace('/api/webhooks/{id}', `/api/webhooks/${webhook.id}`)
    .replaceAll(/\{\w+\}/g, 'x');

const withBody = declaredRoutes().filter(
  ({ contract }) => contract.body !== undefined && contract.body !== 'bytes',
);
const withoutBody = declaredRoutes().filter(
  ({ method, contract }) => contract.body === undefined && ['POST', 'PUT', 'PATCH'].includes(method),
);
const refusal = (field: string) => [400, 'invalid_request', expect.stringContaining(field)];

test('there are routes with bodies', () => {
  expect(withBody.length).toBeGreaterThan(14);
});

test.each(withBody)('$method $path', async ({ method, path }) => {
  expect(await send(method, filled(path), { zzUnknown: 1 })).toEqual(refusal('zzUnknown'));
});

test.each(withoutBody)('$method $path, which takes no body', async ({ method, path }) => {
  expect(await send(method, filled(path), { zzUnknown: 1 })).toEqual(refusal('zzUnknown'));
});

test.each([[[]], [[1]], [5], ['x'], [true]])(
  'a body of %j is refused as well where a route takes none',
  async (body) => {
    const answer = await send('POST', `/api/sessions/${session.id}/pause`, body);
    expect(answer).toEqual([400, 'invalid_request', expect.stringContaining('must be an object')]);
  },
);

const tools = [{ name: 't', zzUnknown: 1 }];
// A session takes its slot when its sandbox starts: it can neither wait for one nor be the reason of an eviction.
test.each(['waitSeconds', 'evictIdle'])('a new session takes no %s', async (field) => {
  expect(await send('POST', '/api/sessions', { [field]: 1 })).toEqual(refusal(field));
});

const nested: readonly (readonly [string, string, object, string])[] = [
  ['POST', '/api/sessions', { callerTools: { callerId: 'c', tools: [], zzUnknown: 1 } }, 'callerTools.'],
  ['POST', '/api/sessions', { callerTools: { callerId: 'c', tools } }, 'callerTools.tools.0.'],
  ['POST', '/api/projects', { name: 'p', limits: { zzUnknown: 1 } }, 'limits.'],
  ['PATCH', `/api/projects/${project}`, { limits: { zzUnknown: 1 } }, 'limits.'],
  ['POST', '/api/schedules', { targets: [{ projectId: project, zzUnknown: 1 }] }, 'targets.0.'],
  ['PATCH', `/api/schedules/${schedule.id}`, { targets: [{ zzUnknown: 1 }] }, 'targets.0.'],
  ['POST', '/api/mcp/add', { name: 's', config: { transport: 'http', zzUnknown: 1 } }, 'config.'],
  ['PATCH', '/api/mcp/s', { config: { zzUnknown: 1 } }, 'config.'],
  ['PATCH', '/api/mcp/s', { timeout: 1000, zzUnknown: 1 }, ''],
];

test.each(nested)('%s %s, within', async (...[method, path, body, above]) => {
  expect(await send(method, path, body)).toEqual(refusal(`${above}zzUnknown`));
});
