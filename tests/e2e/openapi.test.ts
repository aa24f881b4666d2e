/** The contract and the server, black-box: the document it serves, and real answers held against the contracts. */
import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { auth } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import type * as z from 'zod';
import { errorAnswer } from '#shared/contracts/rest/error-view.ts';
import { declaredRoutes } from '../../functions/api/openapi/document.ts';
import { operationId } from '../../functions/api/openapi/operation.ts';
import { type Jar, openJar } from '../../shared/adapters/oidc/fixtures/cookie-jar.ts';
import { type RealIssuer, startRealIssuer } from '../../shared/adapters/oidc/fixtures/real-issuer.ts';
import { eventually } from './embedded-cloud.ts';
import { connectByOAuth, fieldsAt, makeProvider, redirectUrl } from './oauth-client.ts';
import { type Server, startServer } from './server.ts';

type Document = {
  readonly openapi: string;
  readonly info: { readonly title: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
type Operation = { readonly operationId: string; readonly responses: Readonly<Record<string, unknown>> };

const contracts = new Map(
  declaredRoutes().map(({ method, path, contract }) => [operationId(method, path), contract]),
);

let server: Server;
let issuer: RealIssuer;
/** A provider that refuses every request. */
let refusing: HttpServer;
let operations: ReadonlyMap<string, Operation & { readonly method: string; readonly path: string }>;
/** The operations that gave a good answer of their contract. */
const kept = new Set<string>();

beforeAll(async () => {
  refusing = createServer((_, response) => response.writeHead(401).end('{}')).listen(0, '127.0.0.1');
  await once(refusing, 'listening');
  issuer = await startRealIssuer();
  const { port } = refusing.address() as AddressInfo;
  const variables = {
    WEBHOOK_ALLOWED_PRIVATE_HOSTS: '127.0.0.1:9',
    LLM_PROVIDER: 'demo',
    OPENAI_API_KEY: 'a-key',
    OPENAI_BASE_URL: `http://127.0.0.1:${port}`,
    ...{ OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: 'sallyport', OIDC_CLIENT_ID: 'public' },
    ...{ OIDC_LOGIN_SCOPES: 'openid sallyport', MCP_AUTHORIZATION_SERVER: 'platform' },
  };
  server = await startServer({ variables });
  const document = (await (await server.request('/api/openapi.json')).json()) as Document;
  expect([document.openapi, document.info.title]).toEqual(['3.1.1', 'Sallyport']);
  operations = new Map(
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => [
        operation.operationId,
        { ...operation, method: method.toUpperCase(), path },
      ]),
    ),
  );
});
afterAll(async () => {
  await server.stop();
  await issuer.stop();
  refusing.close();
});

type Question = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: object | string | Uint8Array<ArrayBuffer>;
  /** Of a browser that asks with its cookie, instead of a program with its token. */
  readonly jar?: Jar;
};

const send = async (id: string, { path = {}, query = '', body, jar }: Question) => {
  const operation = operations.get(id);
  if (operation === undefined) throw new Error(`the document has no operation ${id}`);
  const filled = Object.entries(path).reduce(
    (text, [name, value]) => text.replace(`{${name}}`, value),
    operation.path,
  );
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const init = body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) };
  const asked = { method: operation.method, ...init };
  const response =
    jar === undefined
      ? await server.request(`${filled}${query}`, asked)
      : await jar.ask(`${server.url}${filled}${query}`, { ...asked, headers: { origin: server.url } });
  return { operation, response };
};

/** Parsing drops fields that the contract does not know, so the comparison misses them. */
const hold = (schema: z.ZodType, value: unknown, what: string): void =>
  expect(schema.parse(value), what).toEqual(value);

/** The answer of an operation, if it is one of its contract. */
const ask = async <T>(id: string, question: Question = {}): Promise<T> => {
  const { response } = await send(id, question);
  const { status } = response;
  const answer = contracts.get(id)?.answers[status];
  if (answer === 'events') {
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    kept.add(id);
    await response.body?.cancel();
    return undefined as T;
  }
  const text = await response.text();
  if (answer === undefined) throw new Error(`${id} answered ${status}: ${text}`);
  expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  kept.add(id);
  if (answer === 'empty') {
    expect(text).toBe('');
    return undefined as T;
  }
  if (answer === 'bytes') return text as T;
  expect(response.headers.get('content-type')).toBe('application/json');
  hold(answer, JSON.parse(text), id);
  return JSON.parse(text) as T;
};

