/**
 * Answers of every route about another's session or project: the status, words and table calls of one that is not found.
 * The ports of a sandbox are absent: no route may ask for them.
 */

import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Context } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeApprovalStore } from '#shared/adapters/aws/dynamo/approvals.ts';
import { makeAuditLog } from '#shared/adapters/aws/dynamo/audit-log.ts';
import { makeConnectionStore } from '#shared/adapters/aws/dynamo/connection-store.ts';
import { makeEventLog } from '#shared/adapters/aws/dynamo/event-log.ts';
import { makeInbox } from '#shared/adapters/aws/dynamo/inbox.ts';
import { makeProcessStore } from '#shared/adapters/aws/dynamo/process-store.ts';
import { makeProjectStore } from '#shared/adapters/aws/dynamo/project-store.ts';
import { makeSandboxLog } from '#shared/adapters/aws/dynamo/sandbox-log.ts';
import { makeScheduleStore } from '#shared/adapters/aws/dynamo/schedules.ts';
import { makeSessionStore } from '#shared/adapters/aws/dynamo/session-store.ts';
import { makeSlotStore } from '#shared/adapters/aws/dynamo/slots.ts';
import type { Table } from '#shared/adapters/aws/dynamo/table.ts';
import { makeTokenStore } from '#shared/adapters/aws/dynamo/token-store.ts';
import { makeTurnStore } from '#shared/adapters/aws/dynamo/turn-store.ts';
import { makeWebhookStore } from '#shared/adapters/aws/dynamo/webhooks.ts';
import { makeWorkspaceStore } from '#shared/adapters/aws/dynamo/workspace-store.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { scopesFor } from '#shared/domain/access.ts';
import type { OwnerId, ProjectId } from '#shared/domain/ids.ts';
import { decodeScope, deploymentOwner } from '#shared/domain/principal.ts';
import type { ApiEvent } from '../../functions/api/api-route.ts';
import { declaredRoutes } from '../../functions/api/openapi/document.ts';
import { answerWith } from '../../functions/api/route-request.ts';
import { type Api, routes } from '../../functions/api/routes.ts';
import { newSchedule } from './schedule-fixture.ts';
import { newSession, onTable } from './session-fixture.ts';
import { openTableFixture, type TableFixture } from './table-fixture.ts';
import { newWebhook } from './webhook-fixture.ts';

const [own, other] = [randomUUID() as ProjectId, randomUUID() as ProjectId];
const strangers = newSession({ owner: deploymentOwner, project: other });
const strangersSchedule = newSchedule({ targets: [{ project: other }] });
const strangersWebhook = newWebhook({ project: other });
const ownWebhook = newWebhook({ project: own });
const theirs = newSession({ owner: 'ann' as OwnerId, project: own });
const ownSchedule = newSchedule({ targets: [{ project: own }] });
const tokens = { project: `sp_${'1'.repeat(64)}`, 'project:ro': `sp_${'2'.repeat(64)}` };
const readers = { ...tokens, 'admin:ro': `sp_${'3'.repeat(64)}` };

let fixture: TableFixture;
let calls: string[] = [];
let table: Table;

beforeAll(async () => {
  fixture = await openTableFixture();
  const send = (command: object) => {
    calls.push(command.constructor.name);
    return (fixture.table.client.send as (command: object) => Promise<unknown>)(command);
  };
  table = { ...fixture.table, client: { send } as unknown as DynamoDBDocumentClient };
  const { create } = onTable(fixture.table);
  await create(strangers);
  await create(theirs);
  await makeScheduleStore(fixture.table).create(strangersSchedule, { dueAt: undefined, schedulesMax: 50 });
  await makeScheduleStore(fixture.table).create(ownSchedule, { dueAt: undefined, schedulesMax: 50 });
  const webhooks = makeWebhookStore(fixture.table);
  await webhooks.create(strangersWebhook, { secret: 'a secret', version: 0 });
  await webhooks.create(ownWebhook, { secret: 'a secret', version: 1 });
  const projects = makeProjectStore(fixture.table);
  for (const id of [own, other])
    await projects.create({ id, owner: deploymentOwner, name: 'a test', createdAt: 1 });
  for (const [kind, token] of Object.entries(readers)) {
    const scope = decodeScope(kind.replace('project', `project:${own}`));
    if (scope === undefined) throw new Error('no such scope');
    const hash = systemWorld.sha256(token);
    await makeTokenStore(fixture.table).put({
      id: randomUUID(),
      hash,
      name: kind,
      scope,
      masked: '***',
      createdAt: 1,
    });
  }
});
afterAll(() => fixture.close());

