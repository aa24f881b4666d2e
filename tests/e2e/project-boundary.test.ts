/**
 * Boundary of a project: its token sees and touches nothing else, by every action of every tool, every route, the socket.
 * Each of two projects asks for the other's things. The requests come from the code's own tables, so that a new one
 * fails here until it has a row.
 */
import { createHash } from 'node:crypto';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { derivedUuid, type ProjectId } from '#shared/domain/ids.ts';
import { deploymentOwner } from '#shared/domain/principal.ts';
import { defaultWorkspaceKey } from '#shared/domain/workspace-resolution.ts';
import { declaredRoutes } from '../../functions/api/openapi/document.ts';
import { previewRoute } from '../../functions/api/preview-routes.ts';
import { toolbox } from '../../functions/mcp/toolbox.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect, type Fields, type McpClient } from './mcp-clients.ts';
import { makeVerifier, redirectUrl } from './oauth-client.ts';
import { connect as openSocket } from './socket-client.ts';

/** Ids of a project's things, as a request would name them. */
type Held = {
  readonly project: string;
  readonly session: string;
  readonly ended: string;
  readonly workspace: string;
  readonly schedule: string;
  readonly webhook: string;
};
/** The id of the default workspace, which no session has entered: whoever knows the project knows it. */
const defaultOf = ({ project }: Held): string => {
  const key = defaultWorkspaceKey({ owner: deploymentOwner }, project as ProjectId);
  return derivedUuid(createHash('sha256').update(key).digest('hex'));
};
type Side = Held & { readonly token: string; readonly client: McpClient };

let cloud: EmbeddedCloud;
let sides: readonly [Side, Side];
/** A client that asks for access to `/mcp`. */
let clientId: string;

const post = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });
const made = (path: string, body: object): Promise<{ id: string; token: string; workspace: string }> =>
  cloud.ask(`/api${path}`, post(body));

/** No receiver is there: the address is public, and nothing happens that it hears of. */
const hook = { url: 'https://192.0.32.7/', events: ['sandbox_failed'] };

const openSide = async (): Promise<Side> => {
  const { id: project } = await made('/projects', { name: 'a side' });
  const { token } = await made('/tokens', { name: 't', scope: `project:${project}` });
  const { id: session, workspace } = await made('/sessions', { project, createWorkspace: true });
  const { id: ended } = await made('/sessions', { project });
  await cloud.ask(`/api/sessions/${ended}`, { method: 'DELETE' });
  const options = { name: 's', cronExpr: '0 0 1 1 *', prompt: 'hello', targets: [{ projectId: project }] };
  const { id: schedule } = await made('/schedules', options);
  const { id: webhook } = await made('/webhooks', { ...hook, project });
  await cloud.ask(`/api/projects/${project}/secrets/A_KEY`, { method: 'PUT', body: '{"value":"x"}' });
  const config = { transport: 'stdio', command: 'cat', enabled: false };
  await made(`/mcp/add?project=${project}`, { name: `server-${project.slice(0, 8)}`, config });
  const client = await connect({ url: cloud.url, token });
  return { project, session, ended, workspace, schedule, webhook, token, client };
};

beforeAll(async () => {
  cloud = await openEmbeddedCloud();
  sides = [await openSide(), await openSide()];
  const registered = await fetch(`${cloud.url}/oauth/register`, {
    ...post({ redirect_uris: [redirectUrl] }),
    headers: { 'content-type': 'application/json' },
  });
  clientId = ((await registered.json()) as { client_id: string }).client_id;
});
afterAll(async () => {
  for (const { client } of sides) await client.close();
  await cloud.stop();
});

const serverOf = ({ project }: Held): string => `server-${project.slice(0, 8)}`;
/** As a side, with nothing in it that exists. */
const nobody: Held = {
  project: crypto.randomUUID(),
  session: crypto.randomUUID(),
  ended: crypto.randomUUID(),
  workspace: crypto.randomUUID(),
  schedule: crypto.randomUUID(),
  webhook: crypto.randomUUID(),
};