/** The code of a refusal whose status the document names. */
const refusal = async (id: string, question: Question = {}): Promise<string> => {
  const { operation, response } = await send(id, question);
  const body = (await response.json()) as z.output<typeof errorAnswer>;
  expect(Object.keys(operation.responses), `${id}: ${body.error.code}`).toContain(String(response.status));
  hold(errorAnswer, body, id);
  expect(response.headers.get('x-request-id')).toBe(body.error.requestId);
  return body.error.code;
};

type Made = { readonly id: string };
type Shown = { readonly status: string; readonly pendingApprovals: readonly { readonly callId: string }[] };

test('projects, tokens, tickets, models and figures', async () => {
  const project = await ask<Made>('postProjects', {
    body: { name: 'a test', description: 'of all', flavor: 'Micro', flavorsAllowed: ['micro', 'small'] },
  });
  await ask('getProjects');
  await ask('getProjectsById', { path: project });
  const token = await ask<Made>('postTokens', {
    body: { name: 'a test', scope: `project:${project.id}:ro`, expiresInSeconds: 60 },
  });
  await ask('getTokens');
  await ask('deleteTokensById', { path: token });
  await ask('getAccess');
  await ask('postSessionsCleanup', { body: { maxAgeHours: 8760 } });
  await ask('postTickets');
  await ask('getModelsAvailable');
  await ask('getModelsCheck', { query: '?models=demo,none' });
  await ask('getTemplates');
  await ask('getStats');
  await ask('getStatsHistory', { query: '?minutes=1440' });
  await ask('getOpenapiJson');
  const secret = { ...project, name: 'API_KEY' };
  await ask('putProjectsByIdSecretsByName', { path: secret, body: { value: 'a value' } });
  await ask('getProjectsByIdSecrets', { path: project });
  await ask('deleteProjectsByIdSecretsByName', { path: secret });
});

test('connected clients, and the sign-ins of browsers', async () => {
  const { provider, kept } = makeProvider(redirectUrl);
  await auth(provider, { serverUrl: `${server.url}/mcp` });
  const asked = await fieldsAt(kept.page);
  await ask('getAuthConsent', { query: `?${new URLSearchParams(asked)}` });
  await ask('postAuthConsent', { body: { ...asked, approved: false } });
  await connectByOAuth(server);
  const { clients } = await eventually(
    () => ask<{ clients: readonly Made[] }>('getAuthClients'),
    (answer) => answer.clients.length > 0,
  );
  await ask('deleteAuthClientsById', { path: { id: clients[0]?.id ?? '' } });
  await ask('deleteAuthClients');
  const jar = openJar();
  const callback = `${server.url}/api/auth/callback`;
  issuer.allow(callback);
  issuer.people['ada'] = { sallyport_scope: 'admin' };
  await jar.ask(await jar.signIn(`${server.url}/api/auth/login`, 'ada', (url) => url.startsWith(callback)));
  const { signIns } = await eventually(
    () => ask<{ signIns: readonly Made[] }>('getAuthSignIns', { jar }),
    (answer) => answer.signIns.length > 0,
  );
  await ask('deleteAuthSignInsById', { path: { id: signIns[0]?.id ?? '' }, jar });
});

test('a session with details, and code in it', async () => {
  const body = { kind: 'execution', labels: { a: 'b' }, env: { A: '1' }, cwd: 'app', idleSeconds: 60 };
  const path = await ask<Made>('postSessions', { body });
  await ask('patchSessionsById', { path, body: { title: 'a test', lifetimeSeconds: 60 } });
  await ask('postSessionsByIdCode', { path, body: { code: 'display(1); [1]', context: 'one' } });
  await ask('postSessionsByIdCode', { path, body: { code: '1 / 0', language: 'python' } });
  await ask('deleteSessionsByIdContextsByName', { path: { ...path, name: 'one' } });
  await ask('deleteSessionsById', { path });
});