const touched: string[] = [];
/** Operations that start a sandbox, or reach into one. */
const ofSandbox = (name: string) =>
  new Proxy(
    {},
    {
      get: (_, call) => {
        touched.push(`${name}.${String(call)}`);
        return refuse();
      },
    },
  );

const refuse = (): never => {
  throw new Error('nothing of a sandbox, a secret or a model is needed to say no');
};
const absent = new Proxy({}, { get: () => refuse });

type Platform = Api & { readonly ports: Parameters<typeof answerWith>[0] };

const platform = (): Platform => {
  const ports = {
    sessions: makeSessionStore(table),
    turns: makeTurnStore(table),
    eventLog: makeEventLog(table),
    inbox: makeInbox(table),
    connections: makeConnectionStore(table),
    approvals: makeApprovalStore(table),
    slots: makeSlotStore(table),
    projects: makeProjectStore(table),
    schedules: makeScheduleStore(table),
    webhooks: makeWebhookStore(table),
    tokens: makeTokenStore(table),
    // One call or two, as the clock will have it: not what is counted here.
    rateLimiter: { take: async () => true },
    auditLog: makeAuditLog(table),
    processes: makeProcessStore(table),
    sandboxLog: makeSandboxLog(table),
    workspaces: makeWorkspaceStore(table),
    host: ofSandbox('host'),
    link: ofSandbox('link'),
    tools: ofSandbox('tools'),
    savedFiles: { fetch: async () => Response.json({ files: [] }) },
    correlation: { id: () => 'c', follow: () => undefined },
    telemetry: { info() {}, warn() {}, error() {}, count() {}, duration() {} },
    world: systemWorld,
    adminTokenHash: 'of no token',
  };
  const all = new Proxy(ports, { get: (known, name) => Reflect.get(known, name) ?? absent });
  const lifetimes = {
    idleMs: 1000,
    executionIdleMs: 1000,
    historyMs: 1000,
    pausedMs: 604_800_000,
    waitStopMs: 900_000,
  };
  const settings = { provider: 'demo', flavor: 'small', template: 'python', lifetimes, slots: {} };
  return { ports: all, settings, limits: {}, stats: {} } as unknown as Platform;
};

type Question = {
  readonly method: string;
  readonly path: string;
  readonly body: object;
  readonly query?: Readonly<Record<string, string>>;
};
type Answer = { readonly status: number; readonly text: string; readonly calls: readonly string[] };

const ask = async (token: string, { method, path, body, query }: Question): Promise<Answer> => {
  calls = [];
  const event = {
    httpMethod: method,
    path,
    headers: { authorization: `Bearer ${token}` },
    queryStringParameters: query ?? null,
    multiValueQueryStringParameters: null,
    pathParameters: { proxy: path.slice('/api/'.length) },
    body: JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: { requestId: 'the same' },
  } as unknown as ApiEvent;
  const api = platform();
  const doors = { routes: routes(api), preview: api, links: api, auth: api as never, oauth: {} as never };
  const answer = await answerWith(api.ports, { event, context: {} as Context }, doors);
  return { status: answer.statusCode, text: String(answer.body), calls };
};

const anything = { text: 'x', approved: true, value: 'x' };
const pathWith = (path: string, id: string): string =>
  path
    .replace('{id}', id)
    .replace('{proxy+}', 'a/file')
    .replaceAll(/\{\w+\}/g, 'x');

const resourceRoutes = declaredRoutes().filter(({ resource }) => resource !== undefined);
const preview = { method: 'GET', path: '/api/sessions/{id}/ports/8000/', resource: 'session' } as const;