/** All that is stored of a side, but what was refused (audit) and what passes by itself: what was touched differs. */
const stateOf = async ({ project, session, ended, workspace, schedule, webhook }: Held): Promise<string> => {
  const ids = [project, session, ended, workspace, schedule, webhook];
  const { client, name: TableName } = cloud.table;
  const lines: string[] = [];
  for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true }))
    lines.push(...Items.filter(({ pk }) => !/^(AUDIT|TICKET)#/.test(pk)).map(asLine));
  return lines
    .filter((line) => ids.some((id) => line.includes(id)))
    .toSorted()
    .join('\n');
};
const asLine = (item: object): string => JSON.stringify(item, fieldsInOrder);
const fieldsInOrder = (_key: string, value: unknown): unknown => {
  if (value instanceof Set) return [...value].toSorted();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
};

/** Ids of the other project in an answer. */
const sees = (
  text: string,
  { project, session, ended, workspace, schedule, webhook }: Held,
): readonly string[] =>
  [project, session, ended, workspace, schedule, webhook, project.slice(0, 8)].filter((id) =>
    text.includes(id),
  );

/** `fine`: it is answered, and nothing of the other's is in the answer. */
type Outcome = 'fine' | string;
/** A request for the other's things, beside one's own, and its outcome. */
type Row<Ask> = readonly [ask: (theirs: Held, own: Held) => Ask, outcome: Outcome];

const ofSession = (more: Fields = {}): Row<Fields> => [
  ({ session }) => ({ session_id: session, ...more }),
  'session_not_found',
];
const ofProject = (more: Fields = {}): Row<Fields> => [
  ({ project }) => ({ project_id: project, ...more }),
  'project_not_found',
];
const ofWorkspace = (more: Fields = {}): Row<Fields> => [
  ({ workspace }) => ({ workspace_id: workspace, ...more }),
  'workspace_not_found',
];
const ofSchedule = (more: Fields = {}): Row<Fields> => [
  ({ schedule }) => ({ schedule_id: schedule, ...more }),
  'schedule_not_found',
];
const ownOnly = (more: Fields = {}): Row<Fields> => [() => more, 'fine'];
const forAdmins = (more: Fields = {}): Row<Fields> => [
  ({ project }) => ({ project_id: project, ...more }),
  'forbidden',
];
const wished = { name: 's', cron_expr: '0 0 1 1 *', prompt: 'hello' };
const taken: Outcome = 'conflict';
const aProcess = crypto.randomUUID();

const ofTools: Readonly<Record<string, readonly Row<Fields>[]>> = {
  execute_code: [ofSession({ code: '1' }), ofProject({ code: '1' })],
  execute_command: [ofSession({ command: 'true' }), ofProject({ command: 'true' })],
  get_sessions: [ofSession(), ownOnly()],
  stop_session: [ofSession()],
  get_volume_path: [ofSession(), ownOnly()],
  read_file: [ofSession({ path: 'f' })],
  write_file: [ofSession({ path: 'f', content: 'x' })],
  list_files: [ofSession()],
  'project create': [[() => ({ name: 'p' }), 'forbidden']],
  'project list': [ownOnly(), ownOnly({ name_contains: 'a side' })],
  'project get': [ofProject()],
  'project update': [forAdmins({ name: 'x' })],
  'project delete': [forAdmins()],
  'project options': [ofProject(), ownOnly()],
  'session message': [
    ofProject({ message: 'x' }),
    ofWorkspace({ message: 'x' }),
    [({ workspace }) => ({ message: 'x', workspace_id: workspace, create_workspace: true }), taken],
    [(theirs) => ({ message: 'x', workspace_id: defaultOf(theirs), create_workspace: true }), taken],
  ],
  'session spawn': [
    ofProject(),
    ofWorkspace({ new_session: true }),
    [({ workspace }) => ({ workspace_id: workspace, create_workspace: true }), taken],
    [(theirs) => ({ workspace_id: defaultOf(theirs), create_workspace: true }), taken],
  ],
  'session get': [ofSession()],
  'session list': [ofProject(), ownOnly(), ownOnly({ status: 'completed' })],
  'session events': [ofSession(), ofSession({ include_children: true })],
  'session approve': [ofSession({ call_id: 'x', approved: true })],
  'session cancel': [ofSession()],
  'session retry': [ofSession()],
  'session end': [ofSession()],
  'session cleanup': [ofProject({ max_age_hours: 0 }), ownOnly({ max_age_hours: 0 })],
  'workspace list': [ofProject(), ownOnly()],
  'workspace delete': [
    ofWorkspace(),
    [({ project, workspace }) => ({ project_id: project, workspace_id: workspace }), 'project_not_found'],
  ],
  'schedule create': [
    [({ project }) => ({ ...wished, targets: [{ project_id: project }] }), 'project_not_found'],
    [
      ({ project }, own) => ({
        ...wished,
        targets: [{ project_id: own.project }, { project_id: project }],
      }),
      'project_not_found',
    ],
    [
      ({ workspace }, own) => ({
        ...wished,
        targets: [{ project_id: own.project, workspace_id: workspace }],
      }),
      'workspace_not_found',
    ],
  ],
  'schedule list': [ofProject(), ownOnly()],
  'schedule get': [ofSchedule()],
  'schedule update': [
    ofSchedule({ name: 'x' }),
    [
      ({ project }, own) => ({ schedule_id: own.schedule, targets: [{ project_id: project }] }),
      'project_not_found',
    ],
  ],
  'schedule delete': [ofSchedule()],
  'schedule trigger': [ofSchedule()],
  'schedule history': [ofSchedule()],
  'token create': [
    [({ project }) => ({ name: 't', scope: `project:${project}` }), 'forbidden'],
    [(_, own) => ({ name: 't', scope: `project:${own.project}` }), 'forbidden'],
  ],
  'token list': [[() => ({}), 'forbidden']],
  'token revoke': [[() => ({ token_id: crypto.randomUUID() }), 'forbidden']],
  config_limits: [ofProject(), ofSession(), ownOnly()],
  caller_tool_response: [ofSession({ request_id: 'r', result: 1 })],
  'process list': [ofSession()],
  'process output': [ofSession({ process_id: aProcess })],
  'process input': [ofSession({ process_id: aProcess, text: 'x' })],
  'process signal': [ofSession({ process_id: aProcess, signal: 'SIGTERM' })],
  'process kill': [ofSession({ process_id: aProcess })],
};

type Rest = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: object;
};