test('a project, its workspaces and its end', async () => {
  const project = await ask<Made>('postProjects', { body: { name: 'for a while' } });
  await ask('patchProjectsById', { path: project, body: { description: 'changed', disabledTools: ['x'] } });
  const workspace = await ask<Made>('postProjectsByIdWorkspaces', {
    path: project,
    body: { externalId: 'branch', source: 'git' },
  });
  await ask('getProjectsByIdWorkspaces', { path: project });
  const path = { ...project, workspace: workspace.id };
  await ask('getProjectsByIdWorkspacesByWorkspace', { path });
  await ask('deleteProjectsByIdWorkspacesByWorkspace', { path });
  await ask('deleteProjectsById', { path: project });
  expect(await refusal('getProjectsById', { path: project })).toBe('project_not_found');
});

test('a schedule', async () => {
  const body = { name: 'nightly', cronExpr: '0 3 * * *', prompt: 'hello' };
  const schedule = await ask<Made>('postSchedules', { body });
  await ask('getSchedules');
  await ask('getSchedulesById', { path: schedule });
  await ask('patchSchedulesById', { path: schedule, body: { cronExpr: '0 4 * * *' } });
  await ask('postSchedulesByIdTrigger', { path: schedule });
  await ask('getSchedulesByIdHistory', { path: schedule });
  await ask('deleteSchedulesById', { path: schedule });
  expect(await refusal('getSchedulesById', { path: schedule })).toBe('schedule_not_found');
});

test('the registry', async () => {
  const body = { name: 'here', config: { transport: 'stdio', command: 'true', toolPrefix: 'h' } };
  onTestFailed(async () => {
    await server.request('/api/mcp/here', { method: 'DELETE' });
  });
  await ask('postMcpAdd', { body });
  const path = { name: 'here' };
  await ask('postMcpByNameTest', { path });
  await ask('getMcp');
  await ask('getMcpHealth');
  await ask('postMcpByNameDisable', { path });
  await ask('postMcpByNameEnable', { path });
  await ask('patchMcpByName', { path, body: { description: 'a test' } });
  expect(await refusal('postMcpAdd', { body })).toBe('conflict');
  await ask('deleteMcpByName', { path });
  expect(await refusal('deleteMcpByName', { path })).toBe('mcp_server_not_found');
});

test('a webhook', async () => {
  const body = { url: 'http://127.0.0.1:9/hook', events: ['approval_required'] };
  const path = { id: (await ask<Made>('postWebhooks', { body })).id };
  await ask('getWebhooks');
  await ask('getWebhooksById', { path });
  await ask('patchWebhooksById', { path, body: { events: ['turn_failed'] } });
  await ask('postWebhooksByIdTest', { path });
  await ask('getWebhooksByIdDeliveries', { path });
  await ask('deleteWebhooksById', { path });
  expect(await refusal('getWebhooksById', { path })).toBe('not_found');
});

test('a conversation', async () => {
  const session = await ask<Made>('postSessions', { body: { flavor: 'micro' } });
  await ask('getSessions', { query: '?status=created' });
  await ask('postSessionsByIdMessages', { path: session, body: { text: '$ echo one', messageId: 'm-1' } });
  const { pendingApprovals } = await eventually(
    () => ask<Shown>('getSessionsById', { path: session }),
    (shown) => shown.pendingApprovals.length > 0,
    30_000,
  );
  const path = { ...session, callId: pendingApprovals[0]?.callId ?? '' };
  await ask('getApprovals');
  await ask('getSessionsByIdApprovalsByCallId', { path });
  await ask('postSessionsByIdApprovalsByCallId', { path, body: { approved: true, remember: 'session' } });
  expect(await ask('getSessionsByIdTree', { path: session })).toMatchObject({
    agents: 1,
    sessions: [{ depth: 0 }],
  });
  const { grants } = await ask<{ grants: readonly Made[] }>('getSessionsByIdGrants', { path: session });
  const grant = { ...session, grantId: grants[0]?.id ?? '' };
  await ask('deleteSessionsByIdGrantsByGrantId', { path: grant });
  expect(await refusal('deleteSessionsByIdGrantsByGrantId', { path: grant })).toBe('not_found');
  await ask('getAudit');
  await ask('getAuditExport');
  expect(await refusal('postSessionsByIdApprovalsByCallId', { path, body: { approved: true } })).toBe(
    'no_pending_tool_call',
  );
  await eventually(
    () => ask<Shown>('getSessionsById', { path: session }),
    ({ status }) => status === 'idle',
    60_000,
  );
  const { events } = await ask<{ events: readonly { type: string }[] }>('getSessionsByIdEvents', {
    path: session,
    query: '?since_index=-1&max_events=500',
  });
  expect(events.map(({ type }) => type)).toContain('tool:output');
  const { messages } = await ask<{ messages: readonly { role: string }[] }>('getSessionsByIdMessages', {
    path: session,
  });
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  const { found } = await ask<{ found: readonly { session: Made; messages: readonly object[] }[] }>(
    'getSearch',
    {
      query: '?text=ONE',
    },
  );
  expect(found.find(({ session: { id } }) => id === session.id)?.messages).toContainEqual({
    ...{ messageId: 'm-1', role: 'user', before: '$ echo ', match: 'one', after: '' },
  });
  await ask('postSessionsByIdCancel', { path: session });
  await ask('deleteSessionsById', { path: session });
  await ask('postSessionsByIdResume', { path: session });
  await ask('deleteSessionsById', { path: session });
});