test('there are routes of resources', () => {
  expect(resourceRoutes.length).toBeGreaterThan(12);
  expect(scopesFor('own:write')).toContain('project:<uuid>');
});

describe.each(Object.entries(tokens))('AC2: to a token of scope %s', (_, token) => {
  test.each([...resourceRoutes, preview])('$method $path', async ({ method, path, resource }) => {
    const id = {
      session: strangers.id,
      project: other,
      schedule: strangersSchedule.id,
      webhook: strangersWebhook.id,
    }[resource ?? 'project'];
    const foreign = await ask(token, { method, path: pathWith(path, id), body: anything });
    const none = await ask(token, { method, path: pathWith(path, randomUUID()), body: anything });
    expect(foreign).toEqual(none);
    // A webhook has no code of its own.
    const code = resource === 'webhook' ? 'not_found' : `${resource}_not_found`;
    expect([foreign.status, JSON.parse(foreign.text).error.code]).toEqual([404, code]);
    expect(foreign.calls.length).toBeGreaterThan(0);
  });
});

const ofProjectByQuery = declaredRoutes().filter(
  ({ resource, contract }) =>
    resource === undefined && contract.answers[200] && contract.query?.shape['project'],
);

test.each(ofProjectByQuery)(
  'AC2: another project in the query of $method $path reveals nothing',
  async (route) => {
    const { method, path } = route;
    const others = path === '/api/search' ? { text: 'x' } : {};
    for (const token of Object.values(tokens)) {
      const of = (project: string) =>
        ask(token, { method, path: pathWith(path, 'x'), body: {}, query: { project, ...others } });
      const [foreign, none] = [await of(other), await of(randomUUID())];
      expect(foreign).toEqual(none);
      if (path !== '/api/sessions') expect([403, 404]).toContain(foreign.status);
    }
  },
);

test('no session is created in another’s project', async () => {
  const make = (project: string) =>
    ask(tokens.project, { method: 'POST', path: '/api/sessions', body: { project } });
  const [foreign, none] = [await make(other), await make(randomUUID())];
  expect(foreign).toEqual(none);
  expect([foreign.status, JSON.parse(foreign.text).error.code]).toEqual([404, 'project_not_found']);
});

test('AC3: a person’s resource in the project is found by a token of the project, and only read with `:ro`', async () => {
  const on = (method: string) =>
    ask(tokens['project:ro'], { method, path: `/api/sessions/${theirs.id}`, body: {} });
  expect([(await on('GET')).status, (await on('DELETE')).status]).toEqual([200, 403]);
});

const wholeSession = async () => ({
  session: await makeSessionStore(fixture.table).get(theirs.id),
  workspace: await makeWorkspaceStore(fixture.table).get(theirs.workspace),
});

test.each(['project:ro', 'admin:ro'] as const)(
  'AC5: no route starts a sandbox for a token of scope %s, or keeps one running',
  async (kind) => {
    const before = await wholeSession();
    expect(before.session?.lastActiveAt).toBe(theirs.lastActiveAt);
    touched.length = 0;
    const ids = {
      ...{ session: theirs.id, project: own, schedule: ownSchedule.id, webhook: ownWebhook.id },
    };
    const statuses: Record<string, number> = {};
    for (const { method, path, resource } of [...declaredRoutes(), preview]) {
      const asked = { method, path: pathWith(path, ids[resource ?? 'session']), body: anything };
      statuses[`${method} ${path}`] = (await ask(readers[kind], asked)).status;
    }
    expect(touched).toEqual([]);
    expect(await wholeSession()).toEqual(before);
    const read = ['/files', '/files/{proxy+}', '/logs', '/ports'].map(
      (path) => `GET /api/sessions/{id}${path}`,
    );
    // Nothing was ever saved of the workspace.
    expect(read.map((route) => statuses[route])).toEqual([200, 404, 200, 200]);
    expect(statuses['GET /api/sessions/{id}/ports/8000/']).toBe(403);
  },
);