const inQuery = (more: Rest = {}): Row<Rest> => [
  ({ project }) => ({ ...more, query: `?project=${project}` }),
  'project_not_found',
];
const alone: Row<Rest> = [() => ({}), 'fine'];
const ofServer = (body?: object): readonly Row<Rest>[] => [
  [
    (theirs) => ({ path: { name: serverOf(theirs) }, ...(body === undefined ? {} : { body }) }),
    'mcp_server_not_found',
  ],
  [
    (theirs) => ({
      path: { name: serverOf(theirs) },
      query: `?project=${theirs.project}`,
      ...(body === undefined ? {} : { body }),
    }),
    'project_not_found',
  ],
];
const added = { name: 'one', config: { transport: 'stdio', command: 'cat', enabled: false } };
const scheduled = (targets: readonly object[]): Rest => ({
  body: { name: 's', cronExpr: '0 0 1 1 *', prompt: 'hello', targets },
});

/** The request of a client for the project of the other. */
const asksFor = (project: string): Record<string, string> => ({
  ...{ clientId, redirectUri: redirectUrl, responseType: 'code', requestedScope: `project:${project}` },
  ...{ codeChallenge: makeVerifier().challenge, codeChallengeMethod: 'S256' },
});

/** Those whose path names no session, project, schedule or webhook; that of the others is the other's. */
const ofRoutes: Readonly<Record<string, readonly Row<Rest>[]>> = {
  'POST /api/tickets': [alone],
  'GET /api/openapi.json': [alone],
  'GET /api/models/available': [alone],
  'GET /api/models/check': [alone],
  'GET /api/stats': [alone],
  'GET /api/stats/history': [alone],
  'GET /api/access': [alone],
  'GET /api/templates': [alone],
  'GET /api/auth/consent': [
    [({ project }) => ({ query: `?${new URLSearchParams(asksFor(project))}` }), 'forbidden'],
  ],
  'POST /api/auth/consent': [
    [
      ({ project }) => ({
        body: { ...asksFor(project), approved: true, scope: `project:${project}` },
      }),
      'forbidden',
    ],
  ],
  'GET /api/auth/clients': [alone],
  'DELETE /api/auth/clients': [alone],
  'DELETE /api/auth/clients/{id}': [[() => ({ path: { id: crypto.randomUUID() } }), 'not_found']],
  'GET /api/auth/sign-ins': [alone],
  'DELETE /api/auth/sign-ins/{id}': [[() => ({ path: { id: crypto.randomUUID() } }), 'not_found']],
  'POST /api/sessions': [
    [({ project }) => ({ body: { project } }), 'project_not_found'],
    [({ workspace }) => ({ body: { workspace } }), 'workspace_not_found'],
    [({ workspace }) => ({ body: { workspace, createWorkspace: true } }), taken],
    [(theirs) => ({ body: { workspace: defaultOf(theirs), createWorkspace: true } }), taken],
    [({ workspace }) => ({ body: { kind: 'execution', workspace } }), 'workspace_not_found'],
    [({ session }) => ({ body: { from: { session } } }), 'session_not_found'],
    [({ session }) => ({ body: { from: { session, messageId: 'm' } } }), 'session_not_found'],
  ],
  'GET /api/sessions': [alone, inQuery()],
  'GET /api/search': [
    [() => ({ query: '?text=secret' }), 'fine'],
    [({ project }) => ({ query: `?text=secret&project=${project}` }), 'project_not_found'],
  ],
  'POST /api/sessions/cleanup': [
    [({ project }) => ({ body: { project, maxAgeHours: 0 } }), 'project_not_found'],
    [() => ({ body: { maxAgeHours: 0 } }), 'fine'],
    [({ session }) => ({ body: { sessions: [session] } }), 'fine'],
  ],
  'POST /api/projects': [[() => ({ body: { name: 'p' } }), 'forbidden']],
  'GET /api/projects': [alone],
  'GET /api/mcp': [alone, inQuery()],
  'GET /api/mcp/health': [alone, inQuery()],
  'POST /api/mcp/add': [inQuery({ body: added })],
  'PATCH /api/mcp/{name}': ofServer({ config: { enabled: true } }),
  'DELETE /api/mcp/{name}': ofServer(),
  'POST /api/mcp/{name}/enable': ofServer(),
  'POST /api/mcp/{name}/disable': ofServer(),
  'POST /api/mcp/{name}/test': ofServer(),
  'POST /api/schedules': [
    [({ project }) => scheduled([{ projectId: project }]), 'project_not_found'],
    [
      ({ project }, own) => scheduled([{ projectId: own.project }, { projectId: project }]),
      'project_not_found',
    ],
    [
      ({ workspace }, own) => scheduled([{ projectId: own.project, workspaceId: workspace }]),
      'workspace_not_found',
    ],
  ],
  'GET /api/schedules': [alone, inQuery()],
  'GET /api/approvals': [alone, inQuery()],
  'GET /api/audit': [[() => ({}), 'forbidden']],
  'GET /api/audit/export': [[() => ({}), 'forbidden']],
  'POST /api/webhooks': [[({ project }) => ({ body: { ...hook, project } }), 'project_not_found']],
  'GET /api/webhooks': [alone, inQuery()],
  'POST /api/tokens': [
    [({ project }) => ({ body: { name: 't', scope: `project:${project}` } }), 'forbidden'],
    [(_, own) => ({ body: { name: 't', scope: `project:${own.project}` } }), 'forbidden'],
  ],
  'GET /api/tokens': [[() => ({}), 'forbidden']],
  'DELETE /api/tokens/{id}': [[() => ({ path: { id: crypto.randomUUID() } }), 'forbidden']],
};