test('a tool that a client offers', async () => {
  const callerTools = { callerId: 'ide', tools: [{ name: 'open' }] };
  const session = await ask<Made>('postSessions', { body: { approvals: 'auto', callerTools } });
  await ask('postSessionsByIdMessages', { path: session, body: { text: 'call ide_open' } });
  type Events = { readonly events: readonly { type: string; data: { requestId?: string } }[] };
  const asked = ({ events }: Events) => events.find(({ type }) => type === 'caller_tool:request');
  const log = await eventually(
    () => ask<Events>('getSessionsByIdEvents', { path: session }),
    (page) => asked(page) !== undefined,
    30_000,
  );
  const path = { ...session, requestId: asked(log)?.data.requestId ?? '' };
  const answer = 'postSessionsByIdCallerToolsByRequestId';
  await ask(answer, { path, body: { result: 'opened' } });
  expect(await refusal(answer, { path, body: { error: 'late' } })).toBe('no_pending_tool_call');
  const offer = 'putSessionsByIdCallerTools';
  const more = { callerId: 'program', tools: [{ name: 'read' }, { name: 'write' }] };
  type Offered = { readonly tools: readonly string[]; readonly requests: readonly string[] };
  const { tools, requests } = await ask<Offered>(offer, { path: session, body: more });
  expect({ tools, requests }).toEqual({ tools: ['program_read', 'program_write'], requests: [] });
  expect(await refusal(offer, { path: session, body: { ...more, callerId: 'a b' } })).toBe('invalid_request');
  await ask('deleteSessionsById', { path: session });
});

test('a sandbox', async () => {
  const session = await ask<Made>('postSessions', { body: { kind: 'execution', flavor: 'micro' } });
  const file = { ...session, path: 'notes/a.txt' };
  await ask('putSessionsByIdFilesByPath', { path: file, body: 'hello' });
  await ask('putSessionsByIdFilesByPath', { path: file, body: 'hello again' });
  expect(await ask<string>('getSessionsByIdFilesByPath', { path: file })).toBe('hello again');
  await ask('getSessionsByIdFiles', { path: session, query: '?path=notes' });
  await ask('getSessionsByIdFiles', { path: session, query: '?recursive=1' });
  await ask('headSessionsByIdFilesByPath', { path: file });
  await ask('postSessionsByIdFilesByPath', { path: file, query: '?op=copy&to=copied/file' });
  const link = { path: 'notes/a.txt', method: 'GET', expiresInSeconds: 60 };
  await ask('postSessionsByIdLinks', { path: session, body: link });
  await ask('getSessionsByIdWatch', { path: session });
  const empty = Uint8Array.from(gzipSync(Buffer.alloc(1024)));
  await ask('putSessionsByIdFiles', { path: session, query: '?archive=tar.gz', body: empty });
  const folder = { ...session, path: 'archived' };
  await ask('putSessionsByIdFilesByPath', { path: folder, query: '?archive=tar.gz', body: empty });
  await ask('postSessionsByIdPorts', { path: session, body: { port: 8005 } });
  await ask('getSessionsByIdPorts', { path: session });
  await ask('getSessionsByIdLogs', { path: session });
  await ask('deleteSessionsByIdFilesByPath', { path: file });
  expect(await refusal('getSessionsByIdFilesByPath', { path: file })).toBe('file_not_found');
  expect(await refusal('postSessionsByIdPorts', { path: session, body: { port: 80 } })).toBe(
    'invalid_request',
  );
  await ask('deleteSessionsById', { path: session });
  expect(await refusal('putSessionsByIdFilesByPath', { path: file, body: 'late' })).toBe(
    'invalid_session_state',
  );
});