const allActions = toolbox.flatMap(({ name, needs }) =>
  typeof needs === 'string' ? [name] : Object.keys(needs).map((action) => `${name} ${action}`),
);
const routes = [...declaredRoutes(), { ...previewRoute, method: 'GET' }];
const nameOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;

test('every action of every tool and every route without a resource in its path has a row', () => {
  expect(Object.keys(ofTools).toSorted()).toEqual(allActions.toSorted());
  const named = routes.filter(({ resource }) => resource === undefined).map(nameOf);
  expect(Object.keys(ofRoutes).toSorted()).toEqual(named.toSorted());
});

type Told = { readonly outcome: string; readonly text: string };
const told = (text: string, isFine: boolean): Told => {
  if (isFine) return { outcome: 'fine', text };
  const { error } = JSON.parse(text) as { error: { code?: string; type?: string; requestId?: string } };
  const { requestId: _, ...said } = error;
  return { outcome: error.code ?? error.type ?? '', text: JSON.stringify(said) };
};

const callTool = async ({ client }: Side, name: string, args: Fields): Promise<Told> => {
  const [tool = '', action] = name.split(' ');
  const { isError, content } = await client.call(tool, { ...(action && { action }), ...args });
  return told(content[0]?.text ?? '', isError !== true);
};

const askRoute = async (
  { token }: Side,
  name: string,
  { path = {}, query = '', body }: Rest,
): Promise<Told> => {
  const [method = '', route = ''] = name.split(' ');
  const filled = route.replaceAll(/\{(\w+)\+?\}/g, (_, key: string) => encodeURIComponent(path[key] ?? 'x'));
  const response = await fetch(`${cloud.url}${filled}${query}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return told(await response.text(), response.ok);
};

/** Both ways: what comes of it, what is seen, and that nothing was touched; a stranger's is answered as none is. */
const bothWays = async <Ask>(
  [ask, outcome]: Row<Ask>,
  perform: (own: Side, asked: Ask) => Promise<Told>,
): Promise<void> => {
  for (const [own, theirs] of [sides, sides.toReversed()] as unknown as readonly [Side, Side][]) {
    const before = await stateOf(theirs);
    const answer = await perform(own, ask(theirs, own));
    const asked = JSON.stringify(ask(theirs, own));
    const seen = sees(answer.text, theirs).filter((id) => !asked.includes(id));
    expect([answer.outcome, seen]).toEqual([outcome, []]);
    expect(await stateOf(theirs)).toBe(before);
    if (outcome.endsWith('not_found'))
      expect(answer.text.replaceAll(/[0-9a-f-]{36}/g, '<id>')).toBe(
        (await perform(own, ask(nobody, own))).text.replaceAll(/[0-9a-f-]{36}/g, '<id>'),
      );
  }
};

describe('over MCP', () => {
  const rows = Object.entries(ofTools).flatMap(([name, list]) => list.map((row) => [name, row] as const));
  test.each(rows)('%s', async (name, row) => {
    await bothWays(row, (own, args) => callTool(own, name, args));
  });
});

/** Everything a path may name besides its resource is the other's, too. */
const pathOf = (held: Held, resource: string): Readonly<Record<string, string>> => ({
  id: Reflect.get(held, resource) as string,
  workspace: held.workspace,
  name: 'A_KEY',
  port: '8000',
});
const bodyOf = (name: string): Rest => {
  if (!/^(POST|PUT|PATCH) /.test(name)) return {};
  return { body: name.includes('/secrets/') ? { value: 'x' } : { name: 'x', text: 'x', approved: true } };
};

describe('over REST', () => {
  const rows = Object.entries(ofRoutes).flatMap(([name, list]) => list.map((row) => [name, row] as const));
  test.each(rows)('%s', async (name, row) => {
    await bothWays(row, (own, asked) => askRoute(own, name, asked));
  });

  const resourced = routes.flatMap((route) =>
    route.resource === undefined || route.method === 'HEAD' ? [] : [[nameOf(route), route.resource] as const],
  );
  test.each(resourced)('%s', async (name, resource) => {
    // A webhook has no code of its own.
    const outcome = resource === 'webhook' ? 'not_found' : `${resource}_not_found`;
    const row: Row<Rest> = [(theirs) => ({ ...bodyOf(name), path: pathOf(theirs, resource) }), outcome];
    await bothWays(row, (own, asked) => askRoute(own, name, asked));
  });

  test('HEAD of a file of the other is answered as that of none', async () => {
    for (const [own, theirs] of [sides, sides.toReversed()] as unknown as readonly [Side, Side][])
      for (const { session } of [theirs, nobody]) {
        const headers = { authorization: `Bearer ${own.token}` };
        const url = `${cloud.url}/api/sessions/${session}/files/f`;
        const { status } = await fetch(url, { method: 'HEAD', headers });
        expect(status).toBe(404);
      }
  });

  test('its own resources are found', async () => {
    for (const [own, theirs] of [sides, sides.toReversed()] as unknown as readonly [Side, Side][]) {
      for (const path of [`/api/sessions/${own.session}`, `/api/schedules/${own.schedule}`])
        expect((await askRoute(own, `GET ${path}`, {})).outcome).toBe('fine');
      const { text } = await askRoute(own, 'GET /api/sessions', {});
      expect([text.includes(own.session), text.includes(theirs.session)]).toEqual([true, false]);
      const foreign = await askRoute(
        own,
        `GET /api/projects/${own.project}/workspaces/${theirs.workspace}`,
        {},
      );
      expect(foreign.outcome).toBe('workspace_not_found');
    }
  });
});

test.each(['sessionId', 'project'] as const)(
  'a socket with the %s of another is not opened',
  async (field) => {
    for (const [own, theirs] of [sides, sides.toReversed()] as unknown as readonly [Side, Side][]) {
      const options = field === 'project' ? { project: theirs.project } : { sessionId: theirs.session };
      const opened = openSocket({ url: cloud.url, token: own.token }, options);
      await expect(opened).rejects.toThrow(/404/);
    }
  },
);