test('a failed turn is repeated', async () => {
  const session = await ask<Made>('postSessions', { body: { provider: 'openai' } });
  await ask('postSessionsByIdMessages', { path: session, body: { text: 'hello' } });
  const hasFailed = async (): Promise<boolean> => {
    const { events } = await ask<{ events: readonly { type: string }[] }>('getSessionsByIdEvents', {
      path: session,
    });
    return events.some(({ type }) => type === 'completion');
  };
  await eventually(hasFailed, (failed) => failed);
  await ask('postSessionsByIdRetry', { path: session });
  await ask('deleteSessionsById', { path: session });
});

test('programs of a sandbox, its snapshots and a restore', async () => {
  const session = await ask<Made>('postSessions', { body: { kind: 'execution', flavor: 'micro' } });
  await ask('postSessionsByIdExec', { path: session, body: { command: 'echo', args: ['hello'] } });
  const { processId } = await ask<{ processId: string }>('postSessionsByIdProcesses', {
    path: session,
    body: { command: 'cat', pty: { cols: 80, rows: 24 } },
  });
  const path = { ...session, processId };
  await ask('getSessionsByIdProcesses', { path: session });
  await ask('getSessionsByIdProcessesByProcessId', { path });
  await ask('getSessionsByIdProcessesByProcessIdOutput', { path });
  await ask('postSessionsByIdProcessesByProcessIdStdin', { path, body: 'hello' });
  await ask('postSessionsByIdProcessesByProcessIdResize', { path, body: { cols: 100, rows: 30 } });
  await ask('postSessionsByIdProcessesByProcessIdSignal', { path, body: { signal: 'SIGTERM' } });
  await ask('deleteSessionsByIdProcessesByProcessId', { path });
  const { id: snapshotId } = await ask<Made>('postSessionsByIdSnapshots', {
    path: session,
    body: { name: 'before' },
  });
  await ask('getSessionsByIdSnapshots', { path: session });
  await ask('postSessionsByIdRestore', { path: session, body: { snapshot: snapshotId } });
  await ask('postSessionsByIdPause', { path: session });
  await ask('deleteSessionsByIdSnapshotsBySnapshotId', { path: { ...session, snapshotId } });
  await ask('deleteSessionsById', { path: session });
});

test('refusals have the shape and a status of the document', async () => {
  const nobody = { id: crypto.randomUUID() };
  expect([
    await refusal('getSessionsById', { path: nobody }),
    await refusal('getSessions', { query: '?status=dancing' }),
    await refusal('getSessionsByIdEvents', { path: nobody, query: '?since_index=x' }),
    await refusal('postTokens', { body: {} }),
    await refusal('postSessions', { body: { flavor: 'gigantic' } }),
    await refusal('postSessions', { body: { project: nobody.id } }),
    await refusal('deleteTokensById', { path: nobody }),
    await refusal('getModelsAvailable', { query: '?provider=mistral' }),
    await refusal('getModelsAvailable', { query: '?provider=claude' }),
    await refusal('postProjects', { body: '{"name":"\\ud800"}' }),
    await refusal('postSessionsByIdApprovalsByCallId', {
      path: { ...(await ask<Made>('postSessions')), callId: '%ff' },
      body: { approved: true },
    }),
  ]).toEqual([
    'session_not_found',
    'invalid_request',
    'session_not_found',
    'invalid_request',
    'invalid_flavor',
    'project_not_found',
    'token_not_found',
    'invalid_request',
    'provider_not_configured',
    'invalid_request',
    'invalid_request',
  ]);
});

test('every route has answered as its contract says', () => {
  const silent = [...contracts.keys()].filter((id) => !kept.has(id));
  expect(silent).toEqual([]);
});
